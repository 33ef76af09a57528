"""Besag and Clifford's p-value."""

import numpy as np
import pytest
from scipy import stats

from lanner.errors import InputError
from lanner.inference.sequential import FIRST, PRECISION, Stopping
from lanner.inference.significance import EmpiricalP


def test_it_stops_at_the_toy_that_decides() -> None:
    null = np.array([0.0, 5.0, 1.0, 7.0, 2.0, 9.0, 9.0])
    stopping = Stopping(exceedances=2, toys=6)
    assert stopping.judge(4.0, null[:3]) is None
    assert stopping.judge(4.0, null) == EmpiricalP(2, 4, sequential=True)
    assert stopping.judge(4.0, null[:4]) == stopping.judge(4.0, null)
    assert stopping.judge(8.0, null[:5]) is None
    assert stopping.judge(8.0, null) == EmpiricalP(1, 6)  # the seventh toy is one too many
    assert stopping.judge(4.0, null).p_value == 0.5


def test_a_toy_that_is_not_a_number_counts_as_above() -> None:
    assert Stopping(1, 10).judge(4.0, np.array([1.0, np.nan])) == EmpiricalP(1, 2, sequential=True)


def test_p_values_are_valid_under_the_null(rng: np.random.Generator) -> None:
    stopping = Stopping(exceedances=5, toys=200)
    p = np.array([stopping.judge(t, rng.random(200)).p_value for t in rng.random(4000)])
    for alpha in (0.01, 0.03, 0.1, 0.5):
        assert np.mean(p <= alpha) <= alpha + 4 * (alpha * (1 - alpha) / 4000) ** 0.5


def test_the_interval_covers_the_truth(rng: np.random.Generator) -> None:
    stopping, truth = Stopping(exceedances=10, toys=100_000), 0.02
    covered = []
    for _ in range(400):
        p = stopping.judge(1 - truth, rng.random(3000))
        assert p is not None
        covered.append(p.interval[0] <= truth <= p.interval[1])
    assert np.mean(covered) > stats.binom.ppf(1e-4, 400, 0.95) / 400


def test_the_first_toys_are_all_counted_where_they_decide() -> None:
    null = np.array([9.0, 0.0, 9.0, 0.0, 9.0, 0.0, 0.0, 9.0])
    stopping = Stopping(exceedances=2, toys=8, first=5)
    assert stopping.judge(4.0, null) == stopping.judge(4.0, null[:5]) == EmpiricalP(3, 5)
    # Where they do not, toys are added until one decides, or there are no more.
    few = np.array([0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 9.0, 9.0])
    assert stopping.judge(4.0, few[:6]) is None
    assert stopping.judge(4.0, few) == EmpiricalP(2, 7, sequential=True)
    assert stopping.judge(10.0, few) == EmpiricalP(0, 8)


def test_p_values_are_valid_where_first_toys_are_made_whatever_they_say(rng: np.random.Generator) -> None:
    stopping = Stopping(exceedances=5, toys=400, first=60)
    p = np.array([stopping.judge(t, rng.random(400)).p_value for t in rng.random(6000)])
    for alpha in (0.01, 0.03, 0.08, 0.1, 0.3, 0.5):
        assert np.mean(p <= alpha) <= alpha + 4 * (alpha * (1 - alpha) / 6000) ** 0.5


def test_a_search_that_is_told_nothing_wants_to_know_p_to_a_third() -> None:
    assert Stopping.automatic(10**6) == Stopping(int(np.ceil(1 / PRECISION**2)), 10**6, FIRST)
    assert Stopping.automatic(FIRST - 1) == Stopping(int(np.ceil(1 / PRECISION**2)), FIRST - 1, FIRST - 1)


def test_how_many_toys() -> None:
    assert Stopping.until(4.0, 0.3) == Stopping(12, int(np.ceil(12 / stats.norm.sf(4))))
    assert Stopping.until(4.0, 0.3, most=1000) == Stopping(12, 1000)
    for z, precision in ((7.0, 0.3), (0.0, 0.3), (3.0, 0.0), (3.0, 2.0)):
        with pytest.raises(InputError, match="such as"):
            Stopping.until(z, precision)
