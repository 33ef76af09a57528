"""The score statistic: t to second order around f = 0, which needs no fit.

With u = sum_{S1} phi - a0 sum_{S0} phi in the eigenbasis of the features' second moment under the reference
(eigenvalues s_j) and rho = c penalty n / N(0), c = 2 for the logistic loss and 1 for the extended one,

    w_j = u_j / (N(0) (s_j + rho))                           one Newton step from f = 0
    q   = sum_j (2 h_j - h_j^2) u_j^2 / (N(0) s_j)           h_j = s_j / (s_j + rho)
        = sum_j (2 - h_j) u_j^2 / (N(0) (s_j + rho))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanner.model.backend import NUMPY, Arrays, Values
from lanner.model.features import Features
from lanner.model.moments import Eigenbasis
from lanner.model.objective import Solution
from lanner.model.parallel import sum_over_rows
from lanner.model.weightings import Weightings
from lanner.typing import Array


@dataclass(frozen=True, eq=False)
class Score:
    """q and the one-step f of any number of u, at any penalty."""

    basis: Eigenbasis
    expected: float  # N(0)
    arrays: Arrays = NUMPY  # where the u are

    @cached_property
    def _vectors(self) -> Values:
        return self.arrays.put(self.basis.vectors)

    def rotate(self, u: Values) -> Array:
        """u (r, B) along the eigenvectors, in units of the square root of the expected events; on the host."""
        return self.arrays.get(self._vectors.T @ u / self.expected**0.5)

    def statistic(self, rotated: Array, rho: float) -> Array:
        """q of each column."""
        s = np.maximum(self.basis.spectrum.values, 0.0)
        weights = (2 - s / (s + rho)) / (s + rho)
        return np.asarray(weights @ np.square(rotated))

    def coefficients(self, rotated: Array, rho: float) -> Array:
        """The one-step coefficients of Phi, (r, B)."""
        s = np.maximum(self.basis.spectrum.values, 0.0)
        return np.asarray(self.basis.vectors @ (rotated / (s + rho)[:, None]) / self.expected**0.5)


@dataclass(frozen=True, eq=False)
class Scores:
    """The score by each of several splits of the reference, and by all of them (`model/splits.py`).

    By all of them it is the median: a mean would be that of the few splits in which a rare kind of events has no part
    in the moments.
    """

    splits: tuple[Score, ...]

    def rotate(self, u: Values, which: Sequence[int | None]) -> Rotated:
        """u (r, B) along the eigenvectors of each column's split, or of all of them where it is None."""
        arrays, parts = self.splits[0].arrays, []
        labels = np.array([-1 if w is None else w for w in which])
        for k, score in enumerate(self.splits):
            columns = np.flatnonzero((labels == k) | (labels == -1))
            if len(columns):
                some = u if len(columns) == len(which) else arrays.take(u, columns, axis=1)
                parts.append((k, columns, score.rotate(some)))
        return Rotated(tuple(parts), len(which))

    def solution(self, rotated: Rotated, rho: float, *, kept: int | None = None) -> Solution:
        """What a solver would report, with the coefficients of the first `kept` columns (None: of all)."""
        number = rotated.number
        coefficients = np.zeros((len(self.splits[0].basis.vectors), number if kept is None else min(kept, number)))
        if coefficients.size:
            judges = np.zeros(number)  # how many splits judge each column
            for _, columns, _ in rotated.parts:
                judges[columns] += 1
            for k, columns, values in rotated.parts:
                shown = np.flatnonzero(columns < coefficients.shape[1])
                steps = self.splits[k].coefficients(values[:, shown], rho)
                coefficients[:, columns[shown]] += steps / judges[columns[shown]]
        return Solution(
            coefficients=coefficients,
            statistic=self.statistic(rotated, rho),
            converged=np.ones(number, dtype=bool),
            iterations=np.ones(number, dtype=np.int64),
            decrement=np.zeros(number),
        )

    def statistic(self, rotated: Rotated, rho: float) -> Array:
        """q of each column, by its own split or by the median of all."""
        if sum(len(columns) for _, columns, _ in rotated.parts) > rotated.number:
            return np.nanmedian(self.by_split(rotated, rho), axis=0)
        found = np.empty(rotated.number)
        for k, columns, values in rotated.parts:
            found[columns] = self.splits[k].statistic(values, rho)
        return found

    def by_split(self, rotated: Rotated, rho: float) -> Array:
        """q by each split, (splits, B); NaN where a column does not belong to it."""
        found = np.full((len(self.splits), rotated.number), np.nan)
        for k, columns, values in rotated.parts:
            found[k, columns] = self.splits[k].statistic(values, rho)
        return found


@dataclass(frozen=True, eq=False)
class Rotated:
    """u of several draws along the eigenvectors: of each split the columns that belong to it, and their values."""

    parts: tuple[tuple[int, NDArray[np.intp], Array], ...]
    number: int  # of draws
    local: Array | None = None  # the largest local excess of each (`model/local_excess.py`)


def weighted_difference(features: Features, weightings: Weightings) -> Values:
    """u = sum_{S1} phi - a0 sum_{S0} phi from what every event weighs in every fit, (r, B): one product."""
    arrays = features.arrays

    def block_sums(rows: slice) -> tuple[Values]:
        v0, v1 = weightings.block(rows, features.dtype, arrays)
        v1 -= v0
        return (features.block(rows).T @ v1,)

    size = min(arrays.rows_per_block(len(weightings)), features.max_rows)
    return features.lower(sum_over_rows(len(features), size, block_sums, arrays=arrays)[0])
