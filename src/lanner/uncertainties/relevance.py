"""Penalties by relevance: each group of functions has the penalty that its own coefficients ask for.

A variation mostly concerns few of the features, and functions of the others only add noise. With S = (C + ridge)^-1 and
c = S b, the evidence of a group of n coefficients is largest (MacKay 1992) where its penalty is

    ridge_g = gamma_g / |c_g|^2,   gamma_g = n - ridge_g tr S_g    (its effective number of freedoms),

and it grows without end where the coefficients are no larger than their errors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanner.typing import Array

_ROUNDS = 30
_DISTINCT = 2.0  # |c|^2 in units of its variance, below which a group is on its way out
_BOUNDS = (1.0, 1e8)


def relevant_penalties(curvature: Array, right: Array, start: Array, groups: NDArray[np.intp]) -> Array:
    """The penalty of each function, given its group; group 0, the constant, keeps its own.

    >>> noisy = relevant_penalties(1e4 * np.eye(3), np.array([50.0, 1e3, 60.0]), np.ones(3), np.arange(3))
    >>> (noisy > 1e6).tolist()
    [False, False, True]
    """
    sizes = np.bincount(groups)
    first = np.array([np.argmax(groups == g) for g in range(len(sizes))])
    penalty = start[first]
    for _ in range(_ROUNDS):
        covariance = np.linalg.inv(curvature + np.diag(penalty[groups]))
        c = covariance @ right
        square, variance = (np.bincount(groups, of) for of in (c**2, np.diag(covariance)))
        freedoms = np.maximum(sizes - penalty * variance, 1e-3)
        asked = freedoms / np.maximum(square, 1e-12)
        leaves = square < _DISTINCT * freedoms / sizes * variance
        penalty = np.clip(np.where(leaves, 3 * penalty, asked), *_BOUNDS)
        penalty[0] = start[first[0]]
    return np.asarray(penalty[groups])
