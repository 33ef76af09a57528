"""Small arenas for the tests of tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanner.comparison.toy_pool import ToyPool
from lanner.model.weightings import DATA, REFERENCE, Draw
from lanner.settings import FitSettings

OPTIONS = FitSettings(width="auto", penalty=1e-6, statistic="score", centers=50, seed=1)


def pool_of(
    *, dimensions: int = 1, reference: int = 600, expected: float = 60, other: int = 0, seed: int = 0
) -> ToyPool:
    """A Gaussian reference, and events shifted from it."""
    rng = np.random.default_rng(seed)
    shifted = rng.normal(1.0, 1.0, (other, dimensions)) if other else None
    return ToyPool.prepare(rng.normal(size=(reference, dimensions)), shifted, expected=expected, settings=OPTIONS)


def samples_of(pool: ToyPool, draw: Draw) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The reference and the data of a toy."""
    roles = draw.roles()
    return pool.events[roles == REFERENCE], pool.events[roles == DATA]
