"""Varied weights and shifted samples of an analysis, beside what numpy makes of the same files."""

from pathlib import Path

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events.analysis import read_analysis_file, read_simulated
from lanner.events.analysis.reference import read_shifted
from lanner.events.io.write import write_columns
from tests.events.analysis.conftest import TEXT, columns

UNCERTAIN = """\
uncertainties:
  pileup: {weights_up: {dy: gen * pileup**2, top: pileup}}
  jes: {shifted: {top: [top_up.parquet, top.parquet]}}
"""
TOP = 2.0 * 0.3 * 1000 / 1300


@pytest.fixture
def analysis(folder: Path) -> Path:
    top = columns(1300, 3)
    write_columns(folder / "long_up.parquet", columns(3000, 2))
    write_columns(folder / "top_up.parquet", top | {"pt": 1.1 * top["pt"]})
    (folder / "analysis.yaml").write_text(TEXT + UNCERTAIN)
    return folder / "analysis.yaml"


def test_varied_weights_are_scaled_as_the_nominal_ones_are(analysis: Path) -> None:
    reference = read_simulated(read_analysis_file(analysis))
    up, weights = reference.varied["pileup", "up"], reference.sample.weights
    assert weights is not None
    first, second, _, top = (columns(1000 + 100 * k, k) for k in range(4))
    pileup = np.concatenate([first["pileup"], second["pileup"]])
    kept = np.concatenate([first["pt"], second["pt"]]) > 20
    dy, high, tops = (reference.samples[name] for name in ("dy", "dy-high", "top"))
    np.testing.assert_allclose(up[dy], weights[dy] * pileup[kept], rtol=1e-12)
    np.testing.assert_array_equal(up[high], weights[high])  # of which nothing is said
    np.testing.assert_allclose(up[tops], TOP * top["pileup"][top["pt"] > 20], rtol=1e-12)


def test_shifted_samples_stand_in_for_their_own_alone(analysis: Path) -> None:
    file = read_analysis_file(analysis)
    reference = read_simulated(file)
    up, down = (read_shifted(file, file.uncertainties[1], way, reference) for way in ("up", "down"))
    top = columns(1300, 3)["pt"]
    others = reference.samples["top"].start
    np.testing.assert_array_equal(up.features[:others], reference.sample.features[:others])
    np.testing.assert_array_equal(up.features[others:, 0], (1.1 * top)[1.1 * top > 20])  # selected after the shift
    np.testing.assert_allclose(up.weights[others:], TOP)
    np.testing.assert_array_equal(down.features, reference.sample.features)
    np.testing.assert_array_equal(down.weights, reference.sample.weights)


BAD = [
    ("top: pileup", "top: pilup", r":25: uncertainties.pileup.weights_up.top: .*'pilup'.*nearest: 'pileup'"),
    ("gen * pileup**2", "gen *", r":25: uncertainties.pileup.weights_up.dy: .*cannot be used"),
    ("top_up.parquet", "top_upp.parquet", r":26: uncertainties.jes.shifted.top: .*top_upp.parquet"),
    (
        "top: [top_up",
        "dy-high: [long_up",
        r":26: uncertainties.jes.shifted.dy-high: sum_of_weights is 3000, but .*hold 5\d\d\d",
    ),
    ("selection: pt > 20", "selection: pz > 20", r":22: selection: .*'pz'"),
]


@pytest.mark.parametrize(("old", "new", "said"), BAD, ids=[new for _, new, _ in BAD])
def test_the_entry_at_fault_is_named(analysis: Path, old: str, new: str, said: str) -> None:
    text = TEXT.replace("4000", "3000") + UNCERTAIN
    assert old in text
    analysis.write_text(text.replace(old, new, 1))
    file = read_analysis_file(analysis)
    with pytest.raises(InputError, match=said):
        read_shifted(file, file.uncertainties[1], "up", read_simulated(file))
