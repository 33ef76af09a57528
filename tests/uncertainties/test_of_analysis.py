"""The uncertainties of an analysis file are those that would be declared in Python."""

from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.events.io.write import write_columns

TEXT = """\
luminosity: 1.0
samples:
  dy: {files: dy.parquet, cross_section: 0.3, weights: gen, process: Drell-Yan}
  top: {files: top.parquet, cross_section: 0.1, weights: [gen, pileup]}
data: data.parquet
features: [pt]
selection: pt > 0.1
uncertainties:
  lumi: {normalisation: 0.02}
  top rate: {process: top, size: 0.1}
  pileup: {weights_up: {top: gen}, weights_down: {top: gen * pileup**2}}
  scale: {shifted: {dy: dy_up.parquet}}
settings: {seed: 1, toys: 90}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rng = np.random.default_rng(4)
    for name, n, mean in (("dy", 8000, 1.0), ("top", 6000, 1.5)):
        x = {
            "pt": rng.exponential(mean, n),
            "gen": 2.0 * np.where(rng.random(n) < 0.15, -1.0, 1.0),
            "pileup": rng.uniform(0.9, 1.1, n),
        }
        write_columns(tmp_path / f"{name}.parquet", x)
        if name == "dy":
            write_columns(tmp_path / "dy_up.parquet", x | {"pt": 1.03 * x["pt"]})
    data = np.concatenate([rng.exponential(1.0, 290), rng.exponential(1.5, 95)])
    write_columns(tmp_path / "data.parquet", {"pt": data})
    (tmp_path / "analysis.yaml").write_text(TEXT)
    return tmp_path / "analysis.yaml"


def test_each_is_what_python_would_declare(path: Path) -> None:
    analysis = lanner.read_analysis(path)
    lumi, top, pileup, scale = analysis.uncertainties
    assert lumi == lanner.Normalisation("lumi", 0.02)
    assert isinstance(top, lanner.Process)
    assert top.size == 0.1
    np.testing.assert_array_equal(top.label, analysis.reference.of_process("top"))
    assert isinstance(pileup, lanner.Weights)
    weights = analysis.reference.sample.weights
    changed = pileup.up != weights
    np.testing.assert_array_equal(changed, top.label)
    np.testing.assert_allclose((pileup.up * pileup.down)[changed], (weights**2)[changed], rtol=1e-12)
    assert isinstance(scale, lanner.Shifted)
    assert scale.down is None
    assert scale.up.total_weight == pytest.approx(analysis.reference.sample.total_weight, rel=0.02)


@pytest.mark.filterwarnings("ignore::lanner.errors.LannerWarning")
def test_a_search_has_all_of_them_and_that_of_the_events_simulated(path: Path) -> None:
    analysis = lanner.read_analysis(path)
    found = analysis.search()
    assert [one.name for one in found.nuisances] == ["lumi", "top rate", "pileup", "scale", "events simulated"]
    sample = analysis.reference.sample
    by_hand = lanner.search(
        sample,
        analysis.data.sample,
        expected=sample.total_weight,
        uncertainties=[*analysis.uncertainties, lanner.Normalisation("events simulated", sample.worth**-0.5)],
        seed=1,
        toys=90,
    )
    assert found.p_value == by_hand.p_value
    np.testing.assert_allclose(found.null.statistics, by_hand.null.statistics)
    alone = analysis.search(uncertainties=())
    assert alone.nuisances == ()
    assert alone.plan.expected_error > 0


def test_a_process_that_the_selection_leaves_out_is_named(path: Path) -> None:
    path.write_text(
        TEXT.replace("pt > 0.1", "pt > 0.1 && (pileup != pileup || pt < 5)").replace("[gen, pileup]", "gen")
    )
    write_columns(path.parent / "top.parquet", {"pt": np.full(10, 7.0), "gen": np.ones(10), "pileup": np.ones(10)})
    with pytest.raises(InputError):
        lanner.read_analysis(path).uncertainties  # noqa: B018


def test_what_the_declaration_refuses_names_the_line(path: Path) -> None:
    path.write_text(TEXT.replace("{top: gen}, weights_down", "{top: 0 * gen - gen, dy: 0 - gen}, weights_down"))
    with pytest.raises(InputError, match=r"weights_down: is of other samples"):
        lanner.read_analysis(path)
    path.write_text(TEXT.replace("{top: gen}, weights_down: {top: gen * pileup**2}", "{dy: 0 - gen, top: 0 - gen}"))
    with pytest.raises(InputError, match=r"analysis.yaml:11: uncertainties.pileup: "):
        lanner.read_analysis(path).uncertainties  # noqa: B018
