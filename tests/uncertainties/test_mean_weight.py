"""The local mean of weights of either sign."""

import numpy as np
import pytest

from lanner.events import Sample, Scaling
from lanner.uncertainties.mean_weight import mean_weights


def negative_share(x: np.ndarray) -> np.ndarray:
    """The chance of a negative weight: more of them around x = 1."""
    return np.asarray(0.1 + 0.25 * np.exp(-2 * (x - 1) ** 2))


def signed(n: int, seed: int) -> Sample:
    """An exponential, and a column that has nothing to do with the weights."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.exponential(size=n), rng.normal(size=n)])
    return Sample.of(x, weights=3.0 * np.where(rng.random(n) < negative_share(x[:, 0]), -1.0, 1.0))


def scaling_of(sample: Sample) -> Scaling:
    return Scaling.learn(sample, "robust")


@pytest.fixture(scope="module")
def sample() -> Sample:
    return signed(40_000, 1)


def test_the_mean_is_that_of_the_law(sample: Sample) -> None:
    found = mean_weights(sample, scaling_of(sample), seed=1, memory=10**9)
    truth = 3 * (1 - 2 * negative_share(sample.features[:, 0]))
    assert np.sqrt(np.mean((found.values - truth) ** 2)) < 0.1
    assert found.values.sum() == pytest.approx(sample.total_weight)
    assert found.clipped == 0
    assert found.lost == 0


def test_sums_over_regions_are_those_of_the_weights(sample: Sample) -> None:
    found = mean_weights(sample, scaling_of(sample), seed=1, memory=10**9)
    assert sample.weights is not None
    x = sample.features[:, 0]
    for low in (0.0, 0.5, 1.0, 2.0):
        inside = (x >= low) & (x < low + 0.5)
        error = np.sqrt((sample.weights[inside] ** 2).sum())
        assert abs(found.values[inside].sum() - sample.weights[inside].sum()) < 3 * error


def test_it_does_not_depend_on_the_memory(sample: Sample) -> None:
    few, many = (mean_weights(sample, scaling_of(sample), seed=1, memory=m).values for m in (2 * 10**8, 10**10))
    np.testing.assert_array_equal(few, many)


def test_where_negative_weights_outweigh_the_others_the_mean_is_nothing() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 4, size=(20_000, 1))
    w = np.where((x[:, 0] > 1) & (x[:, 0] < 2), -0.5, 1.0)
    found = mean_weights(sample := Sample.of(x, weights=w), scaling_of(sample), seed=1, memory=10**9)
    inside = (x[:, 0] > 1.2) & (x[:, 0] < 1.8)
    assert (found.values[inside] == 0).mean() > 0.95
    assert found.clipped > 3000
    assert found.lost > 0.1
    assert (found.values >= 0).all()
