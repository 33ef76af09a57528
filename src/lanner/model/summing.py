"""One pass over the events for all that the score needs of them: features summed by bunch, residuals, moments.

Kernel values are made block by block, in double precision, and forgotten. Whitening is done on the small side: of the
sums of a bunch, not of its events. Two things need single events. Residuals, the part of an event that the basis cannot
represent, which take the first pivots alone where there are many (`REACH_RANK`); and second moments, which take as many
events as make their error small beside what a half of the reference leaves anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import require_memory
from lanner.events.scaled_rows import Rows
from lanner.model.backend import NUMPY, Arrays, Values
from lanner.model.bunches import Bunches
from lanner.model.features import PRECISIONS, StoredFeatures
from lanner.model.kernel import KernelColumns
from lanner.model.moments import Moments, MomentSums
from lanner.model.nystrom import Basis
from lanner.model.parallel import blocks, for_rows, sum_over_rows
from lanner.model.splits import NEVER, Splits
from lanner.typing import Array

# Columns of the features by which residuals are judged, where all of them would cost more than `_CHEAP` products.
REACH_RANK, _CHEAP = 256, 2e10
_ROWS = 1024  # events of a block of kernel values, about
_MOMENT_ROWS = 16384
# Events for the second moments: products that they may cost, and how many there must be for each direction.
_MOMENT_PRODUCTS, _PER_DIRECTION = 1e11, 30


@dataclass(frozen=True, eq=False)
class Whitened:
    """Kernel values of events, and their features, by one basis."""

    basis: Basis
    columns: KernelColumns
    factor: Values
    arrays: Arrays

    @classmethod
    def of(cls, basis: Basis, arrays: Arrays = NUMPY) -> Whitened:
        """With the pivots and their factor where `arrays` says."""
        columns = KernelColumns.of(basis.kernel, basis.pivots, arrays)
        return cls(basis, columns, arrays.put(basis.factor), arrays)

    def phi(self, k: Values) -> Values:
        """Features from (sums of) kernel values, a row each."""
        return self.arrays.triangular(self.factor, k.T).T

    def residuals(self, k: Values, columns: int) -> Array:
        """k(x, x) - |phi(x)|^2 of each row of kernel values, by the first columns alone."""
        if columns == self.basis.rank:
            return self.left_over(self.phi(k))
        return self.left_over(self.arrays.triangular(self.factor[:columns, :columns], k[:, :columns].T).T)

    def left_over(self, phi: Values) -> Array:
        """k(x, x) - |phi(x)|^2 of each row of features."""
        arrays = self.arrays
        squares = np.einsum("ij,ij->i", phi, phi) if arrays.xp is np else arrays.get(arrays.xp.sum(phi * phi, axis=1))
        return np.clip(1.0 - squares, 0.0, 1.0)


def reach_columns(events: int, rank: int) -> int:
    """How many columns of the features tell what is out of reach: all where that is cheap."""
    return rank if rank <= REACH_RANK or events * rank**2 <= _CHEAP else REACH_RANK


def moment_events(rank: int) -> int:
    """How many events give the second moments, where there are so many."""
    return max(_PER_DIRECTION * rank, int(_MOMENT_PRODUCTS / rank**2))


def moment_labels(bunches: Bunches, splits: Splits | None, rank: int) -> NDArray[np.int8]:
    """To which moments each row that toys take gives its events: the label of its block, or `NEVER`."""
    labels = np.zeros(bunches.drawn, dtype=np.int8) if splits is None else splits.labels[: bunches.drawn]
    step = max(1, bunches.total // moment_events(rank))
    used = np.full_like(labels, NEVER)
    for label in set(labels.tolist()) - {NEVER}:
        rows = np.flatnonzero(labels == label)[::step]
        used[rows] = label
    return used


def summed_features(
    events: Rows,
    whitened: Whitened,
    bunches: Bunches,
    *,
    precision: str,
    memory: int,
    columns: int,
    told: Callable[[float], None] | None = None,
) -> tuple[StoredFeatures, Array]:
    """Features summed by row of the bunches, and the residual of each of their events, in the order of the bunches."""
    basis, arrays, dtype = whitened.basis, whitened.arrays, PRECISIONS[precision]
    r = basis.rank
    work = 4 * 8 * r * r + 8 * 8 * r * _ROWS
    require_memory(len(bunches) * r * dtype.itemsize + work, memory, f"the features of {len(bunches)} rows of rank {r}")
    phi = np.empty((len(bunches), r), dtype=dtype) if arrays.xp is np else arrays.zeros((len(bunches), r), dtype)
    residuals = np.empty(len(bunches.events))

    def fill(first: int, size: int, rows: slice) -> None:
        """Rows of equal size, which begin with the row `first`."""
        part = slice(first + rows.start, first + rows.stop)
        span = slice(bunches.starts[part.start], bunches.starts[part.stop])
        k = whitened.columns(events[bunches.events[span]])
        if size == 1:
            found = whitened.phi(k)
            residuals[span] = whitened.left_over(found[:, :columns])
        else:
            residuals[span] = whitened.residuals(k, columns)
            found = whitened.phi(arrays.xp.sum(arrays.xp.reshape(k, (part.stop - part.start, size, r)), axis=1))
        phi[part, :] = arrays.cast(found, dtype)
        if told is not None:
            told(span.stop / len(bunches.events))

    for first, last, size in equal_rows(bunches):
        if size <= _ROWS and last - first > 1:
            at_once = max(1, _ROWS // size)
            for_rows(last - first, at_once, lambda rows, f=first, s=size: fill(f, s, rows), arrays)  # type: ignore[misc]
            continue
        for row in range(first, last):
            span = slice(int(bunches.starts[row]), int(bunches.starts[row + 1]))
            total, residuals[span] = summed(events, whitened, bunches.events[span], columns)
            phi[row, :] = arrays.cast(arrays.put(total), dtype)
    return StoredFeatures(basis, phi, dtype, arrays), residuals


def equal_rows(bunches: Bunches) -> list[tuple[int, int, int]]:
    """Stretches of rows that are sums over equally many events: first row, last and size."""
    sizes = bunches.sizes
    ends = [0, *(np.flatnonzero(np.diff(sizes)) + 1).tolist(), len(sizes)]
    return [(first, last, int(sizes[first])) for first, last in pairwise(ends)]


def summed(events: Rows, whitened: Whitened, which: NDArray[np.intp], columns: int) -> tuple[Array, Array]:
    """The sum of the features of some events, and the residual of each."""
    arrays, residuals = whitened.arrays, np.empty(len(which))
    if not len(which):
        return np.zeros(whitened.basis.rank), residuals

    def block_sum(part: slice) -> tuple[Values]:
        k = whitened.columns(events[which[part]])
        residuals[part] = whitened.residuals(k, columns)
        return (arrays.xp.sum(k, axis=0),)

    (k,) = sum_over_rows(len(which), _ROWS, block_sum, arrays)
    return arrays.get(whitened.phi(k[None, :]))[0], residuals


def moments_of_events(
    events: Rows,
    whitened: Whitened,
    bunches: Bunches,
    features: StoredFeatures,
    splits: Splits | None,
    *,
    told: Callable[[float], None] | None = None,
) -> list[Moments]:
    """First and second moments of the features of single events: of each split, or of all."""
    rank, arrays, dtype = whitened.basis.rank, whitened.arrays, features.dtype
    labels = moment_labels(bunches, splits, rank)
    sums: dict[int, tuple[Array, Array]] = {}
    totals: dict[int, float] = {}
    used = sorted(set(labels.tolist()) - {NEVER})
    for k, label in enumerate(used):
        rows = np.flatnonzero(labels == label)
        found = MomentSums(rank, arrays, dtype)
        for part in blocks(len(rows), max(1, _MOMENT_ROWS // bunches.size)):
            found.add(_of_single_events(events, whitened, bunches, features, rows[part]), None)
        sums[label], totals[label] = found.host(), float(bunches.sizes[rows].sum())
        if told is not None:
            told((k + 1) / len(used))
    return Moments.joined(sums, totals, splits)


def _of_single_events(
    events: Rows, whitened: Whitened, bunches: Bunches, features: StoredFeatures, rows: NDArray[np.intp]
) -> Values:
    """The features of the events in some rows."""
    arrays = whitened.arrays
    if bunches.size == 1:
        return arrays.take(features.phi, rows, axis=0)
    which = bunches.events_of(rows)
    if not arrays.threaded:
        return arrays.cast(whitened.phi(whitened.columns(events[which])), features.dtype)
    phi = np.empty((len(which), whitened.basis.rank), dtype=features.dtype)

    def fill(part: slice) -> None:
        phi[part] = whitened.phi(whitened.columns(events[which[part]]))

    for_rows(len(which), _ROWS, fill)
    return phi
