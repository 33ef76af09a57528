"""The entry at fault is the one whose formula fails by itself."""

from pathlib import Path

import pytest

from lanner.errors import InputError
from lanner.events.analysis import read_analysis_file, read_simulated
from lanner.events.analysis.faults import formulas_of
from tests.events.analysis.conftest import TEXT


def test_all_that_is_asked_of_a_sample_is_looked_at(folder: Path) -> None:
    (folder / "analysis.yaml").write_text(TEXT + "uncertainties: {pile: {weights_up: {dy: gen}}}\n")
    file = read_analysis_file(folder / "analysis.yaml")
    assert dict(formulas_of(file, file.samples[0])) == {
        ("selection",): "pt > 20",
        ("features", "pt"): "`pt`",
        ("features", "twice"): "2 * pt",
        ("features", "phi"): "`phi`",
        ("samples", "dy", "weights", 0): "gen",
        ("samples", "dy", "weights", 1): "pileup",
        ("uncertainties", "pile", "weights_up", "dy"): "gen",
    }
    assert [keys[0] for keys, _ in formulas_of(file)] == ["selection", "features", "features", "features"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[gen, pileup]", "[gen, pileip]", r":7: samples.dy.weights.1: .*'pileip'.*nearest: 'pileup'"),
        ("weights: gen\n", "weights: gem\n", r":13: samples.dy-high.weights: .*'gem'"),
        ("sum_of_weights: 4000", "sum_of_weights: gem", r":12: samples.dy-high.sum_of_weights: .*'gem'"),
        ("2 * pt", "max(pt)", r":20: features.twice: .*'pt' is one value per event"),
        ("pt > 20", "pt > ", r":22: selection: .*something is missing at the end"),
        ("high.parquet", "hihg.parquet", r":8: samples.dy-high: .*nearest: 'high.parquet'"),
    ],
)
def test_each_is_named_with_its_line(folder: Path, old: str, new: str, said: str) -> None:
    assert old in TEXT
    (folder / "analysis.yaml").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(InputError, match=said):
        read_simulated(read_analysis_file(folder / "analysis.yaml"))
