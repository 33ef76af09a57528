"""What some draws take from the rows of a pool, as matrices: made once for all widths.

With T the sum of the features over all of the reference and a0 = N(0) / (its mass less that of the rows taken),

    u = sum_{data} phi - a0 (T - sum_{data inside the reference} phi - sum_{left out} phi)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lanner.model.bunches import Bunches
from lanner.model.weightings import Draw
from lanner.typing import Array


@dataclass(frozen=True, eq=False)
class Taken:
    """The rows that draws take, those of one draw after those of another, first its data, then what it leaves out."""

    pool: int  # rows of the pool
    rows: NDArray[np.intp]
    ends: NDArray[np.intp]  # where each draw's rows begin, and the end of the last
    is_data: NDArray[np.bool_]
    entries: Array  # what the features of each row are multiplied by in u + a0 T
    scale: Array  # a0 of each draw
    splits: tuple[int | None, ...]  # whose moments judge each draw
    inside: Array  # data of each draw that were taken from the reference, in units of N(0)

    @classmethod
    def of(cls, bunches: Bunches, draws: Sequence[Draw], *, expected: float, mass: float) -> Taken:
        """Of draws of one pool, whose reference weighs so much."""
        lengths = np.array([(len(d.data), len(d.left_out)) for d in draws])
        rows = np.concatenate([x for d in draws for x in (d.data, d.left_out)])
        ends = np.concatenate([[0], np.cumsum(lengths.sum(axis=1))])
        is_data = np.repeat(np.tile([True, False], len(draws)), lengths.ravel())
        inside = bunches.inside[rows]
        scale = expected / (mass - _sums(np.where(inside, bunches.mass[rows], 0.0), ends))
        if draws and draws[0].scale is not None:  # these rows are a part of those that toys are drawn from
            scale = np.array([d.scale for d in draws])
        # The features of a bunch are a sum already; single events may have weights.
        entries = inside * np.repeat(scale, lengths.sum(axis=1))
        if bunches.weights is not None:
            entries *= bunches.weights[rows]
        entries += is_data
        own = _sums(np.where(is_data & inside, bunches.mass[rows], 0.0), ends) * bunches.events_a_weight / expected
        return cls(len(bunches), rows, ends, is_data, entries, scale, tuple(d.split for d in draws), own)

    def __len__(self) -> int:
        return len(self.scale)

    def part(self, draws: slice, dtype: np.dtype[np.floating]) -> sparse.csr_array:
        """The matrix of some draws, a row each, whose product with the features is u + a0 T."""
        ends = self.ends[draws.start : draws.stop + 1]
        span = slice(ends[0], ends[-1])
        entries = self.entries[span].astype(dtype)
        return sparse.csr_array((entries, self.rows[span], ends - ends[0]), shape=(len(ends) - 1, self.pool))

    @cached_property
    def data(self) -> sparse.csr_array:
        """Which rows are data of which draw."""
        ends = np.concatenate([[0], np.cumsum(_sums(self.is_data.astype(np.float64), self.ends))]).astype(np.intp)
        rows = self.rows[self.is_data]
        return sparse.csr_array((np.ones(len(rows)), rows, ends), shape=(len(self), self.pool))

    def among(self, rows: NDArray[np.intp]) -> Array:
        """Whether each of some rows is data of a draw, (rows, draws)."""
        data, found = self.data, np.empty((len(self), len(rows)))
        taken = np.zeros(self.pool)
        for k in range(len(self)):
            mine = data.indices[data.indptr[k] : data.indptr[k + 1]]
            taken[mine] = 1.0
            np.take(taken, rows, out=found[k])
            taken[mine] = 0.0
        return found.T


def _sums(values: Array, ends: NDArray[np.intp]) -> Array:
    """Sums of stretches of values."""
    return np.diff(np.concatenate([[0.0], np.cumsum(values)])[ends])
