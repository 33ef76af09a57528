"""Tests that compare all pairs of events: kernel MMD and energy distance, exactly, yet cheap for many toys.

Both are, with k the kernel or minus the distance, n data and m reference events,

    t = n m / (n + m) [mean k(data, data) + mean k(reference, reference) - 2 mean k(data, reference)]

All pairs of the pool are summed once, event by event. A toy's reference is the pool but for its data and a few
events left out, so its sums are the pool's less those few rows: a toy costs the pairs among its data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from lanner.comparison.protocol import OneByOne, Prepared
from lanner.comparison.toy_pool import ToyPool
from lanner.model.kernel import GaussianKernel
from lanner.model.parallel import for_rows
from lanner.model.weightings import Draw
from lanner.typing import Array, Progress

Pairs = Callable[[Array, Array], Array]
_BLOCK = 2**21  # pairs at a time


@dataclass(frozen=True)
class MMD:
    """Maximum mean discrepancy with the Gaussian kernel; without a width, that of the paper's rule."""

    width: float | None = None
    name: str = "mmd"

    def settings(self, pool: ToyPool) -> dict[str, Any]:  # noqa: D102
        return {"width": self.width}

    def prepare(  # noqa: D102
        self, pool: ToyPool, folder: Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        return _Pairwise.of(pool, GaussianKernel(self.width or pool.plan.width))


@dataclass(frozen=True)
class Energy:
    """Energy distance of Szekely and Rizzo."""

    name: str = "energy"

    def settings(self, pool: ToyPool) -> dict[str, Any]:  # noqa: D102
        return {}

    def prepare(  # noqa: D102
        self, pool: ToyPool, folder: Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        return _Pairwise.of(pool, lambda x, y: -cdist(x, y))


@dataclass(frozen=True, eq=False)
class _Pairwise(OneByOne):
    events: Array
    reference: int
    pairs: Pairs
    sums: Array  # sum over the whole reference of k(event, .), for every event of the pool

    @classmethod
    def of(cls, pool: ToyPool, pairs: Pairs) -> _Pairwise:
        events, reference = pool.events, len(pool.reference)
        sums = np.empty(len(events))

        def fill(rows: slice) -> None:
            sums[rows] = pairs(events[rows], events[:reference]).sum(axis=1)

        for_rows(len(events), max(1, _BLOCK // reference), fill)
        return cls(events, reference, pairs, sums)

    def statistic(self, draw: Draw) -> float:
        inside = draw.data < self.reference
        taken, new, left = draw.data[inside], draw.data[~inside], draw.left_out
        out = np.concatenate([taken, left])
        n, m = len(draw.data), self.reference - len(out)
        if not n:
            return 0.0
        # Most data of a toy are taken from the reference: the pairs among them are summed once for all three means.
        among_taken, taken_new = self._among(taken), self._sum(taken, new)
        among_data = among_taken + 2 * taken_new + self._among(new)
        if len(out) < self.reference / 2:
            taken_left = self._sum(taken, left)
            across = self.sums[draw.data].sum() - among_taken - taken_left - taken_new - self._sum(new, left)
            among_out = among_taken + 2 * taken_left + self._among(left)
            among_reference = self.sums[: self.reference].sum() - 2 * self.sums[out].sum() + among_out
        else:  # a small part of the reference is quicker summed by itself
            kept = np.delete(np.arange(self.reference), out)
            across, among_reference = self._sum(draw.data, kept), self._among(kept)
        return float(n * m / (n + m) * (among_data / n**2 + among_reference / m**2 - 2 * across / (n * m)))

    def _among(self, rows: NDArray[np.intp]) -> float:
        """Of all pairs, each of which is computed once."""
        x, step = self.events[rows], max(1, _BLOCK // max(1, len(rows)))
        total = 0.0
        for k in range(0, len(x), step):
            here, others = x[k : k + step], x[k + step :]
            total += self.pairs(here, here).sum()
            total += 2 * self.pairs(here, others).sum() if len(others) else 0.0
        return float(total)

    def _sum(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> float:
        if not (len(first) and len(second)):
            return 0.0
        x, y = self.events[first], self.events[second]
        step = max(1, _BLOCK // len(second))
        return float(sum(self.pairs(x[k : k + step], y).sum() for k in range(0, len(x), step)))
