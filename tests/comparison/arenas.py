"""Small arenas for the tests of tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanner.comparison.protocol import Arena
from lanner.model.weightings import DATA, REFERENCE, Draw
from lanner.run.planning import FitOptions

OPTIONS = FitOptions(width="auto", penalty=1e-6, statistic="score", centers=50, seed=1)


def arena_of(
    *, dimensions: int = 1, reference: int = 600, expected: float = 60, other: int = 0, seed: int = 0
) -> Arena:
    """A Gaussian reference, and events shifted from it."""
    rng = np.random.default_rng(seed)
    shifted = rng.normal(1.0, 1.0, (other, dimensions)) if other else None
    return Arena.prepare(rng.normal(size=(reference, dimensions)), shifted, expected=expected, options=OPTIONS)


def samples_of(arena: Arena, draw: Draw) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The reference and the data of a toy."""
    roles = draw.roles()
    return arena.events[roles == REFERENCE], arena.events[roles == DATA]
