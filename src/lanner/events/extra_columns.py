"""What angles and missing values add to scaled rows: the features first, then sines, then indicators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lanner.events.missing import Missing
from lanner.typing import Array

_ROOT = 2**0.5  # gives cosine and sine of a uniform angle unit variance


def widened(
    table: Array, scaled: Array, scale: Array, angles: Sequence[int], missing: Sequence[tuple[int, Missing]]
) -> Array:
    """Scaled rows with cosines in the place of angles, 0 in that of missing values, and the columns that say so.

    `table` has the rows in their own units; angles and missing values come with the number of their column.

    >>> widened(np.array([[np.pi]]), np.array([[np.pi]]), np.ones(1), [0], []).round(3).tolist()
    [[-1.414, 0.0]]
    """
    sines = {j: _ROOT * np.sin(scaled[:, j]) for j in angles}
    for j in angles:
        scaled[:, j] = _ROOT * np.cos(scaled[:, j])
    flags = []
    for j, one in missing:
        rows = one.rows(table[:, j], scale[j])
        scaled[rows, j] = 0.0
        if j in sines:
            sines[j][rows] = 0.0
        flags.append(np.where(rows, one.levels[1], one.levels[0]))
    return np.column_stack([scaled, *sines.values(), *flags])


def narrowed(
    wide: Array, features: Array, scale: Array, angles: Sequence[int], missing: Sequence[tuple[int, Missing]]
) -> Array:
    """The way back: angles from their cosines and sines, missing values where their indicator is raised.

    >>> narrowed(np.array([[-1.0, 0.0]]), np.zeros((1, 1)), np.ones(1), [0], []).round(3).tolist()
    [[3.142]]
    """
    more = iter(wide.T[features.shape[1] :])
    for j in angles:
        features[:, j] = np.arctan2(next(more), wide[:, j]) * scale[j]
    for j, one in missing:
        features[next(more) > 0, j] = one.value
    return features
