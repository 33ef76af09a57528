"""The sums of `model/summing.py` over a reference that is left in its files: each part by itself, then all added up.

A part's work is sent to where the part is read: the basis, and for each of its events the row of the pool that it
belongs to. What comes back are sums of features by bunch: kernel values are summed in double precision and whitened on
the small side, and the features that are left have the precision in which they are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events.scaled_rows import ScaledRows
from lanner.events.scaling import Scaling
from lanner.events.spread import SpreadTable
from lanner.model.backend import Arrays, arrays_on
from lanner.model.bunches import Bunches
from lanner.model.features import PRECISIONS, Features, StoredFeatures
from lanner.model.moments import Moments, MomentSums
from lanner.model.nystrom import Basis
from lanner.model.parallel import blocks
from lanner.model.residuals import Residuals, ResidualSums
from lanner.model.splits import NEVER, Splits
from lanner.model.summing import Whitened, moment_labels, reach_columns, summed
from lanner.typing import Array

_ROWS = 1024  # events of a block of kernel values
_MOMENT_ROWS = 4096


@dataclass(frozen=True, eq=False)
class PartSums:
    """What a part of the reference, or several merged, adds to the sums of a pool."""

    bunches: Array  # (whole, r): features summed by bunch
    singles: NDArray[np.intp]  # rows that are single events
    single_values: Array  # their features
    left_out: Array  # (rows, r): kernel values of what the data's draws leave out
    residuals: Array  # (drawn,): by row
    null: ResidualSums
    moments: dict[int, tuple[Array, Array, float]]  # sums of phi and phi phi^T by label, and of how many events


def merged(a: PartSums, b: PartSums) -> PartSums:
    """Of two parts together."""
    moments = dict(a.moments)
    for label, more in b.moments.items():
        own = moments.get(label)
        moments[label] = more if own is None else (own[0] + more[0], own[1] + more[1], own[2] + more[2])
    return PartSums(
        a.bunches + b.bunches,
        np.concatenate([a.singles, b.singles]),
        np.concatenate([a.single_values, b.single_values]),
        a.left_out + b.left_out,
        a.residuals + b.residuals,
        a.null + b.null,
        moments,
    )


@dataclass(frozen=True, eq=False)
class PartWork:
    """What is done with the events of one part: all that is needed for it, to be sent."""

    basis: Basis
    units: Scaling
    columns: int  # of the features, by which residuals are judged
    precision: str
    device: str
    whole: int  # rows that are bunches; the next ones, up to the length of `labels`, are single events
    labels: NDArray[np.int8]  # to which moments the events of each row belong
    rows: NDArray[np.int32]  # of each event of the part
    left_out: tuple[NDArray[np.intp], ...]  # events of the part that each of the data's draws leaves out
    pivots: NDArray[np.intp]  # events of the part that are pivots
    of_pivots: Array  # what of each of these the others cannot represent

    def __call__(self, features: Array) -> PartSums:
        """The sums over the part's events, block by block in the order of the rows."""
        arrays, dtype = arrays_on(self.device), PRECISIONS[self.precision]
        whitened = Whitened.of(self.basis, arrays)
        r, order = self.basis.rank, np.argsort(self.rows, kind="stable")
        is_pivot = np.full(len(features), -1)
        is_pivot[self.pivots] = np.arange(len(self.pivots))
        sums, by_row = np.zeros((self.whole, r)), np.zeros(len(self.labels))
        null, singles, values = ResidualSums(0.0, 0.0, 0.0, 0.0), [], []
        gathered = _Gathered(whitened, dtype)
        for block in blocks(len(features), _ROWS):
            events = order[block]
            rows = self.rows[events]
            k = whitened.columns(self.units.apply(features[events]))
            g = whitened.residuals(k, self.columns)
            own = is_pivot[events]
            g[own >= 0] = self.of_pivots[own[own >= 0]]
            np.add.at(by_row, rows, g)
            null += ResidualSums.of(g)
            host = arrays.get(k)
            first_single = int(np.searchsorted(rows, self.whole))
            if first_single:
                starts = np.flatnonzero(np.diff(rows[:first_single], prepend=-1))
                sums[rows[starts]] += np.add.reduceat(host[:first_single], starts)
            if first_single < len(rows):
                singles.append(rows[first_single:].astype(np.intp))
                values.append(arrays.get(arrays.cast(whitened.phi(k[first_single:]), dtype)))
            gathered.add(host, self.labels[rows])
        left_out = np.zeros((len(self.left_out), r))
        for i, which in enumerate(self.left_out):
            for block in blocks(len(which), _ROWS):
                left_out[i] += arrays.get(whitened.columns(self.units.apply(features[which[block]]))).sum(axis=0)
        return PartSums(
            _whitened(sums, whitened, dtype),
            np.concatenate(singles) if singles else np.empty(0, dtype=np.intp),
            np.concatenate(values) if values else np.empty((0, r), dtype=dtype),
            left_out,
            by_row,
            null,
            gathered.moments(),
        )


def _whitened(sums: Array, whitened: Whitened, dtype: np.dtype[np.floating]) -> Array:
    """The features that sums of kernel values are."""
    phi, arrays = np.empty(sums.shape, dtype=dtype), whitened.arrays
    for part in blocks(len(sums), _MOMENT_ROWS):
        phi[part] = arrays.get(whitened.phi(arrays.put(sums[part])))
    return np.asarray(phi)


