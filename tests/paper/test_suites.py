"""The suite of signals, small."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import lanner
from lanner.cli import main
from lanner.comparison.table import Comparison, Found, Row, SuiteSignal
from lanner.errors import InputError
from lanner.paper import suites
from lanner.paper.datasets import one_dimensional
from lanner.paper.suite_cases import suite_case


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory):
    """A tenth of the events, two signals, one test of each kind."""
    patch = pytest.MonkeyPatch()
    patch.setattr(one_dimensional, "REFERENCE_SIZE", 6000)
    patch.setattr(one_dimensional, "EXPECTED", 300.0)
    some = (SuiteSignal("tail", 8, 5.0, True), SuiteSignal("soft", 60, 4.0, False))
    small = replace(suite_case("one-dimensional", seed=1), signals=some)
    patch.setattr(suites, "suite_case", lambda *_, **__: small)
    folder = tmp_path_factory.mktemp("suite")
    yield lanner.power_suite("one-dimensional", toys=600, experiments=20, output=folder), folder
    patch.undo()


def test_every_test_and_combination_has_its_row(found) -> None:
    result, folder = found
    tests = {r.test for r in result.rows}
    assert tests == {t.name for t in suites.OWN_TESTS["one-dimensional"]}
    assert result.row("the paper's", "single").reach == pytest.approx(stats.norm.isf(1 / 301))
    score = result.row("score, several scales", "harmonic")
    assert {f.signal for f in score.found} == {"tail", "soft"}
    assert score.of("tail").z[1] > 1
    assert result.best_scale("score, several scales", "tail").of("tail").z[1] >= score.of("tail").z[1] - 0.5
    for name in ("suite.json", "suite.md", "suite.png"):
        assert (folder / name).stat().st_size > 500
    assert result.counts().startswith("null toys (the paper's: 300; likelihood ratio, several widths: 600; score")
    assert result.counts() in (folder / "suite.md").read_text()
    assert result.table()[0][-2:] == ["mean of the first 1", "mean of the other 1"]
    assert result.table()[1] == ["ideal", "5.00", "4.00", "5.00", "4.00"]
    assert result.counts() in str(result)


def test_what_is_beyond_the_toys_is_marked() -> None:
    signals = (SuiteSignal("near", 8, 5.0, True), SuiteSignal("far", 60, 4.0, True))
    found = (Found("near", 8, (0.5, 1.0, 1.5), (), 0.1), Found("far", 60, (2.7, 2.7, 2.7), (), 0.0))
    row = Row("score", 300, 2.7, 2.7, found=found, statistic="harmonic")
    table = Comparison((row,), 20, signals).table()
    assert table[0][-1] == "mean"
    assert table[2] == ["score: harmonic", "1.00 ± 0.10", "≥ 2.70", "≥ 1.85"]


def test_the_further_signals_are_what_they_say(rng: np.random.Generator) -> None:
    for signal in one_dimensional.FURTHER.values():
        x = signal.sample(20_000, rng)
        edges = np.array([0.0, 0.05, 0.12, 0.3, 0.5, 1.0, np.inf])
        fine = np.concatenate([np.linspace(0, 2, 20_001), [np.inf]])
        fine_null = one_dimensional.EXPECTED * -np.diff(np.exp(-one_dimensional.RATE * fine))
        wanted = signal.expected(fine_null, fine, signal.events) - (0 if signal.alone else fine_null)
        sums = np.array([wanted[(fine[:-1] >= a) & (fine[:-1] < b)].sum() for a, b in pairwise(edges)])
        seen = np.histogram(x, edges)[0] / len(x)
        np.testing.assert_allclose(seen, sums / sums.sum(), atol=0.02)


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(InputError, match="choose one of 'one-dimensional'"):
        lanner.power_suite("lhc")
    assert CliRunner().invoke(main, ["power", "--suite", "lhc"]).exit_code == 2
    idle = CliRunner().invoke(main, ["power", "--suite", "dimuon", "--width", "1", "--signal", "s.csv"])
    assert idle.exit_code == 2
    assert "leave out signal, width" in idle.output
