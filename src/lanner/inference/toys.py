"""Null toys: which events of the pool are a toy's data, and which its reference."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.model.weightings import DATA, REFERENCE


def draw_roles(
    pool: int, *, expected: float, reference_size: int, barred: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.int8]:
    """One null toy from a pool of reference events.

    Poisson(expected) events are its data and `reference_size` others its reference, so the two never share an
    event. The candidate centres (`barred`, rows of the pool) are always reference: a centre chosen
    among a fit's own data would follow its fluctuations.
    """
    size = int(rng.poisson(expected))
    free = np.ones(pool, dtype=bool)
    free[barred] = False
    rows = rng.permutation(np.flatnonzero(free))
    others = reference_size - len(barred)
    if others < 0 or size + others > len(rows):
        raise InputError(
            f"a toy of {size} data and {reference_size} reference events with {len(barred)} centres does not fit "
            f"into a pool of {pool}; use a smaller reference_size"
        )
    roles = np.zeros(pool, dtype=np.int8)
    roles[barred] = REFERENCE
    roles[rows[:size]] = DATA
    roles[rows[size : size + others]] = REFERENCE
    return roles
