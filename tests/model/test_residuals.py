"""What of events a basis cannot represent, summed."""

from dataclasses import astuple

import numpy as np
import pytest

from lanner.model.residuals import BEYOND, ResidualSums


def test_sums_of_parts_add_up_to_those_of_all(rng: np.random.Generator) -> None:
    g = rng.random(1000)
    parts = ResidualSums.of(g[:300]) + ResidualSums.of(g[300:])
    assert astuple(parts) == pytest.approx((1000, g.sum(), (g**2).sum(), np.count_nonzero(g > BEYOND)))
    assert astuple(parts) == pytest.approx(astuple(ResidualSums.of(g)))


def test_weights_count_relative_to_their_mean(rng: np.random.Generator) -> None:
    g, often = rng.random(500), rng.integers(1, 4, 500)
    found, repeated = ResidualSums.of(g, 0.3 * often.astype(np.float64)), np.repeat(g, often)
    assert found.number == pytest.approx(500)
    assert found.total / 500 == pytest.approx(repeated.mean())
    assert found.beyond / 500 == pytest.approx(np.mean(repeated > BEYOND))
