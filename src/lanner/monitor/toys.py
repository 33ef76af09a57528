"""Toy batches of every size, and toy references, from one half of the reference: sums of sums.

A toy batch is drawn with replacement from the half of the reference that shapes no statistic, which plays the truth. A
toy of twice the size is the sum of two: sizes grow by factors of 2, and the largest toys cost no more than the
smallest. Each toy belongs to a world with a reference of its own, as large as the real one and drawn from the same
truth, so that the reference's fluctuation is in every p-value. Streams of toys share a world, as real batches share a
reference.

Means are those of the toys themselves: toys of 40 000 events know the mean of the events that they were made of better
than these know the mean of the reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lanner.inference.seeds import Stream, rng_of
from lanner.model.parallel import blocks
from lanner.monitor.width import WatchedWidth
from lanner.monitor.yardstick import Halves
from lanner.typing import Array

SMALLEST = 8  # events of the smallest toys
_ROWS = 4096
_CHUNK = 4096
_WORLDS = 4096
Sums = NDArray[np.floating]


@dataclass(frozen=True)
class Sizes:
    """The sizes of toy batches: SMALLEST times powers of 2."""

    steps: int

    @classmethod
    def up_to(cls, largest: float) -> Sizes:
        """So many that the last is not below the largest.

        >>> Sizes.up_to(100).all
        [8, 16, 32, 64, 128]
        """
        return cls(max(0, int(np.ceil(np.log2(max(largest, SMALLEST) / SMALLEST)))))

    @property
    def all(self) -> list[int]:
        """Rising."""
        return [SMALLEST * 2**k for k in range(self.steps + 1)]


@dataclass(frozen=True, eq=False)
class ToyMaker:
    """Makes toy batches at one width; which events these are made of depends on the seed alone, not on the width."""

    width: WatchedWidth
    halves: Halves
    seed: int

    def batches(self, number: int, steps: int, place: int) -> Iterator[Sums]:
        """So many toys of each size in turn, (number, r + 1): their sums less what the reference predicts of them."""
        found = self._smallest(number, place)
        yield found
        for step in range(steps):
            rng = rng_of(self.seed, Stream.MONITOR, place, step + 1)
            first, second = rng.integers(number, size=(2, number))
            found = found[first] + found[second]
            yield found

    @cached_property
    def _mean(self) -> Sums:
        return np.append(self.width.mean, self.width.far[0]).astype(self.width.dtype)

    def _smallest(self, number: int, place: int) -> Sums:
        rng = rng_of(self.seed, Stream.MONITOR, place, 0)
        weights = self.halves.weights[self.halves.of_toys]
        even = (weights == weights[0]).all()
        chosen = rng.choice(len(weights), (number, SMALLEST), p=None if even else weights / weights.sum())
        toys = np.repeat(np.arange(number), SMALLEST)
        matrix = sparse.csc_array(
            (np.ones(chosen.size, dtype=np.float32), (toys, chosen.ravel())), shape=(number, len(weights))
        )
        found = np.zeros((number, self.width.rank + 1), dtype=self.width.dtype)
        for rows in blocks(len(weights), _ROWS):
            k = self.width.kernel(self.halves.events[self.halves.of_toys[rows]])
            values = np.hstack([k, (1 - np.square(k.max(axis=1)))[:, None]]) - self._mean
            some = matrix[:, rows].tocsr()
            hit = np.flatnonzero(np.diff(some.indptr))
            found[hit] += some[hit] @ values
        return found

    def worlds(self, worth: float) -> Sums:
        """How far the means of toy references are off the truth, (worlds, r + 1).

        What is far is known by the half of the reference that has no pivots, and fluctuates accordingly.
        """
        steps = Sizes.up_to(worth).steps
        for found in self.batches(_WORLDS, steps, 1):
            sums = found
        size = SMALLEST * 2**steps
        means = sums / size
        off = np.asarray((means - means.mean(axis=0)) * (size / worth) ** 0.5)
        weights = self.halves.weights
        off[:, -1] *= (weights.sum() / weights[self.halves.of_toys].sum()) ** 0.5
        return off

    def judged(
        self,
        sums: Sums,
        size: float,
        mean: Array,
        shift: Sums,
        which: NDArray[np.intp],
        strengths: Array | None = None,
    ) -> Array:
        """The statistics of toys whose mean is off the reference's by so much, each in its world.

        `strengths` of the spread of good batches are (toys, ways), of windows the mean of those of their batches.
        """
        width, found = self.width, np.empty((self.width.number, len(sums)))
        places = len(width.squares)
        predicted = size * np.append(width.mean[:places], width.far[0])
        for start in range(0, len(sums), _CHUNK):
            part = slice(start, start + _CHUNK)
            off, toys = mean + shift[which[part]], sums[part]
            along = width.project((toys - size * off)[:, :-1].T)
            # Places and what is far are judged against the mean of the other world.
            seen = [*range(places), width.rank]
            readings = np.hstack([along.T, toys[:, seen] + predicted])
            if width.spread is not None and strengths is not None:
                readings += size * strengths[part] @ width.spread
            sizes = np.full(len(toys), float(size))
            found[:, part] = width.statistics(width.departure(readings, sizes, off[:, seen]), sizes)
        return found
