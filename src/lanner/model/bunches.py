"""Rows of a pool that are sums over events: toys take events in bunches, so that they cost less.

The score needs of an event nothing but its part in a sum. So the events of a large reference are dealt at random into
bunches of equal size, whose features are summed once; a toy takes whole bunches, and single events for what is left
over. Each toy is, as before, a random subset of the reference: which events share a bunch is random too. What toys
have in common is the dealing, which shifts the mean of their statistic by about sqrt(2 / bunches) of its spread, a
hundredth where there are `MANY` bunches.

The data are one row, the sum of all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanner.typing import Array

MANY = 20_000  # bunches, if there are events enough
_LEAST_TAKEN = 50  # bunches of a toy's data
_SINGLES = 20  # single events, in units of a bunch


def bunch_size(events: int, taken: float) -> int:
    """How many events to take together of so many, of which a toy takes some.

    >>> bunch_size(30_000, 1500), bunch_size(500_000, 20_000), bunch_size(10**7, 2000)
    (1, 25, 40)
    """
    return max(1, min(events // MANY, int(taken / _LEAST_TAKEN)))


@dataclass(frozen=True, eq=False)
class Bunches:
    """Which events each row of a pool is the sum of."""

    events: NDArray[np.intp]  # those of one row after those of another
    starts: NDArray[np.intp]  # where each row's events begin, and the end of the last
    inside: NDArray[np.bool_]  # whether a row's events are among those that are the reference where nobody takes them
    drawn: int  # the first rows, which toys take
    whole: int  # the first of these are bunches, the others single events
    weights: Array | None = None  # of each row, where all of them are single events
    toy_weights: Array | None = None  # what toys accept them by, where some of the weights are negative

    @classmethod
    def single(
        cls, reference: int, others: int, weights: Array | None = None, toy_weights: Array | None = None
    ) -> Bunches:
        """Every event a row of its own: those of the reference, weighted or not, and others."""
        rows = np.arange(reference + others)
        both = [None if w is None else np.concatenate([w, np.ones(others)]) for w in (weights, toy_weights)]
        return cls(rows, np.arange(len(rows) + 1), rows < reference, reference, reference, *both)

    @classmethod
    def dealt(cls, events: NDArray[np.intp], size: int) -> Bunches:
        """Events in random order as bunches of a size, the last ones as single events."""
        number = len(events) if size == 1 else len(events) // size - _SINGLES
        if number < 1:
            raise ValueError(f"{len(events)} events cannot be dealt into bunches of {size}")
        rest = len(events) - number * size
        starts = np.concatenate([np.arange(number + 1) * size, number * size + 1 + np.arange(rest)])
        rows = number + rest
        return cls(events, starts, np.ones(rows, dtype=bool), rows, number)

    @classmethod
    def kept(cls, sizes: NDArray[np.intp], inside: NDArray[np.bool_]) -> Bunches:
        """Rows whose sums are known and whose events are not asked for."""
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return cls(np.empty(0, dtype=np.intp), starts, inside, 0, 0)

    def with_singles(self, events: NDArray[np.intp]) -> Bunches:
        """Further events that toys take one by one, before any rows that no toy takes."""
        if self.drawn < len(self):
            raise ValueError("rows that no toy takes come last")
        return replace(self.with_rows(list(events[:, None]), inside=True), drawn=self.drawn + len(events))

    def with_rows(self, rows: Sequence[NDArray[np.intp]], *, inside: bool) -> Bunches:
        """Further rows, which no toy takes."""
        if not rows:
            return self
        ends = self.starts[-1] + np.cumsum([len(row) for row in rows])
        return Bunches(
            np.concatenate([self.events, *rows]),
            np.concatenate([self.starts, ends]),
            np.concatenate([self.inside, np.full(len(rows), inside)]),
            self.drawn,
            self.whole,
            self.weights,
            self.toy_weights,
        )

    def within(self, kept: NDArray[np.bool_]) -> tuple[Bunches, NDArray[np.intp]]:
        """The rows with some of the events alone, which are numbered anew, and which row each has become.

        Rows of which nothing is left are no rows any more: -1. Those that toys take come in falling order of their
        sizes, so that rows of equal size are neighbours.
        """
        rows, chosen = np.repeat(np.arange(len(self)), self.sizes), kept[self.events]
        sizes = np.bincount(rows[chosen], minlength=len(self))
        order = np.concatenate([np.argsort(-sizes[: self.drawn], kind="stable"), np.arange(self.drawn, len(self))])
        order = order[sizes[order] > 0]
        place = np.full(len(self), -1, dtype=np.intp)
        place[order] = np.arange(len(order))
        events = self.events[chosen][np.argsort(place[rows[chosen]], kind="stable")]
        drawn = int(np.count_nonzero(sizes[: self.drawn]))
        found = Bunches(
            (np.cumsum(kept) - 1)[events],
            np.concatenate([[0], np.cumsum(sizes[order])]),
            self.inside[order],
            drawn,
            drawn,
            *(None if w is None else w[order] for w in (self.weights, self.toy_weights)),
        )
        return found, place

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def size(self) -> int:
        """Events of a bunch, of the largest if they differ."""
        return int(self.starts[1])

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """The events of each row."""
        return np.diff(self.starts)

    @property
    def are_events(self) -> bool:
        """Whether every row is an event, in the order of the pool."""
        return self.starts[-1] == len(self) and bool((self.events == np.arange(len(self))).all())

    @cached_property
    def mass(self) -> Array:
        """What each row weighs as a part of the reference."""
        return np.asarray(self.sizes if self.weights is None else self.weights, dtype=np.float64)

    @cached_property
    def events_a_weight(self) -> float:
        """How many events without weights a unit of weight of the reference is worth, whatever the unit."""
        w = self.mass[: self.drawn]
        return 1.0 if self.weights is None else float(w.sum() / (w @ w))

    @property
    def density(self) -> Array | None:
        """Weights of the same density, of which none is negative; None where events have no weights."""
        return self.weights if self.toy_weights is None else self.toy_weights

    @cached_property
    def total(self) -> int:
        """The events that toys take from."""
        return int(self.starts[self.drawn])

    def events_of(self, rows: Iterable[int]) -> NDArray[np.intp]:
        """The events of some rows, those of one after those of another."""
        return np.concatenate([self.events[self.starts[row] : self.starts[row + 1]] for row in rows])

    def places_of(self, events: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where some events that toys may take stand among those of all rows."""
        place = np.empty(int(self.events.max()) + 1, dtype=np.intp)
        place[self.events[: self.total]] = np.arange(self.total)
        return place[events]

    def rows_of(self, events: NDArray[np.intp]) -> NDArray[np.intp]:
        """The rows of some events that toys may take."""
        return np.searchsorted(self.starts, self.places_of(events), side="right") - 1

    def take(
        self, rng: np.random.Generator, rows: NDArray[np.intp], number: int, further: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Of some rows, in rising order, those that hold so many events, and others that hold so many further ones."""
        first_single = int(np.searchsorted(rows, self.whole))
        whole, single = rows[:first_single], rows[first_single:]
        (a, b), (c, d) = divmod(number, self.size), divmod(further, self.size)
        bunches = whole[rng.choice(len(whole), a + c, replace=False)]
        if b + d == 0:
            return bunches[:a], bunches[a:]
        singles = single[rng.choice(len(single), b + d, replace=False)]
        return np.concatenate([bunches[:a], singles[:b]]), np.concatenate([bunches[a:], singles[b:]])
