"""How angles are named, and which columns look like some."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events.angles import TURN, check_period, looks_like_angle, periods

Column = NDArray[np.float64]


def uniform(low: float, high: float, n: int = 4000) -> Column:
    return np.random.default_rng(1).uniform(low, high, n)


def test_a_name_alone_has_a_period_of_2_pi() -> None:
    assert periods(["phi1", "phi2 = 360"], ["phi1", "phi2", "pt"]) == {"phi1": TURN, "phi2": 360.0}


def test_a_feature_may_have_an_equals_sign_in_its_name() -> None:
    assert periods(["a=1"], ["a=1"]) == {"a=1": TURN}


def test_a_name_that_is_no_feature_gets_the_nearest() -> None:
    with pytest.raises(InputError, match="'phi3' is not a feature; nearest: phi"):
        periods(["phi3"], ["pt1", "phi1", "phi2"])


@pytest.mark.parametrize("text", ["phi=0", "phi=-1", "phi=inf", "phi=full"])
def test_a_period_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="give a positive number as the period"):
        periods([text], ["phi"])


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(InputError, match="twice"):
        periods(["phi", "phi=360"], ["phi"])


@pytest.mark.parametrize(
    ("low", "high", "period"),
    [(-np.pi, np.pi, TURN), (0, TURN, TURN), (-180, 180, 360.0), (0, 360, 360.0)],
)
def test_a_full_turn_looks_like_an_angle(low: float, high: float, period: float) -> None:
    assert looks_like_angle(uniform(low, high)) == period


def test_so_it_does_in_single_precision() -> None:
    x = np.append(uniform(-np.pi, np.pi), [np.pi, -np.pi])
    assert looks_like_angle(x.astype(np.float32).astype(float)) == TURN


OTHERS = {
    "another range": uniform(-2.5, 2.5),
    "half a turn": uniform(0, np.pi),
    "a probability": uniform(0, 1),
    "one that dies out at its ends": np.clip(np.random.default_rng(1).normal(0, 1, 4000), -3.14, 3.14),
    "one that falls": np.random.default_rng(1).exponential(1.0, 4000).clip(0, 6.28),
    "few events": uniform(-np.pi, np.pi, 50),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_columns_do_not(kind: str) -> None:
    assert looks_like_angle(OTHERS[kind]) is None


def test_degrees_are_not_taken_for_radians() -> None:
    with pytest.raises(InputError, match=r"looks like degrees, not radians: give periodic=\['phi=360'\]"):
        check_period(uniform(-180, 180), TURN, "phi")
    check_period(uniform(-180, 180), 360.0, "phi")
