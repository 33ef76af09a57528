from dataclasses import replace

import numpy as np
import pytest

from lanner.inference.null import LEAST_TOYS, Null
from lanner.inference.tail import FittedTail
from lanner.inference.weighted_chi2 import WeightedChi2

LAW = WeightedChi2(np.array([1.0, 0.7, 0.4, 0.2]))
TOYS = LAW.rvs(400, np.random.default_rng(1))


def null(t: np.ndarray = TOYS, law: WeightedChi2 | None = LAW) -> Null:
    return Null("reference", np.asarray(t), np.ones(len(t), bool), law)


def test_it_is_as_long_as_there_are_toys() -> None:
    assert len(null()) == 400


def test_toys_that_went_wrong_are_counted_and_kept() -> None:
    t = np.array([1.0, np.nan, np.inf, -0.5, 0.0, 3.0])
    found = replace(null(t), converged=np.array([True, False, True, True, True, True]))
    assert (found.not_finite, found.not_positive, found.not_converged, len(found)) == (2, 2, 1, 6)


def test_the_p_value_is_a_count() -> None:
    found = null(np.arange(1.0, 100.0)).empirical(90.5)
    assert found.p_value == pytest.approx((9 + 1) / (99 + 1))


def test_toys_that_are_not_numbers_count_as_extreme() -> None:
    t = np.concatenate([np.arange(1.0, 99.0), [np.nan]])
    assert null(t).empirical(1000.0).p_value == pytest.approx(2 / 100)


def test_toys_of_the_law_confirm_it() -> None:
    assert null().analytic_confirmed


@pytest.mark.parametrize(
    "t",
    [TOYS + LAW.std, 1.5 * (TOYS - LAW.mean) + LAW.mean, np.where(np.arange(400) % 6, TOYS, LAW.isf(0.02))],
    ids=["another mean", "another spread", "a heavier tail"],
)
def test_other_toys_do_not(t: np.ndarray) -> None:
    assert not null(t).analytic_confirmed


def test_few_toys_can_confirm_nothing() -> None:
    assert not null(TOYS[: LEAST_TOYS - 1]).analytic_confirmed
    assert not null(law=None).analytic_confirmed


def test_a_tail_that_the_toys_do_not_look_like_is_not_trusted() -> None:
    for describes in (True, False):
        described = type("Tail", (FittedTail,), {"describes": describes})
        tail: FittedTail = object.__new__(described)
        assert (replace(null(), tail=tail).trusted_tail is tail) == describes
    assert null().trusted_tail is None
