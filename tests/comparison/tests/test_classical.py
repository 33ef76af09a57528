"""KS and chi2 against SciPy."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from lanner.comparison import BinnedChi2, KolmogorovSmirnov
from lanner.comparison.tests.chi2 import halved
from lanner.comparison.tests.kolmogorov_smirnov import log_corrected
from lanner.errors import InputError
from tests.comparison.pools import pool_of, samples_of


def test_the_distance_is_that_of_scipy_in_the_worst_feature() -> None:
    pool = pool_of(dimensions=3, other=40)
    prepared: Any = KolmogorovSmirnov().prepare(pool)
    for draw in (pool.scheme.toy(0), pool.scheme.data(0)):
        x, y = samples_of(pool, draw)
        found = [stats.ks_2samp(x[:, k], y[:, k]).statistic for k in range(3)]
        distance, events = prepared.distance(draw)
        assert distance == pytest.approx(max(found), rel=1e-12)
        assert events == pytest.approx(len(x) * len(y) / (len(x) + len(y)))


def test_ties_are_compared_once() -> None:
    pool = pool_of(dimensions=1, other=40)
    pool.events[:] = np.round(pool.events)
    draw = pool.scheme.data(0)
    x, y = samples_of(pool, draw)
    prepared: Any = KolmogorovSmirnov().prepare(pool)
    distance, _ = prepared.distance(draw)
    assert distance == pytest.approx(stats.ks_2samp(x[:, 0], y[:, 0]).statistic, rel=1e-12)


@pytest.mark.parametrize("distance", [0.001, 0.03, 0.1, 0.2, 0.9])
def test_the_corrected_p_is_sidaks(distance: float) -> None:
    p = stats.kstwobign.sf(1000**0.5 * distance)
    for features in (1, 5):
        expected = np.log(-np.expm1(features * np.log1p(-p))) if 0 < p < 1 else (0.0 if p == 1 else -np.inf)
        if p > 1e-300:
            assert log_corrected(distance, 1000.0, features) == pytest.approx(expected, rel=1e-6, abs=1e-12)
        else:
            assert log_corrected(distance, 1000.0, features) < -600


def test_cells_are_equally_populated() -> None:
    events = np.random.default_rng(0).normal(size=(4096, 3))
    counts = np.bincount(halved(events, 4096, 6), minlength=64)
    assert counts.min() == counts.max() == 64


def test_cells_do_not_depend_on_other_events_than_the_reference() -> None:
    events = np.random.default_rng(0).normal(size=(500, 2))
    moved = events.copy()
    moved[400:] += 3
    assert (halved(events, 400, 4)[:400] == halved(moved, 400, 4)[:400]).all()


def test_chi2_is_pearsons() -> None:
    pool = pool_of(dimensions=2, reference=4000, other=100)
    draw = pool.scheme.data(0)
    t = BinnedChi2(bins=8).prepare(pool).statistics([draw]).values[0, 0]
    cells = halved(pool.events, 4000, 3)
    roles = draw.roles()
    seen, left = (np.bincount(cells[roles == role], minlength=8) for role in (2, 1))
    scale = 60 / left.sum()
    # Without the fluctuation of the reference, and rescaled to the same total, this is SciPy's.
    unscaled = t * (1 + scale)
    expected = scale * left
    shape = stats.chisquare(seen, expected * seen.sum() / expected.sum()).statistic
    assert unscaled == pytest.approx(((seen - expected) ** 2 / expected).sum(), rel=1e-12)
    # sum (s - e)^2 / e = c sum (s - c e)^2 / (c e) + (1 - c)^2 sum e ... for c the ratio of the totals
    c = seen.sum() / expected.sum()
    assert unscaled == pytest.approx(c * shape + (1 - c) ** 2 * expected.sum(), rel=1e-9)


def test_null_toys_follow_the_chi2() -> None:
    pool = pool_of(dimensions=2, reference=20000, expected=800)
    t = BinnedChi2(bins=16).prepare(pool).statistics([pool.scheme.toy(i) for i in range(400)]).values[0]
    assert stats.kstest(t, "chi2", (16,)).pvalue > 1e-3


def test_bins_come_from_halving() -> None:
    with pytest.raises(InputError, match="power of 2"):
        BinnedChi2(bins=10)
