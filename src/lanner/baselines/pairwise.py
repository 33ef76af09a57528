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

from lanner.baselines.arena import Arena, OneByOne, Prepared
from lanner.model.kernel import GaussianKernel
from lanner.model.rows import for_rows
from lanner.model.weightings import Draw

Array = NDArray[np.float64]
Pairs = Callable[[Array, Array], Array]
_BLOCK = 2**21  # pairs at a time


@dataclass(frozen=True)
class MMD:
    """Maximum mean discrepancy with the Gaussian kernel; without a width, that of the paper's rule."""

    width: float | None = None
    name: str = "mmd"

    def settings(self, arena: Arena) -> dict[str, Any]:  # noqa: D102
        return {"width": self.width}

    def prepare(self, arena: Arena, folder: Path | None = None) -> Prepared:  # noqa: D102
        return _Pairwise.of(arena, GaussianKernel(self.width or arena.plan.width))


@dataclass(frozen=True)
class Energy:
    """Energy distance of Szekely and Rizzo."""

    name: str = "energy"

    def settings(self, arena: Arena) -> dict[str, Any]:  # noqa: D102
        return {}

    def prepare(self, arena: Arena, folder: Path | None = None) -> Prepared:  # noqa: D102
        return _Pairwise.of(arena, lambda x, y: -cdist(x, y))


@dataclass(frozen=True, eq=False)
class _Pairwise(OneByOne):
    events: Array
    reference: int
    pairs: Pairs
    sums: Array  # sum over the whole reference of k(event, .), for every event of the pool

    @classmethod
    def of(cls, arena: Arena, pairs: Pairs) -> _Pairwise:
        events, reference = arena.events, len(arena.reference)
        sums = np.empty(len(events))

        def fill(rows: slice) -> None:
            sums[rows] = pairs(events[rows], events[:reference]).sum(axis=1)

        for_rows(len(events), max(1, _BLOCK // reference), fill)
        return cls(events, reference, pairs, sums)

    def statistic(self, draw: Draw) -> float:
        data = draw.data
        out = np.concatenate([data[data < self.reference], draw.left_out])
        n, m = len(data), self.reference - len(out)
        if not n:
            return 0.0
        among_data = self._sum(data, data)
        if len(out) < self.reference / 2:
            across = self.sums[data].sum() - self._sum(data, out)
            among_reference = self.sums[: self.reference].sum() - 2 * self.sums[out].sum() + self._sum(out, out)
        else:  # a small part of the reference is quicker summed by itself
            kept = np.delete(np.arange(self.reference), out)
            across, among_reference = self._sum(data, kept), self._sum(kept, kept)
        return float(n * m / (n + m) * (among_data / n**2 + among_reference / m**2 - 2 * across / (n * m)))

    def _sum(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> float:
        if not len(second):
            return 0.0
        x, y = self.events[first], self.events[second]
        step = max(1, _BLOCK // len(second))
        return float(sum(self.pairs(x[k : k + step], y).sum() for k in range(0, len(x), step)))
