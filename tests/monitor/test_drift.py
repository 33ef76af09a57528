"""Shifts from counts in bins are those of the values."""

import numpy as np
import pytest

from lanner.monitor.bins import Bins
from lanner.monitor.drift import shifts


def test_the_shift_of_a_normal_feature_is_that_of_its_mean() -> None:
    rng = np.random.default_rng(1)
    reference = np.column_stack([rng.standard_normal(50_000), rng.exponential(size=50_000), np.ones(50_000)])
    bins = Bins.of(["a", "b", "c"], reference, None)
    moved = reference[:20_000] + np.array([0.2, 0.0, 0.0])
    found = shifts(bins, np.stack([bins.counts(moved), bins.counts(reference[:20_000])]), 50_000)
    assert found.shift[0, 0] == pytest.approx(0.2, abs=0.02)
    assert found.shift[1:, 0] == pytest.approx(0.0, abs=0.02)
    assert found.error == pytest.approx((1 / 20_000 + 1 / 50_000) ** 0.5)
    assert found.leading(1).names == ("a",)


def test_what_noise_explains_is_taken_off() -> None:
    rng = np.random.default_rng(2)
    reference = rng.standard_normal((20_000, 1))
    bins = Bins.of(["a"], reference, None)
    counts = np.stack([bins.counts(rng.standard_normal((100, 1))) for _ in range(400)])
    found = shifts(bins, counts, 20_000)
    pulls = found.shift[0] / found.error
    assert 0.9 < pulls.std() < 1.1
    assert np.all(found.sure[0][np.abs(pulls) <= 1] == 0)
    assert np.all(np.abs(found.sure) <= np.abs(found.shift))


def test_a_batch_without_events_has_no_shift() -> None:
    bins = Bins.of(["a"], np.random.default_rng(3).standard_normal((1000, 1)), None)
    assert shifts(bins, np.zeros((1, bins.number)), 1000).sure.tolist() == [[0.0]]
