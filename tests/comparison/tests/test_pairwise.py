from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

from lanner.comparison import MMD, Energy
from lanner.comparison.tests import pairwise
from tests.comparison.pools import pool_of, samples_of


def test_mmd_is_that_of_all_pairs() -> None:
    pool = pool_of(dimensions=3, other=40)
    draws = [pool.scheme.toy(0), pool.scheme.data(0), pool.scheme.with_signal(1, 20.0, alone=False)]
    found = MMD(width=0.8).prepare(pool).statistics(draws).values[0]
    for draw, t in zip(draws, found, strict=True):
        x, y = samples_of(pool, draw)
        n, m = len(y), len(x)
        gamma = 1 / (2 * 0.8**2)
        yy, xx, yx = (rbf_kernel(a, b, gamma=gamma).mean() for a, b in ((y, y), (x, x), (y, x)))
        squared = yy + xx - 2 * yx
        assert t == pytest.approx(n * m / (n + m) * squared, rel=1e-8)


def test_energy_is_that_of_scipy_in_one_dimension() -> None:
    pool = pool_of(dimensions=1, other=40)
    draw = pool.scheme.with_signal(3, 20.0, alone=False)
    x, y = samples_of(pool, draw)
    n, m = len(y), len(x)
    t = Energy().prepare(pool).statistics([draw]).values[0, 0]
    assert t == pytest.approx(n * m / (n + m) * stats.energy_distance(x[:, 0], y[:, 0]) ** 2, rel=1e-8)


def test_energy_is_that_of_all_pairs() -> None:
    pool = pool_of(dimensions=2, other=40)
    draw = pool.scheme.data(0)
    x, y = samples_of(pool, draw)
    n, m = len(y), len(x)
    distance = 2 * cdist(x, y).mean() - cdist(x, x).mean() - cdist(y, y).mean()
    t = Energy().prepare(pool).statistics([draw]).values[0, 0]
    assert t == pytest.approx(n * m / (n + m) * distance, rel=1e-8)


def test_a_small_part_of_the_reference_is_summed_by_itself() -> None:
    pool = pool_of(dimensions=2, reference=600, other=40)
    draw = pool.scheme.data(0)
    few = replace(draw, left_out=np.arange(500))
    x, y = samples_of(pool, few)
    n, m = len(y), len(x)
    assert m == 100
    distance = 2 * cdist(x, y).mean() - cdist(x, x).mean() - cdist(y, y).mean()
    t = Energy().prepare(pool).statistics([few]).values[0, 0]
    assert t == pytest.approx(n * m / (n + m) * distance, rel=1e-8)


def test_blocks_of_pairs_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of(dimensions=2, other=40)
    draw = pool.scheme.with_signal(1, 20.0, alone=False)
    whole = Energy().prepare(pool).statistics([draw]).values
    monkeypatch.setattr(pairwise, "_BLOCK", 2000)
    np.testing.assert_allclose(Energy().prepare(pool).statistics([draw]).values, whole, rtol=1e-9)
