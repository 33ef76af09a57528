"""How many toys a search makes at most: a rule that knows neither the data nor a clock."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanner.events import Sample
from lanner.inference.effort import FEWEST, MOST, most_toys, round_down, seconds_per_toy
from lanner.inference.plan import Plan, plan_one
from lanner.settings import FitSettings
from tests.conftest import shaped


def plan(features: int = 1, expected: float = 100.0, **changes: Any) -> Plan:
    reference = Sample.of(shaped(features, 4000))
    settings = FitSettings(statistic="score", width=0.5, penalty=1e-5, centers=1000)
    return replace(plan_one(reference, None, expected=expected, settings=settings), **changes)


@given(st.floats(1.0, 1e9))
def test_numbers_are_rounded_down_to_one_two_or_five_times_a_power_of_ten(number: float) -> None:
    found = round_down(number)
    first, rest = str(found)[0], str(found)[1:]
    assert first in "125"
    assert set(rest) <= {"0"}
    assert found <= number * (1 + 1e-9)
    assert number < 2.5 * found * (1 + 1e-9)


@pytest.mark.parametrize("number", [1, 2, 5, 10, 1000, 2000, 5000, 10**6])
def test_a_round_number_stays(number: int) -> None:
    assert round_down(number) == number


@pytest.mark.parametrize(
    ("changes", "more"),
    [({}, {"features": 3}), ({}, {"expected": 1000.0}), ({"bunch": 10, "expected": 900.0}, {"expected": 900.0})],
    ids=["features", "events", "single events"],
)
def test_a_toy_costs_more_the_more_it_is(changes: dict[str, Any], more: dict[str, Any]) -> None:
    assert seconds_per_toy(plan(**more), 10**6) > seconds_per_toy(plan(**changes), 10**6)


def test_few_centres_and_a_small_rank_make_it_cheap() -> None:
    whole = seconds_per_toy(plan(3), 10**6)
    assert seconds_per_toy(plan(3, centers=50), 10**6) < whole
    assert seconds_per_toy(plan(3, max_rank=50), 10**6) == seconds_per_toy(plan(3, centers=50), 10**6)


def test_there_are_as_many_toys_as_fit_but_never_fewer_or_more_than_make_sense() -> None:
    assert most_toys(plan(), 4000) <= MOST
    huge = plan(3, expected=100.0, centers=1000)
    assert most_toys(replace(huge, expected=1e9), 10**10) == FEWEST
    numbers = [most_toys(replace(plan(3), expected=float(n)), 10**8) for n in np.geomspace(100, 1e7, 12)]
    assert numbers == sorted(numbers, reverse=True)
    assert all(FEWEST <= number <= MOST for number in numbers)


def test_the_data_have_no_part_in_it() -> None:
    reference = Sample.of(shaped(2, 4000))
    settings = FitSettings(statistic="score", width=0.5, penalty=1e-5, null="reference")
    plans = [
        plan_one(reference, Sample.of(shaped(2, n, seed=n)), expected=100.0, settings=settings) for n in (50, 200)
    ]  # fmt: skip
    assert most_toys(plans[0], 4000) == most_toys(plans[1], 4000)
