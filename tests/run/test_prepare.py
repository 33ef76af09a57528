import warnings
from typing import Any

import numpy as np
import pytest

from lanner.errors import ColumnWarning, CountWarning, InputError, MemoryBudgetError, SameEventsWarning
from lanner.events import Sample
from lanner.model.fit import MIN_DATA
from lanner.run.prepare import (
    SCORE_TOYS,
    TOYS,
    Job,
    check_apart,
    check_count,
    check_strengths,
    checked_sample,
    least_data,
    prepare,
)
from lanner.settings import FitSettings
from tests.conftest import exponential

R, D = exponential(4000, 100, seed=1)


def job(data: Any = D, expected: float | None = 100.0, *, memory: float | str = "1 GB", **settings: Any) -> Job:
    how = FitSettings(**({"width": 0.5, "penalty": 1e-5, "centers": 40} | settings))
    return prepare(R, data, expected=expected, settings=how, memory=memory)


def test_samples_become_samples_with_the_columns_of_the_reference() -> None:
    columns = {"a": R[:, 0], "b": R[:, 0] ** 2}
    turned = {"b": D[:, 0] ** 2, "a": D[:, 0]}
    found = prepare(columns, turned, expected=100, settings=FitSettings(width=0.5, penalty=1e-5)).recipe
    assert found.data.names == found.reference.names == ("a", "b")
    np.testing.assert_array_equal(found.data.features[:, 0], D[:, 0])


def test_a_signal_takes_the_place_of_the_data() -> None:
    found = prepare(R, signal=D, expected=100, settings=FitSettings(width=0.5, penalty=1e-5))
    np.testing.assert_array_equal(found.recipe.data.features, D)


def test_toys_that_need_no_fit_are_more() -> None:
    assert job().toys == TOYS
    assert job(statistic="score").toys == SCORE_TOYS


def test_a_budget_is_in_bytes() -> None:
    assert job(memory="1 GB").memory == 10**9


def test_a_budget_below_the_least_is_refused() -> None:
    with pytest.raises(MemoryBudgetError, match="give memory='1 GB' or more"):
        job(memory="10 MB")


def test_a_penalty_that_trials_chose_says_why() -> None:
    found = job(penalty=None).plans[0]
    assert "stable" in {c.setting: c.reason for c in found.chosen}["penalty"]
    assert found.penalty > 0


def test_without_data_toys_come_from_the_reference() -> None:
    with pytest.raises(InputError, match="null='permutation' needs the data"):
        job(data=None, null="permutation")


def test_data_with_weights_are_refused() -> None:
    with pytest.raises(InputError, match="the data has event weights"):
        checked_sample(Sample(D, ("x",), np.ones(100)), "data", 5)
    assert checked_sample(Sample(R, ("x",), np.ones(4000)), "reference", 20).weights is not None


def test_a_sample_that_is_too_small_is_refused() -> None:
    with pytest.raises(InputError, match="the data has 4 events"):
        checked_sample(D[:4], "data", 5)


@pytest.mark.parametrize(
    ("statistic", "expected", "least"),
    [("score", 3.0, 1), ("score", None, MIN_DATA), ("likelihood-ratio", 3.0, MIN_DATA), ("likelihood-ratio", None, 5)],
)
def test_one_event_is_enough_where_its_number_is_tested_and_nothing_fitted(
    statistic: str, expected: float | None, least: int
) -> None:
    assert least_data(statistic, expected) == least
    found = job(D[:least], expected, statistic=statistic, null="reference").recipe.data
    assert found is not None
    assert len(found) == least
    if least > 1:
        with pytest.raises(InputError, match=rf"the data has {least - 1} events"):
            job(D[: least - 1], expected, statistic=statistic, null="reference")


def test_of_no_data_at_all_the_number_says_everything() -> None:
    chance = r"no events where 3 are expected: of Poisson\(3\) the chance of that is 0\.05"  # e^-3
    nothing: tuple[Any, ...] = (np.empty((0, 1)), [])
    for none in nothing:
        with pytest.raises(InputError, match=chance):
            job(none, 3.0)
    with pytest.raises(InputError, match="empty"):
        job(np.empty((0, 1)), None)


def test_a_reference_that_does_not_vary_is_refused() -> None:
    with pytest.raises(InputError, match="reference"):
        checked_sample(np.ones((100, 1)), "reference", 20)


@pytest.mark.parametrize("strengths", [[], [-1.0], [10.0, 90.0]])
def test_strengths_that_the_signal_is_too_small_for_are_refused(strengths: list[float]) -> None:
    check_strengths([10.0, 50.0], 100)
    with pytest.raises(InputError, match="well below the 100 events"):
        check_strengths(strengths, 100)


def test_a_count_far_from_the_expected_one_warns() -> None:
    plan = job().plans[0]
    with pytest.warns(CountWarning, match=r"160 data events where 100 are expected: \+6\.0 sigma"):
        check_count(plan, 160)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_count(plan, 149)
        check_count(job(expected=None).plans[0], 160)


def test_data_that_are_the_reference_warn() -> None:
    sample = Sample.of(R)
    with pytest.warns(SameEventsWarning, match="the same 4000 events"):
        check_apart(sample, Sample.of(R.copy()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_apart(sample, Sample.of(D))


def test_tables_leave_out_what_is_no_feature_and_the_data_follow_the_reference() -> None:
    rng = np.random.default_rng(1)

    def table(x: Any) -> dict[str, Any]:
        n = len(x)
        return {
            "run": rng.integers(160_000, 170_000, n),
            "x": x[:, 0],
            "kind": np.array(["EB", "EE"])[rng.integers(2, size=n)],
        }

    how = FitSettings(width=0.5, penalty=1e-5, centers=40)
    with pytest.warns(ColumnWarning, match=r"'run' looks like a run number .*lanner\.Sample\.of"):
        found = prepare(table(R), table(D), expected=100.0, settings=how)
    assert found.recipe.reference.names == found.recipe.data.names == ("x",)
    assert list(found.left_out) == ["kind", "run"]


def test_a_run_number_that_only_the_data_vary_stays_and_alarms() -> None:
    reference, data = ({"run": np.full(len(x), run), "x": x[:, 0]} for x, run in ((R, 1), (D, 163286)))
    with pytest.warns(match="column 'run' is always 1 in the reference, but 100 of 100 data events"):
        assert prepare(reference, data, expected=100.0, settings=FitSettings(seed=1)).recipe.reference.names == (
            "run",
            "x",
        )
