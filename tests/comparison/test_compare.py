"""Tests on the same toys: uniform where there is nothing, high where there is something, and nothing is lost."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import lanner
from lanner.comparison import NAMES, BinnedChi2, Classifier, Energy, Kernel, KnownRatio, KolmogorovSmirnov, Network
from lanner.comparison.protocol import OneStatistic
from lanner.comparison.runner import TestRunner
from lanner.comparison.significance import NullOfTest
from lanner.comparison.toy_pool import NullToys
from lanner.errors import InputError, StoreError
from lanner.run.toy_maker import ToyRun
from lanner.settings import FitKeywords
from tests.comparison.pools import pool_of

REFERENCE = np.random.default_rng(0).normal(size=(3000, 2))
SIGNAL = np.random.default_rng(1).normal(1.5, 0.3, (1000, 2))
FAST = [name for name in NAMES if name not in ("network", "one-width") and not name.startswith("classifier")]


def compared(**changed):
    given = {"expected": 150, "signal_events": 25, "toys": 100, "experiments": 20, "seed": 1}
    return lanner.compare(REFERENCE, SIGNAL, **(given | {"tests": FAST} | changed))


@pytest.fixture(scope="module")
def easy() -> lanner.Comparison:
    return compared(tests=[*FAST, Classifier("auc"), Classifier("likelihood-ratio")], signal_events=60)


@pytest.mark.parametrize("test", [*FAST, "classifier-auc", "classifier-likelihood-ratio"])
def test_each_test_finds_an_easy_signal(easy: lanner.Comparison, test: str) -> None:
    (found,) = next(r for r in easy.rows if r.test.startswith(test)).found
    assert found.z[1] > (1.0 if test == "classifier-likelihood-ratio" else 1.8)


def test_each_row_says_what_it_cost_and_how_far_it_reaches(easy: lanner.Comparison) -> None:
    for row in easy.rows:
        assert row.seconds_per_toy > 0
        assert row.reach == pytest.approx(stats.norm.isf(1 / (row.toys + 1)))
    assert easy.row("ks").toys == 100
    assert easy.row("score").toys == 67  # the others froze the maps
    assert "ms per toy" in str(easy)
    assert easy.markdown().startswith("| test | signal 60")


def test_tests_see_the_same_toys(tmp_path: Path) -> None:
    # The number of data events of each toy, as if it were a test.
    counts = [KnownRatio(lambda x: np.ones(len(x)), name) for name in ("one", "two")]
    compared(tests=counts, output=tmp_path)
    for kind in ("null", "signal-25"):
        one, two = (np.load(tmp_path / n / kind / "batch-00000000.npz")["statistic"] for n in ("one", "two"))
        assert (one == two).all()
        assert one.std() > 0


def test_own_statistics_are_those_of_power() -> None:
    own = lanner.power(REFERENCE, SIGNAL, expected=150, signal_events=[25], toys=100, experiments=20, seed=1)
    (found,) = compared(tests=["score"]).row("score").found
    assert found.z[1] == pytest.approx(own.strengths[0].band("empirical")[1], abs=0.4)


def test_a_comparison_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = compared(tests=["ks", "chi2"])
    made = []
    statistics = TestRunner.toys

    def interrupted(self, label, number, kind):
        made.append((self.test.name, label))
        if made[-1] == ("chi2", "null") and len(made) < 4:
            raise KeyboardInterrupt
        return statistics(self, label, number, kind)

    monkeypatch.setattr(TestRunner, "toys", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compared(tests=["ks", "chi2"], output=tmp_path)
    prepared = []
    prepare = KolmogorovSmirnov.prepare
    monkeypatch.setattr(KolmogorovSmirnov, "prepare", lambda *a: prepared.append(1) or prepare(*a))
    resumed = compared(tests=["ks", "chi2"], output=tmp_path)
    assert not prepared  # all of its toys were there
    assert [r.found for r in resumed.rows] == [r.found for r in whole.rows]
    assert resumed.row("ks").seconds_per_toy > 0
    written = json.loads((tmp_path / "compare.json").read_text())
    assert [r["test"] for r in written["rows"]] == ["ks", "chi2"]
    assert (tmp_path / "compare.md").read_text().startswith("| test |")
    assert (tmp_path / "compare.png").stat().st_size > 10_000


def test_toys_of_other_settings_are_not_mixed(tmp_path: Path) -> None:
    compared(tests=[BinnedChi2(8)], output=tmp_path)
    with pytest.raises(StoreError, match="bins"):
        compared(tests=[BinnedChi2(16)], output=tmp_path)


def test_other_data_do_not_get_the_result_of_the_first(tmp_path: Path) -> None:
    tests: dict[str, Any] = {"expected": 150, "tests": ["ks"], "toys": 40, "seed": 1, "output": tmp_path}
    lanner.compare(REFERENCE, data=SIGNAL[:150], **tests)
    with pytest.raises(StoreError, match="events"):
        lanner.compare(REFERENCE, data=REFERENCE[:150], **tests)


def test_a_test_that_learns_the_signal_does_not_reuse_another_signals_toys(tmp_path: Path) -> None:
    compared(tests=["supervised"], toys=40, experiments=5, output=tmp_path)
    with pytest.raises(StoreError, match="signal"):
        lanner.compare(
            REFERENCE, SIGNAL + 0.5, expected=150, signal_events=25, tests=["supervised"], toys=40, experiments=5,
            seed=1, output=tmp_path,
        )  # fmt: skip


def test_one_known_ratio_is_not_taken_for_another(tmp_path: Path) -> None:
    compared(tests=[KnownRatio(lambda x: x[:, 0])], toys=40, experiments=5, output=tmp_path)
    with pytest.raises(StoreError, match="settings"):
        compared(tests=[KnownRatio(lambda x: -x[:, 0])], toys=40, experiments=5, output=tmp_path)


def test_own_tests_take_the_scaling_and_the_combination_they_are_told() -> None:
    stretched = REFERENCE * [1.0, 30.0]
    shared: dict[str, Any] = {"expected": 150, "signal_events": 5, "toys": 60, "experiments": 6, "seed": 1}
    choices: tuple[tuple[str | None, FitKeywords], ...] = (
        (None, {}),
        ("standard", {}),
        ("standard", {"combination": "average"}),
    )
    found = [
        lanner.compare(stretched, SIGNAL * [1.0, 30.0], tests=[Kernel("k", options)], scaling=scaling, **shared).rows[0]
        for scaling, options in choices
    ]
    assert len({row.found for row in found}) == 3


@pytest.mark.parametrize(
    "law", [stats.norm(), stats.expon(), stats.chi2(13), stats.chi2(96)], ids=lambda x: x.dist.name
)
def test_z_beyond_the_toys_does_not_depend_on_the_kind_of_law(law) -> None:
    # 4 sigma, with toys that reach 3: what a test calls t must not decide who wins.
    found = []
    for seed in range(20):
        made = ToyRun(
            law.rvs(1000, random_state=seed)[None],
            np.ones((1, 1000), bool),
            np.ones((1, 1000), int),
            np.empty((0, 0), np.float32),
        )
        null = NullOfTest.of(OneStatistic().combiner(made), made, seed=1)
        t = null.statistic(replace(made, statistics=np.array([[law.isf(stats.norm.sf(4.0))]])))
        found.append(null.z_scores(t)[0])
    assert np.mean(found) == pytest.approx(4.0, abs=0.25)


def test_what_lies_below_all_toys_has_a_finite_z() -> None:
    made = TestRunner(KolmogorovSmirnov(), pool_of()).toys("null", 50, NullToys())
    null = NullOfTest.of(OneStatistic().combiner(made), made, seed=1)
    low = null.statistic(replace(made, statistics=np.array([[-1e3]])))
    assert null.z_scores(low)[0] == pytest.approx(-null.reach)


def test_a_row_that_is_not_there_is_named(easy: lanner.Comparison) -> None:
    with pytest.raises(InputError, match="energy"):
        easy.row("t-test")


def test_data_get_a_p_value_from_each_test() -> None:
    data = np.vstack([REFERENCE[:150] + 0.01, SIGNAL[:40]])
    tests = ["score", "energy", "chi2", "supervised"]
    found = lanner.compare(REFERENCE, data=data, expected=150, tests=tests, toys=99, seed=1)
    assert [r.test for r in found.rows] == ["score", "energy", "chi2"]  # no signal to learn from
    for row in found.rows:
        assert row.p_value is not None
        assert row.p_value < 0.05
    assert "p-value" in str(found)


def test_only_the_shape_is_tested_where_no_number_is_expected() -> None:
    data = np.random.default_rng(5).normal(size=(100, 2))
    found = lanner.compare(REFERENCE, data=data, expected=None, tests=["score", "chi2"], toys=99, seed=1)
    assert all(r.p_value > 0.001 for r in found.rows)


@pytest.mark.parametrize(
    "test", ["ks", "energy", *(pytest.param(t, marks=pytest.mark.full) for t in ("score", "mmd", "chi2"))]
)
def test_p_values_are_uniform_under_the_null(test: str) -> None:
    p = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        reference, data = rng.normal(size=(800, 2)), rng.normal(size=(rng.poisson(40), 2))
        found = lanner.compare(reference, data=data, expected=40, tests=[test], toys=60, seed=seed)
        row = found.rows[0]
        p.append(row.p_value - rng.uniform(0, 1 / (row.toys + 1)))
    assert stats.kstest(p, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"tests": ["kolmogorov"]}, "choose from"),
        ({"tests": []}, "at least one"),
        ({"tests": ["ks", "ks"]}, "name of its own"),
        ({"signal_events": None}, "mean numbers"),
        ({"signal_events": 990}, "well below"),
        ({"data": SIGNAL}, "either a signal"),
        ({"expected": -1}, "expected"),
        ({"expected": None}, "number of events"),
        ({"toys": 0}, "toys=0"),
        ({"experiments": 0}, "experiments=0"),
    ],
)
def test_what_cannot_be_compared_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        compared(**wrong)


def test_a_weighted_reference_is_refused() -> None:
    weighted = lanner.Sample(REFERENCE, ("a", "b"), np.ones(len(REFERENCE)))
    with pytest.raises(InputError, match="weights"):
        lanner.compare(weighted, SIGNAL, expected=150, signal_events=20)


def test_without_torch_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(InputError, match=r"lanner\[network\]"):
        compared(tests=["network"])
    assert compared(tests=["ks"]).rows  # everything else works


def test_the_network_joins_in(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the network needs torch: pip install 'lanner[network]'")
    network = Network((2,), tuning_toys=10, epochs=60)
    made = compared(tests=[network, Energy()], toys=20, experiments=4, output=tmp_path)
    assert {r.test for r in made.rows} == {"network", "energy"}
    kept = json.loads((tmp_path / "network" / "clip.json").read_text())
    assert kept["dof"] == 9
    assert kept["tried"]
    assert not list(tmp_path.rglob("*.training.npz"))
