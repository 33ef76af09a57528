"""Null toys and the data's own fits as weightings of one pool: who is data, who is reference.

Toys and data are fitted by exactly the same procedure. Every fit uses the same number of reference events, drawn anew.
A toy's data and its reference never share an event; the candidate centres are reference in every fit, the data's
included (a centre among a fit's own data would follow its fluctuations, and barring only some of them would
make toys and data differ), or count as if they were none. Where the score is judged by moments of the reference, a
toy's data come from events that have no part in the moments which judge it (`model/splits.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.inference.seeds import Stream, rng_of
from lanner.model.splits import Splits
from lanner.model.weightings import Draw

# Room that the reference keeps for a toy's data, in standard deviations of its Poisson number: never exceeded.
_ROOM = 8.0


class Scheme(Protocol):
    """How the events of a pool (the reference's, then the data's) become toys and the data's fits."""

    def toy(self, i: int) -> Draw:
        """What toy i takes."""

    def data(self, draw: int) -> Draw:
        """What the data's fit takes, with one of several draws of the reference."""


def room_for_data(expected: float, fixed: int | None) -> int:
    """How many events a reference must spare for a toy's data: `fixed`, or Poisson(expected) at its largest."""
    return fixed if fixed is not None else int(np.ceil(expected + _ROOM * expected**0.5 + _ROOM))


def draw_size(expected: float, fixed: int | None, rng: np.random.Generator) -> int:
    """The number of a toy's data events: `fixed`, or Poisson(expected)."""
    return int(rng.poisson(expected)) if fixed is None else fixed


