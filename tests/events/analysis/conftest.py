"""An analysis in a folder, with small files."""

from pathlib import Path

import numpy as np
import pytest

from lanner.events.io.write import write_columns

TEXT = """\
luminosity: 2.0
samples:
  dy:
    files: dy_*.parquet
    process: Drell-Yan
    cross_section: 0.5
    weights: [gen, pileup]
  dy-high:
    files: high.parquet
    process: Drell-Yan
    cross_section: 0.1
    sum_of_weights: 4000
    weights: gen
  top:
    files: [top.parquet]
    cross_section: 0.3
data: data.parquet
features:
  pt: {label: "$p_T$", unit: GeV}
  twice: 2 * pt
  phi: {periodic: true}
selection: pt > 20
settings: {toys: 90, seed: 3}
"""


def columns(n: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "pt": rng.exponential(30, n),
        "phi": rng.uniform(-np.pi, np.pi, n),
        "gen": 3.0 * np.where(rng.random(n) < 0.2, -1.0, 1.0),
        "pileup": rng.uniform(0.8, 1.2, n),
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for k, name in enumerate(("dy_1", "dy_2", "high", "top", "data")):
        write_columns(tmp_path / f"{name}.parquet", columns(1000 + 100 * k, k))
    (tmp_path / "analysis.yaml").write_text(TEXT)
    return tmp_path