class _Gathered:
    """Kernel values of the events that give moments, by label, summed when there are enough for a large product."""

    def __init__(self, whitened: Whitened, dtype: np.dtype[np.floating]) -> None:
        self._whitened, self._dtype = whitened, dtype
        self._waiting: dict[int, list[Array]] = {}
        self._sums: dict[int, tuple[MomentSums, int]] = {}

    def add(self, k: Array, labels: NDArray[np.int8]) -> None:
        for label in set(labels.tolist()) - {NEVER}:
            waiting = self._waiting.setdefault(label, [])
            waiting.append(k[labels == label])
            if sum(map(len, waiting)) >= _MOMENT_ROWS:
                self._sum_up(label)

    def _sum_up(self, label: int) -> None:
        arrays, k = self._whitened.arrays, np.concatenate(self._waiting.pop(label))
        rank = self._whitened.basis.rank
        sums, number = self._sums.setdefault(label, (MomentSums(rank, arrays, self._dtype), 0))
        sums.add(arrays.cast(self._whitened.phi(arrays.put(k)), self._dtype), None)
        self._sums[label] = sums, number + len(k)

    def moments(self) -> dict[int, tuple[Array, Array, float]]:
        """The sums, and of how many events they are."""
        for label in list(self._waiting):
            self._sum_up(label)
        return {label: (*sums.host(), float(number)) for label, (sums, number) in self._sums.items()}


@dataclass(frozen=True, eq=False)
class Summed:
    """What a pool needs of all its events."""

    features: Features
    residuals: Residuals
    moments: list[Moments]


def summed_where_they_are(
    events: ScaledRows,
    basis: Basis,
    bunches: Bunches,
    *,
    splits: Splits | None,
    pivots: NDArray[np.intp] | None,
    precision: str,
    others: int,
    arrays: Arrays,
    told: Callable[[float], None] | None = None,
) -> Summed:
    """Features by row, residuals and moments of a spread reference, and of the events beside it, which are here."""
    if bunches.weights is not None or bunches.are_events:
        raise InputError(
            "a reference that is left in its files is for the score of very many events without weights: this one has "
            "too few for that; read it into memory"
        )
    table = events.spread
    assert table is not None
    columns = reach_columns(bunches.total, basis.rank)
    pivots = np.empty(0, dtype=np.intp) if pivots is None else pivots
    dtype, whitened = PRECISIONS[precision], Whitened.of(basis, arrays)
    works = _works(table, events.scaling, basis, bunches, splits, pivots, columns, precision, arrays.place)
    found = table.mapper.reduced(table.source, works, merged, told)
    phi = np.empty((len(bunches), basis.rank), dtype=dtype)
    left_out = slice(bunches.drawn, bunches.drawn + len(found.left_out))
    phi[: bunches.whole] = found.bunches
    phi[found.singles] = found.single_values
    phi[left_out] = arrays.get(whitened.phi(arrays.put(found.left_out)))
    by_row = np.zeros(len(bunches))
    by_row[: bunches.drawn] = found.residuals
    of_data = np.empty(0)
    for row in range(left_out.stop, len(bunches)):  # the data, or signals
        which = bunches.events_of([row])
        total, g = summed(events, whitened, which, columns)
        phi[row], by_row[row], of_data = total, g.sum(), np.concatenate([of_data, g])
    assert len(of_data) == others
    sums = {label: (first, second) for label, (first, second, _) in found.moments.items()}
    totals = {label: number for label, (_, _, number) in found.moments.items()}
    return Summed(
        StoredFeatures(basis, arrays.put(phi, dtype), dtype, arrays),
        Residuals(by_row, of_data, found.null),
        Moments.joined(sums, totals, splits),
    )


def _works(
    table: SpreadTable,
    units: Scaling,
    basis: Basis,
    bunches: Bunches,
    splits: Splits | None,
    pivots: NDArray[np.intp],
    columns: int,
    precision: str,
    device: str,
) -> list[PartWork]:
    """The work of each part."""
    row_of = np.empty(len(table), dtype=np.int32)
    row_of[bunches.events[: bunches.total]] = np.repeat(
        np.arange(bunches.drawn, dtype=np.int32), bunches.sizes[: bunches.drawn]
    )
    labels = moment_labels(bunches, splits, basis.rank)
    of_pivots = basis.residuals_of_pivots(columns) if len(pivots) else np.empty(0)
    left_out = [bunches.events_of([row]) for row in range(bunches.drawn, len(bunches)) if bunches.inside[row]]

    def within(which: NDArray[np.intp], part: slice) -> NDArray[np.bool_]:
        return np.asarray((which >= part.start) & (which < part.stop))

    works = []
    for part in table.parts():
        mine = within(pivots, part)
        works.append(
            PartWork(
                basis,
                units,
                columns,
                precision,
                device,
                bunches.whole,
                labels,
                row_of[part],
                tuple(which[within(which, part)] - part.start for which in left_out),
                pivots[mine] - part.start,
                of_pivots[mine],
            )
        )
    return works
