"""The score statistic: t to second order around f = 0, which needs no fit.

With u = sum_{S1} phi - a0 sum_{S0} phi in the eigenbasis of the features' second moment under the reference
(eigenvalues s_j) and rho = c penalty n / N(0), c = 2 for the logistic loss and 1 for the extended one,

    w_j = u_j / (N(0) (s_j + rho))                           one Newton step from f = 0
    q   = sum_j (2 h_j - h_j^2) u_j^2 / (N(0) s_j)           h_j = s_j / (s_j + rho)
        = sum_j (2 - h_j) u_j^2 / (N(0) (s_j + rho))

A toy costs one sum over the events in which it differs from the whole reference. Where these are few they are gathered;
where they are many, a product of the features with a matrix of memberships is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lanner.model.backend import NUMPY, Arrays, Values
from lanner.model.features import Features, StoredFeatures
from lanner.model.moments import Eigenbasis
from lanner.model.objective import Solution
from lanner.model.parallel import for_rows, in_parallel, sum_over_rows
from lanner.model.weightings import Draw, Weightings
from lanner.typing import Array

# Below this share of the pool's rows they are gathered one by one, above it all are multiplied (measured).
GATHER = 0.03
_TOGETHER = 16  # toys gathered together by a thread


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
        for k, score in enumerate(self.splits):
            columns = np.flatnonzero([w is None or w == k for w in which])
            if len(columns):
                some = u if len(columns) == len(which) else arrays.take(u, columns, axis=1)
                parts.append((k, columns, score.rotate(some)))
        return Rotated(tuple(parts), len(which))

    def solution(self, rotated: Rotated, rho: float, *, kept: int | None = None) -> Solution:
        """What a solver would report, with the coefficients of the first `kept` columns (None: of all)."""
        number = rotated.number
        statistics = self.by_split(rotated, rho)
        shares = 1 / np.count_nonzero(~np.isnan(statistics), axis=0)
        coefficients = np.zeros((len(self.splits[0].basis.vectors), number if kept is None else min(kept, number)))
        for k, columns, values in rotated.parts:
            shown = np.flatnonzero(columns < coefficients.shape[1])
            steps = self.splits[k].coefficients(values[:, shown], rho)
            coefficients[:, columns[shown]] += shares[columns[shown]] * steps
        return Solution(
            coefficients=coefficients,
            statistic=np.nanmedian(statistics, axis=0),
            converged=np.ones(number, dtype=bool),
            iterations=np.ones(number, dtype=np.int64),
            decrement=np.zeros(number),
        )

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


def differences(
    features: Features, draws: Sequence[Draw], *, expected: float, weights: Array | None, total: Callable[[], Array]
) -> Values:
    """u = sum_{S1} phi - a0 sum_{S0} phi of each draw, (r, B); `total` gives the sum over all of a pool's reference."""
    changed = max(len(d.data) + len(d.left_out) for d in draws)
    if isinstance(features, StoredFeatures) and changed < GATHER * len(features):
        return _gathered(features, draws, expected=expected, weights=weights, total=total())
    # A row for each draw, which is quick to fill, seen as a column.
    roles = np.stack(in_parallel(Draw.roles, draws, together=_TOGETHER)).T
    if weights is None:
        weightings = Weightings(roles, expected / np.array([d.reference_size for d in draws]))
    else:
        weightings = Weightings.of(roles, expected=expected, weights=weights)
    return weighted_difference(features, weightings)


def weighted_difference(features: Features, weightings: Weightings) -> Values:
    """The same from what every event weighs in every fit: one product."""
    arrays = features.arrays

    def block_sums(rows: slice) -> tuple[Values]:
        v0, v1 = weightings.block(rows, features.dtype, arrays)
        v1 -= v0
        return (features.block(rows).T @ v1,)

    size = min(arrays.rows_per_block(len(weightings)), features.max_rows)
    return features.lower(sum_over_rows(len(features), size, block_sums, arrays=arrays)[0])


def _gathered(
    features: StoredFeatures, draws: Sequence[Draw], *, expected: float, weights: Array | None, total: Array
) -> Values:
    """From the rows that are data or left out: the rest of the reference is its total less those."""
    phi, arrays = features.phi, features.arrays
    u = np.empty((len(draws), phi.shape[1]))
    whole = draws[0].reference if weights is None else float(weights[: draws[0].reference].sum())

    def fill(part: slice) -> None:
        some = draws[part]
        # One array for all these toys, each with its data first and what it leaves out after them.
        lengths = np.array([(len(d.data), len(d.left_out)) for d in some])
        rows = np.concatenate([x for d in some for x in (d.data, d.left_out)])
        ends = np.concatenate([[0], np.cumsum(lengths.sum(axis=1))])
        missing = (rows < some[0].reference) * (1.0 if weights is None else weights[rows])
        scale = expected / (whole - np.diff(np.concatenate([[0.0], np.cumsum(missing)])[ends]))
        missing *= np.repeat(scale, lengths.sum(axis=1))
        missing += np.repeat(np.tile([1.0, 0.0], len(some)), lengths.ravel())
        entries = missing.astype(features.dtype)
        if arrays.xp is np:
            u[part] = sparse.csr_array((entries, rows, ends), shape=(len(some), len(phi))) @ phi
        else:
            for k, (first, last) in enumerate(pairwise(ends)):
                taken = arrays.take(phi, rows[first:last], axis=0)
                u[part.start + k] = arrays.get(arrays.put(entries[first:last]) @ taken)
        u[part] -= scale[:, None] * total

    for_rows(len(draws), _TOGETHER, fill, arrays)
    return arrays.put(u.T)
