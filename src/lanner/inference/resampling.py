"""Null toys and the data's own fits as weightings of one pool: who is data, who is reference.

Rows of the pool are events, or bunches of them (`model/bunches.py`), of which a toy takes whole ones.

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
from lanner.model.bunches import Bunches
from lanner.model.splits import Splits
from lanner.model.weightings import Draw

# Room that the reference keeps for a toy's data, in standard deviations of its Poisson number: never exceeded.
_ROOM = 8.0
DATA_DRAWS = 5  # subsamples of the reference with which the data are judged


class Scheme(Protocol):
    """How the events of a pool (the reference's, then the data's) become toys and the data's fits."""

    def toy(self, i: int) -> Draw:
        """What toy i takes."""

    def data(self, draw: int) -> Draw:
        """What the data's fit takes, with one of several draws of the reference."""


def room_for_data(expected: float, fixed: int | None, error: float = 0.0) -> int:
    """How many events a reference must spare for a toy's data: `fixed`, or Poisson(expected) at its largest.

    `error` is that of the number expected.
    """
    return fixed if fixed is not None else int(np.ceil(expected + _ROOM * (expected + error**2) ** 0.5 + _ROOM))


def draw_size(expected: float, fixed: int | None, rng: np.random.Generator, error: float = 0.0) -> int:
    """The number of a toy's data events: `fixed`, or Poisson(expected), which is itself known to an error only."""
    if fixed is not None:
        return fixed
    if error > 0:
        # Within the room that is made, and never below 0.
        expected = float(np.clip(expected + error * rng.standard_normal(), 0.0, expected + _ROOM / 2 * error))
    return int(rng.poisson(expected))


@dataclass(frozen=True, eq=False)
class ReferenceScheme:
    """The paper's null: a toy's data are reference events, Poisson(expected) of them, or `fixed` for shape only."""

    bunches: Bunches  # what the pool's rows are: the reference, then the data
    expected: float
    fixed: int | None
    reference_size: int  # N0 of every fit
    held_out: NDArray[np.intp]  # rows of candidate centres, which are never a toy's data
    seed: int
    data_rows: NDArray[np.intp]  # all that is beside the reference: the data, or signals
    left_out_rows: NDArray[np.intp] | None = None  # what each of the data's draws leaves out, where that is one row
    splits: Splits | None = None  # of the reference, where toys are judged by its moments
    expected_error: float = 0.0  # of the number expected

    def toy(self, i: int) -> Draw:  # noqa: D102
        rng = rng_of(self.seed, Stream.TOYS, i)
        size = draw_size(self.expected, self.fixed, rng, self.expected_error)
        split, rows = self._split(i)
        # Only those rows are drawn that a toy does not leave where they are.
        if self._leaves_little:
            return self._draw(*self.bunches.take(rng, rows, size, self._spare(size)), split)
        data, _ = self.bunches.take(rng, rows, size, 0)
        others = np.setdiff1d(self._free, data, assume_unique=True)
        return self._draw(data, self.bunches.take(rng, others, 0, self._spare(size))[1], split)

    def data(self, draw: int) -> Draw:  # noqa: D102
        if self.left_out_rows is not None:
            return self._draw(self.data_rows, one_of(self.left_out_rows, draw))
        rng = rng_of(self.seed, Stream.DATA, draw)
        _, left_out = self.bunches.take(rng, self._free, 0, self._spare(0))
        return self._draw(self.data_rows, left_out)

    def with_signal(self, i: int, mean: float, *, alone: bool, rows: range | None = None) -> Draw:
        """A null toy with Poisson(mean) signal events among its data, or as its data.

        The signal's events are all that are beside the reference, or some of them.
        """
        among = self.data_rows
        if rows is not None:  # of the events, of which the reference's come first
            among = among[rows.start - self.bunches.total : rows.stop - self.bunches.total]
        # These toys lie far beyond any number of null toys, so that the two never share one.
        strength = 1 + round(1000 * mean)
        toy = self.toy(10**9 * strength + i)
        rng = rng_of(self.seed, Stream.POWER, strength, i)
        number = min(int(rng.poisson(mean)), len(among))
        signal = among[rng.choice(len(among), number, replace=False)]
        if alone:
            return replace(toy, data=signal, left_out=np.concatenate([toy.left_out, toy.data]))
        return replace(toy, data=np.concatenate([toy.data, signal]))

    @cached_property
    def _free(self) -> NDArray[np.intp]:
        free = np.ones(self.bunches.drawn, dtype=bool)
        free[self.held_out] = False
        return np.flatnonzero(free)

    @cached_property
    def _leaves_little(self) -> bool:
        """Whether what a toy leaves out can come from where its data come from: unless its reference is made small."""
        if self.splits is None:
            return True
        room = self.bunches.total - self.reference_size
        halves = [int(self.bunches.sizes[self.splits.free(k)].sum()) for k in range(self.splits.number)]
        return room <= min(halves) / 2

    def _split(self, i: int) -> tuple[int | None, NDArray[np.intp]]:
        """The split that judges toy i, and the rows from which its data come."""
        if self.splits is None:
            return None, self._free
        split = i % self.splits.number
        return split, self.splits.free(split)

    def _spare(self, size: int) -> int:
        """How many free events are neither the data, `size` of them, nor the reference."""
        spare = self.bunches.total - size - self.reference_size
        if self.reference_size < len(self.held_out) or spare < 0:
            raise InputError(
                f"a toy of {size} data and {self.reference_size} reference events with {len(self.held_out)} centres "
                f"does not fit into a reference of {self.bunches.total}; use a smaller reference_size"
            )
        return spare

    def _draw(self, data: NDArray[np.intp], left_out: NDArray[np.intp], split: int | None = None) -> Draw:
        return Draw(len(self.bunches), self.bunches.drawn, data, left_out, split, self.bunches.sizes)


