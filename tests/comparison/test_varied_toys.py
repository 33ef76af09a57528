"""Toys of a reference times a ratio: what they hold is what the ratio says."""

import numpy as np
import pytest

import lanner
from lanner.comparison.toy_pool import ToyPool
from lanner.comparison.varied_toys import Varied, VariedToys, events_to_draw
from lanner.errors import InputError
from lanner.settings import FitSettings

RNG = np.random.default_rng(1)
X = RNG.exponential(size=(40_000, 1))


def pool_of(reference: lanner.Sample, rows: np.ndarray) -> ToyPool:
    other = lanner.Sample.of(reference.features[rows])
    return ToyPool.prepare(reference, other, expected=500, settings=FitSettings(seed=1), in_bunches=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_toys_have_the_numbers_and_the_mean_that_the_ratio_gives(weighted: bool) -> None:
    weights = RNG.uniform(0.5, 1.5, len(X)) if weighted else np.ones(len(X))
    reference = lanner.Sample.of(X, weights=weights if weighted else None)
    log_r = 0.2 * np.tanh(X[:, 0] - 1)
    varied = Varied.of(log_r, weights)
    plan = ToyPool.prepare(reference, expected=500, settings=FitSettings(seed=1), in_bunches=True).plan
    rows = events_to_draw([varied], plan, reference)
    pool = pool_of(reference, rows)
    chances = varied.excess[rows] / varied.excess[rows].sum()
    kind = VariedToys(7, 500 * varied.least, varied.mean(500), chances)
    sizes, sums = [], []
    bunches = pool.scheme.bunches
    events = np.vstack([X, X[rows]])[:, 0]
    for i in range(200):
        draw = kind(pool.scheme, i)
        assert not set(draw.data) & set(draw.left_out)
        sizes.append(draw.data_size)
        sums.append(events[bunches.events_of(draw.data)].sum())
    v = weights * np.exp(log_r)
    growth = v.sum() / weights.sum()
    assert varied.growth == pytest.approx(growth)
    assert np.mean(sizes) == pytest.approx(500 * growth, abs=4 * (500 / 200) ** 0.5)
    truth = 500 * growth * (v @ X[:, 0]) / v.sum()
    spread = (500 * growth * (v @ X[:, 0] ** 2) / v.sum() / 200) ** 0.5
    assert np.mean(sums) == pytest.approx(truth, abs=4 * spread)
    assert np.var(sizes) == pytest.approx(500 * growth, rel=0.4)


def test_a_constant_ratio_draws_nothing_beside_the_reference() -> None:
    reference = lanner.Sample.of(X)
    varied = Varied.of(np.full(len(X), 0.1), np.ones(len(X)))
    plan = ToyPool.prepare(reference, expected=500, settings=FitSettings(seed=1), in_bunches=True).plan
    assert varied.mean(500) == 0
    assert len(events_to_draw([varied], plan, reference)) == 0


def test_a_reference_that_is_too_small_for_a_variation_is_refused() -> None:
    reference = lanner.Sample.of(X[:3000])
    varied = Varied(0.0, 20.0, np.ones(3000))
    plan = ToyPool.prepare(reference, expected=100, settings=FitSettings(seed=1), in_bunches=True).plan
    with pytest.raises(InputError, match="too many to draw them from a reference of 3000: use a larger one"):
        events_to_draw([varied], plan, reference)
