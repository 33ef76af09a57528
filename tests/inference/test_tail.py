"""A tail fitted to toys."""

import numpy as np
import pytest
from scipy import stats

from lanner.inference.tail import fit_tail


def test_an_exponential_is_found_with_its_error(rng: np.random.Generator) -> None:
    pulls, fits = [], []
    for _ in range(200):
        tail = fit_tail(rng.exponential(size=2000), rng=rng)
        assert tail is not None
        x = -np.log(stats.norm.sf(4.0))  # where the true Z is 4
        pulls.append((tail.z_score(min(x, tail.limit)) - stats.norm.isf(np.exp(-min(x, tail.limit)))) / tail.z_error(x))
        fits.append(tail.goodness_of_fit)
    assert np.std(pulls) == pytest.approx(1.0, abs=0.25)
    assert abs(np.mean(pulls)) < 0.4
    assert stats.kstest(fits, "uniform").pvalue > 1e-3


def test_beyond_its_limit_it_says_no_more() -> None:
    tail = fit_tail(np.random.default_rng(1).exponential(size=2000), rng=np.random.default_rng(2))
    assert tail is not None
    assert tail.z_score(10 * tail.limit) == tail.z_score(tail.limit)
    assert tail.z_score(tail.limit) > tail.z_score(0.9 * tail.limit)


def test_a_tail_that_is_none_is_refused_or_seen(rng: np.random.Generator) -> None:
    assert fit_tail(rng.exponential(size=100), rng=rng) is None
    assert fit_tail(np.append(rng.exponential(size=1000), np.nan), rng=rng) is None
    assert fit_tail(np.ones(1000), rng=rng) is None
    uniform = fit_tail(rng.random(5000), rng=rng)
    assert uniform is not None
    assert uniform.goodness_of_fit < 0.01
