"""Sums over a reference at nuisance parameters nu^: what rows of a pool add to u, and the moments that judge it.

Written for `varied_pool`, which says what they are for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import blas_threads_for
from lanner.events.scaled_rows import ScaledRows
from lanner.model.backend import Values
from lanner.model.bunches import Bunches
from lanner.model.moments import Moments, MomentSums
from lanner.model.nystrom import Basis
from lanner.model.parallel import blocks, for_rows, sum_over_rows
from lanner.model.residuals import BEYOND, Residuals, ResidualSums
from lanner.model.splits import NEVER, Splits
from lanner.model.summing import Whitened, equal_rows, moment_labels, reach_columns, summed
from lanner.typing import Array
from lanner.uncertainties.toys import VariedReference

ROWS = 1024  # events of a block of kernel values, about
_MOMENT_ROWS = 4096


@dataclass(frozen=True, eq=False)
class EventFeatures:
    """What sums over events are made of: kernel values, whitened when they have been summed."""

    events: ScaledRows
    whitened: Whitened

    def values(self, which: NDArray[np.intp]) -> Values:
        """Of some events, (events, r)."""
        return self.whitened.columns(self.events[which])

    def phi(self, sums: Values) -> Values:
        """The features that sums of these values are, a row each."""
        return self.whitened.phi(sums)

    def residuals(self, values: Values, which: NDArray[np.intp], columns: int) -> Array:
        """What of each of some events the basis cannot represent."""
        return self.whitened.residuals(values, columns)


@dataclass(frozen=True, eq=False)
class StoredEventFeatures(EventFeatures):
    """The same with the features of the reference kept, for several data sets."""

    kept: NDArray[np.float32]  # (reference events, r)
    left_over: Array  # of each, by the columns that tell what is out of reach

    @classmethod
    def of(cls, events: ScaledRows, basis: Basis, reference: int) -> StoredEventFeatures:
        """Compute and keep them."""
        whitened, kept = Whitened.of(basis), np.empty((reference, basis.rank), dtype=np.float32)
        left_over, columns = np.empty(reference), reach_columns(reference, basis.rank)

        def fill(rows: slice) -> None:
            kept[rows] = whitened.phi(whitened.columns(events[rows]))
            left_over[rows] = whitened.left_over(kept[rows, :columns])

        for_rows(reference, ROWS, fill)
        return cls(events, whitened, kept, left_over)

    def values(self, which: NDArray[np.intp]) -> Values:  # noqa: D102
        return self.kept[which]

    def phi(self, sums: Values) -> Values:  # noqa: D102
        return sums

    def residuals(self, values: Values, which: NDArray[np.intp], columns: int) -> Array:  # noqa: D102
        return self.left_over[which]


@dataclass(frozen=True, eq=False)
class SummedAtNu:
    """Rows of features, Phi, and residuals."""

    phi: Array
    totals: Array
    residuals: Residuals


def summed_at_nu(
    varied: VariedReference,
    source: EventFeatures,
    bunches: Bunches,
    predicted: float,
    expected: float,
    columns: int,
    dtype: np.dtype[np.floating],
    pivots: NDArray[np.intp] | None,
    told: Callable[[float], None] | None,
) -> SummedAtNu:
    """Rows of features, Phi and residuals, by one pass over the events."""
    whitened, v = source.whitened, varied.varied
    basis, arrays = whitened.basis, whitened.arrays
    weight = float(varied.weights.sum())
    # What an average toy takes from the reference, in weight: hit-or-miss accepts a part of it.
    removed = predicted / varied.efficiency * float(varied.weights.mean())
    a0 = expected / (weight - removed) * (predicted / expected) / varied.growth
    phi = np.empty((len(bunches), basis.rank), dtype=dtype)
    by_row = np.zeros(len(bunches))
    as_if_none = np.full(len(v), np.nan)
    if pivots is not None:
        as_if_none[pivots] = basis.residuals_of_pivots(columns)
    totals, null, done = np.zeros((basis.rank, len(varied.monomials.exponents))), np.zeros(3), 0

    for first, end, size in equal_rows(bunches):
        last = min(end, bunches.drawn)
        if first >= last:
            break

        def block(rows: slice, first: int = first, size: int = size) -> tuple[Values, Values]:
            part = slice(first + rows.start, first + rows.stop)
            which = bunches.events[bunches.starts[part.start] : bunches.starts[part.stop]]
            k = source.values(which)
            g = source.residuals(k, which, columns)
            g = np.where(np.isnan(as_if_none[which]), g, as_if_none[which])
            by_row[part] = (g * varied.accepted[which]).reshape(-1, size).sum(axis=1)
            h = k * arrays.put(varied.accepted[which] + a0 * v[which])[:, None]
            h = arrays.xp.sum(arrays.xp.reshape(h, (part.stop - part.start, size, basis.rank)), axis=1)
            phi[part] = arrays.get(source.phi(h))
            sums = v[which] @ np.column_stack([g, g**2, g > BEYOND])
            return k.T @ arrays.put(varied.columns(which)), arrays.put(sums)

        found = sum_over_rows(last - first, max(1, ROWS // size), block, arrays)
        totals += arrays.get(found[0])
        null += arrays.get(found[1])
        done += (last - first) * size
        if told is not None:
            told(0.8 * done / bunches.total)
    of_data = np.empty(0)
    if int(bunches.starts[-1]) - bunches.total == len(bunches) - bunches.drawn:  # single events, maybe many
        for rows in blocks(len(bunches) - bunches.drawn, ROWS):
            part = slice(bunches.drawn + rows.start, bunches.drawn + rows.stop)
            k = whitened.columns(source.events[bunches.events[bunches.starts[part.start] : bunches.starts[part.stop]]])
            phi[part], by_row[part] = arrays.get(whitened.phi(k)), whitened.residuals(k, columns)
        of_data = by_row[bunches.drawn :].copy()
    else:
        for row in range(bunches.drawn, len(bunches)):
            total, of_data = summed(source.events, whitened, bunches.events_of([row]), columns)
            phi[row], by_row[row] = total, of_data.sum()
    number = float(len(v))
    sums_of_null = ResidualSums(number, *(float(x) * number / float(v.sum()) for x in null))
    totals = arrays.get(source.phi(arrays.put(totals.T)).T)
    return SummedAtNu(phi, totals, Residuals(by_row, of_data, sums_of_null))


def moments_at_nu(
    varied: VariedReference,
    source: EventFeatures,
    bunches: Bunches,
    splits: Splits | None,
    predicted: float,
    dtype: np.dtype[np.floating],
    *,
    shape_only: bool,
) -> tuple[list[Moments], list[Moments]]:
    """The moments of the features under v by each split, and those with the nuisances projected out."""
    arrays, r, k = source.whitened.arrays, source.whitened.basis.rank, len(varied.nu)
    labels = moment_labels(bunches, splits, r)
    sums, totals = {}, {}
    for label in sorted(set(labels.tolist()) - {NEVER}):
        rows = np.flatnonzero(labels == label)
        which = bunches.events_of(rows)
        found = MomentSums(r + k, arrays, np.dtype(dtype))
        with blas_threads_for(r):
            for part in blocks(len(which), _MOMENT_ROWS):
                some = which[part]
                phi = arrays.get(source.phi(source.values(some)))
                found.add(arrays.put(np.hstack([phi, varied.slopes[some]]), dtype), varied.varied[some])
        sums[label], totals[label] = found.host(), float(varied.varied[which].sum())
    plain, effective = [], []
    for both in Moments.joined(sums, totals, splits):
        mean, second = both.mean[:r], both.second[:r, :r]
        with_d, of_d = both.second[:r, r:], both.second[r:, r:]
        if shape_only:
            with_d = with_d - np.outer(mean, both.mean[r:])
            of_d = of_d - np.outer(both.mean[r:], both.mean[r:])
        known = np.linalg.solve(of_d + np.eye(k) / predicted, with_d.T)
        plain.append(Moments(mean, second))
        # Where the number of events counts, the law of the null has no use for the mean.
        effective.append(Moments(mean if shape_only else np.zeros(r), second - with_d @ known))
    return plain, effective
