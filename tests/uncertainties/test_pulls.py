"""Pulls in bins of a feature."""

import numpy as np

from lanner.uncertainties.pulls import Binning


def pulls(reference, reweighted, varied, weights, expected=1000):
    binning = Binning.of(("x",), [reference])
    return binning.pulls([reweighted], [varied], [weights], total=len(reference), expected=expected)[0]


def test_other_weights_of_the_same_events() -> None:
    x = np.arange(1000.0)[:, None]
    found = pulls(x, np.ones(1000), None, np.where(x[:, 0] < 100, 1.1, 1.0))
    # 100 of 1000 events weigh 10 % more: 10 events, at 1000 expected ones one standard deviation of 100.
    np.testing.assert_allclose(found.bias, [1.0] + 9 * [0.0], atol=1e-9)
    np.testing.assert_allclose(found.pulls, [10.0] + 9 * [0.0], atol=1e-9)
    assert found.where() == "'x' below 99.9"


def test_pulls_of_other_events_are_standard_normal() -> None:
    rng = np.random.default_rng(1)
    values = [
        pulls(rng.random((5000, 1)), np.ones(5000), rng.random((n, 1)), np.full(n, 5000 / n)).pulls
        for n in (5000, 20_000)
        for _ in range(30)
    ]
    assert 0.8 < np.std(values) < 1.15


def test_the_same_events_cancel_unless_they_change_the_bin() -> None:
    rng = np.random.default_rng(2)
    x = rng.random((5000, 1))
    moved = [pulls(x := rng.random((5000, 1)), np.ones(5000), x + 1e-3, np.ones(5000)).pulls[1:-1] for _ in range(30)]
    assert 0.3 < np.std(moved) < 1.5


def test_a_column_of_one_value_has_one_bin() -> None:
    found = pulls(np.full((100, 1), 3.0), np.ones(100), None, np.ones(100))
    assert len(found.bias) == len(found.edges) + 1
    assert np.abs(found.bias).max() == 0