@dataclass(frozen=True, eq=False)
class WeightedReferenceScheme(ReferenceScheme):
    """The same for a weighted reference: toy data must be unweighted, so they are drawn by hit-or-miss.

    Each toy splits the reference at random. From `n_hit_or_miss` events of one part its data are accepted with
    probability w / w_max; the other part keeps its weights and is the toy's reference. Where weights are of either
    sign, w is their local mean.
    """

    weights: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    n_hit_or_miss: int = 0

    def toy(self, i: int) -> Draw:  # noqa: D102
        rng = rng_of(self.seed, Stream.TOYS, i)
        size = draw_size(self.expected, self.fixed, rng, self.expected_error)
        split, rows = self._split(i)
        tried = rng.choice(rows, min(self.n_hit_or_miss, len(rows)), replace=False)
        hit = rng.random(len(tried)) < self.weights[tried] / self.weights.max()
        hit &= np.cumsum(hit) <= size
        if np.count_nonzero(hit) < size:
            raise InputError(
                f"hit-or-miss accepted {np.count_nonzero(hit)} of {len(tried)} weighted events where toy {i} needs "
                f"{size}; use a larger reference, or a generator (null='generator')"
            )
        left_out = [tried[~hit]]
        if spare := self._spare(len(tried)):
            is_tried = np.zeros(self.bunches.drawn, dtype=bool)
            is_tried[tried] = True
            others = self._free[~is_tried[self._free]]
            left_out.append(rng.choice(others, spare, replace=False))
        return self._draw(tried[hit], np.concatenate(left_out), split)


@dataclass(frozen=True, eq=False)
class PermutationScheme:
    """Reference and data pooled and relabelled: exact if the two are exchangeable.

    A toy has `fixed` data events, as the data have; or Poisson(expected) of them, and then the reference keeps some
    events out of every fit, so that all have equally many.
    """

    bunches: Bunches  # what the pool's rows are: reference and data together
    expected: float
    fixed: int | None
    reference_size: int
    seed: int
    data_rows: NDArray[np.intp]
    left_out_rows: NDArray[np.intp] | None = None  # what each of the data's draws leaves out, where that is one row

    def toy(self, i: int) -> Draw:  # noqa: D102
        rng = rng_of(self.seed, Stream.TOYS, i)
        events = self.bunches.total
        size = draw_size(self.expected, self.fixed, rng)
        spare = events - size - self.reference_size
        if spare < 0:
            raise InputError(
                f"toy {i} of {size} data and {self.reference_size} reference events does not fit into the {events} "
                "events of reference and data; test the shape alone (expected=None)"
            )
        return self._draw(*self.bunches.take(rng, np.arange(self.bunches.drawn), size, spare))

    def data(self, draw: int) -> Draw:  # noqa: D102
        if self.left_out_rows is not None:
            return self._draw(self.data_rows, one_of(self.left_out_rows, draw))
        reference = self.bunches.total - len(self.data_rows)
        return self._draw(self.data_rows, left_out_of_data(self.seed, draw, reference, reference - self.reference_size))

    def _draw(self, data: NDArray[np.intp], left_out: NDArray[np.intp]) -> Draw:
        return Draw(len(self.bunches), self.bunches.drawn, data, left_out, None, self.bunches.sizes)


def one_of(left_out_rows: NDArray[np.intp], draw: int) -> NDArray[np.intp]:
    """The row that one of the data's draws leaves out; none where none leaves out anything."""
    return left_out_rows[[draw]] if len(left_out_rows) else left_out_rows


def left_out_of_data(seed: int, draw: int, reference: int, number: int) -> NDArray[np.intp]:
    """The reference events that one of the data's fits leaves out, so that it has as many as a toy's."""
    return rng_of(seed, Stream.DATA, draw).choice(reference, number, replace=False)
