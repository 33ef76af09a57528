"""What docs/uncertainties.md shows of the command line and the configuration file runs as it stands there."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import lanner
from lanner.cli import main
from lanner.events.io.write import write_columns

PAGE = (Path(__file__).parents[2] / "docs" / "uncertainties.md").read_text()
N = 15_000
NAMES = ["lumi", "pdf", "top pt", "jes", "ttbar"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    pt, w = rng.exponential(size=N), rng.uniform(0.8, 1.2, N)
    factor = 1 + 0.03 * np.tanh(pt)
    columns: dict[str, Any] = {
        "pt": pt,
        "mass": rng.normal(size=N),
        "w": w,
        "w_pdf_up": w * factor,
        "w_pdf_down": w / factor,
    }
    columns |= {"top_pt_factor": 1 + 0.02 * np.tanh(columns["mass"]), "process": rng.integers(0, 4, N) * 1.0}
    write_columns(Path("mc.parquet"), columns)
    for name, change in (("up", 1.02), ("down", 1 / 1.02)):
        write_columns(Path(f"mc_jes_{name}.parquet"), columns | {"pt": pt * change})
    write_columns(Path("data.parquet"), {"pt": rng.exponential(size=600), "mass": rng.normal(size=600)})


def ran(command: str, *more: str) -> Any:
    arguments = shlex.split(command.replace("\\\n", " "))
    assert arguments[0] == "lanner"
    done = CliRunner().invoke(main, [*arguments[1:], *more, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.usefixtures("_files")
@pytest.mark.filterwarnings("ignore::lanner.errors.LannerWarning")
def test_flags_and_file_of_the_page_are_the_same_search() -> None:
    by_flags = ran(blocks("sh")[0], "--toys", "90", "--seed", "1")
    assert [one["name"] for one in by_flags["nuisances"]] == NAMES
    (config,) = blocks("yaml")
    Path("analysis.yaml").write_text(config)
    by_file = ran("lanner search --config analysis.yaml --output again --toys 90 --seed 1")
    assert by_file["nuisances"] == by_flags["nuisances"]
    assert by_file["p_value"] == by_flags["p_value"]
    names: dict[str, Any] = {"lanner": lanner}
    exec(blocks("python")[1], names)
    assert names["pdf"].up.shape == (N,)
    assert names["ttbar"].label.sum() > N / 5


@pytest.mark.usefixtures("_files")
@pytest.mark.filterwarnings("ignore::lanner.errors.LannerWarning")
def test_the_exposure_of_the_page_tells_a_large_uncertainty_from_a_small_one() -> None:
    found = ran(blocks("sh")[1], "--toys", "150", "--experiments", "20", "--seed", "1")
    claims = {(row["name"], row["direction"]): row["claims"]["2 sigma"]["fraction"] for row in found["rows"]}
    assert set(claims) == {(name, way) for name in ("lumi", "old lumi", "jes") for way in ("up", "down")}
    assert claims["old lumi", "up"] > 0.5 > claims["lumi", "up"]