@dataclass(frozen=True, eq=False)
class ReferenceScheme:
    """The paper's null: a toy's data are reference events, Poisson(expected) of them, or `fixed` for shape only."""

    reference: int  # R, rows of the reference, which come first in the pool
    data_size: int  # rows of the data, which follow
    expected: float
    fixed: int | None
    reference_size: int  # N0 of every fit
    held_out: NDArray[np.intp]  # candidate centres, which are never a toy's data
    seed: int
    splits: Splits | None = None  # of the reference, where toys are judged by its moments

    def toy(self, i: int) -> Draw:  # noqa: D102
        rng = rng_of(self.seed, Stream.TOYS, i)
        size = draw_size(self.expected, self.fixed, rng)
        spare = self._spare(size)
        if self.splits is None:
            # Of the free events only those are drawn that a toy does not leave where they are.
            drawn = self._free[rng.choice(len(self._free), size + spare, replace=False)]
            return self._draw(drawn[:size], drawn[size:])
        split = i % self.splits.number
        source = self.splits.free(split)
        data = source[rng.choice(len(source), size, replace=False)]
        return self._draw(data, self._others(data, spare, rng), split)

    def data(self, draw: int) -> Draw:  # noqa: D102
        rng = rng_of(self.seed, Stream.DATA, draw)
        rows = np.arange(self.reference, self.reference + self.data_size)
        left_out = self._free[rng.choice(len(self._free), self._spare(0), replace=False)]
        return self._draw(rows, left_out)

    def with_signal(self, i: int, mean: float, *, alone: bool, rows: range | None = None) -> Draw:
        """A null toy with Poisson(mean) signal events among its data, or as its data.

        The signal's rows of the pool are all that follow the reference, or some of them.
        """
        if rows is None:
            rows = range(self.reference, self.reference + self.data_size)
        # These toys lie far beyond any number of null toys, so that the two never share one.
        strength = 1 + round(1000 * mean)
        toy = self.toy(10**9 * strength + i)
        rng = rng_of(self.seed, Stream.POWER, strength, i)
        number = min(int(rng.poisson(mean)), len(rows))
        signal = rows.start + rng.choice(len(rows), number, replace=False)
        if alone:
            return replace(toy, data=signal, left_out=np.concatenate([toy.left_out, toy.data]))
        return replace(toy, data=np.concatenate([toy.data, signal]))

    @cached_property
    def _free(self) -> NDArray[np.intp]:
        free = np.ones(self.reference, dtype=bool)
        free[self.held_out] = False
        return np.flatnonzero(free)

    def _spare(self, size: int) -> int:
        """How many free events are neither the data, `size` of them, nor the reference."""
        needed = self.reference_size - len(self.held_out)
        spare = len(self._free) - size - needed
        if needed < 0 or spare < 0:
            raise InputError(
                f"a toy of {size} data and {self.reference_size} reference events with {len(self.held_out)} centres "
                f"does not fit into a reference of {self.reference}; use a smaller reference_size"
            )
        return spare

    def _others(self, taken: NDArray[np.intp], number: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """So many of the free events, none of them taken already."""
        drawn = self._free[rng.choice(len(self._free), number + len(taken), replace=False)]
        return drawn[np.isin(drawn, taken, assume_unique=True, invert=True)][:number]

    def _draw(self, data: NDArray[np.intp], left_out: NDArray[np.intp], split: int | None = None) -> Draw:
        return Draw(self.reference + self.data_size, self.reference, data, left_out, split)


@dataclass(frozen=True, eq=False)
class WeightedReferenceScheme(ReferenceScheme):
    """The same for a weighted reference: toy data must be unweighted, so they are drawn by hit-or-miss.

    Each toy splits the reference at random. From `n_hit_or_miss` events of one part its data are accepted with
    probability w / w_max; the other part keeps its weights and is the toy's reference.
    """

    weights: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    n_hit_or_miss: int = 0

    def toy(self, i: int) -> Draw:  # noqa: D102
        rng = rng_of(self.seed, Stream.TOYS, i)
        size = draw_size(self.expected, self.fixed, rng)
        split = None if self.splits is None else i % self.splits.number
        if self.splits is None or split is None:
            rows = rng.permutation(self._free)
            tried, others = rows[: self.n_hit_or_miss], rows[self.n_hit_or_miss :]
        else:
            tried = rng.permutation(self.splits.free(split))[: self.n_hit_or_miss]
            others = self._others(tried, len(self._free) - len(tried), rng)
        hit = rng.random(len(tried)) < self.weights[tried] / self.weights.max()
        hit &= np.cumsum(hit) <= size
        if np.count_nonzero(hit) < size:
            raise InputError(
                f"hit-or-miss accepted {np.count_nonzero(hit)} of {len(tried)} weighted events where toy {i} needs "
                f"{size}; use a larger reference, or a generator (null='generator')"
            )
        needed = self.reference_size - len(self.held_out)
        self._spare(len(tried))
        return self._draw(tried[hit], np.concatenate([tried[~hit], others[needed:]]), split)


@dataclass(frozen=True, eq=False)
class PermutationScheme:
    """Reference and data pooled and relabelled: exact if the two are exchangeable.

    A toy has `fixed` data events, as the data have; or Poisson(expected) of them, and then the reference keeps some
    events out of every fit, so that all have equally many.
    """

    reference: int
    data_size: int
    expected: float
    fixed: int | None
    reference_size: int
    seed: int

    def toy(self, i: int) -> Draw:  # noqa: D102
        rng = rng_of(self.seed, Stream.TOYS, i)
        rows = self.reference + self.data_size
        size = draw_size(self.expected, self.fixed, rng)
        spare = rows - size - self.reference_size
        if spare < 0:
            raise InputError(
                f"toy {i} of {size} data and {self.reference_size} reference events does not fit into the {rows} events"
                " of reference and data; test the shape alone (expected=None)"
            )
        drawn = rng.choice(rows, size + spare, replace=False)
        return self._draw(drawn[:size], drawn[size:])

    def data(self, draw: int) -> Draw:  # noqa: D102
        rng = rng_of(self.seed, Stream.DATA, draw)
        left_out = rng.choice(self.reference, self.reference - self.reference_size, replace=False)
        return self._draw(np.arange(self.reference, self.reference + self.data_size), left_out)

    def _draw(self, data: NDArray[np.intp], left_out: NDArray[np.intp]) -> Draw:
        rows = self.reference + self.data_size
        return Draw(rows, rows, data, left_out)
