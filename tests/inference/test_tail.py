"""A tail fitted to toys."""

import numpy as np
import pytest
from scipy import stats

from lanner.inference.tail import fit_tail


@pytest.mark.parametrize("shape", [0.0, 0.15])
def test_a_law_is_found_with_its_error(shape: float, rng: np.random.Generator) -> None:
    law = stats.genpareto(shape)
    x, pulls, fits, shapes = law.isf(stats.norm.sf(4.0)), [], [], []
    for _ in range(200):
        tail = fit_tail(law.rvs(size=2000, random_state=rng), rng=rng)
        assert tail is not None
        true = stats.norm.isf(law.sf(min(x, tail.limit)))
        pulls.append((tail.z_score(x) - true) / tail.z_error(x))
        fits.append(tail.goodness_of_fit)
        shapes.append(tail.shape)
    # No lighter law than an exponential is looked for, so the exponential's own errors are too large, and it errs low.
    assert np.std(pulls) == pytest.approx(1.0 if shape else 0.6, abs=0.25)
    assert -0.6 < np.mean(pulls) < 0.4
    assert np.mean(shapes) == pytest.approx(shape, abs=0.05)
    assert stats.kstest(fits, "uniform").pvalue > 1e-3


def test_the_fit_is_the_most_likely(rng: np.random.Generator) -> None:
    x = stats.genpareto.rvs(0.2, size=3000, random_state=rng)
    tail = fit_tail(x, rng=rng)
    assert tail is not None
    excess = np.sort(x)[-tail.above :] - tail.threshold
    shape, _, scale = stats.genpareto.fit(excess, floc=0)
    assert tail.shape == pytest.approx(shape, abs=1e-3)
    assert tail.scale == pytest.approx(scale, rel=1e-3)
    far = np.array([5.0, 20.0, 40.0])
    law = stats.genpareto(tail.shape, tail.threshold, tail.scale)
    np.testing.assert_allclose([tail.log_p(t) for t in far], np.log(tail.share) + law.logsf(far), rtol=1e-10)
    np.testing.assert_allclose(tail.pdf(far), tail.share * law.pdf(far), rtol=1e-10)
    # From one toy in 3000 as many powers of ten on as from the threshold to that.
    assert law.sf(tail.limit) * tail.share == pytest.approx(1 / 3000**2 / tail.share, rel=1e-9)


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
    assert not uniform.describes
