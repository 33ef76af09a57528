"""A chi2 test in bins that the reference alone decides."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.comparison.protocol import OneByOne, Prepared
from lanner.comparison.toy_pool import ToyPool
from lanner.errors import InputError
from lanner.model.weightings import Draw
from lanner.typing import Array, Progress

_EXPECTED = 25.0  # data events in a bin, if nobody says how many bins
_MOST = 1024


@dataclass(frozen=True)
class BinnedChi2:
    """Pearson's chi2 in equally populated cells: the reference halved again and again, along one feature at a time."""

    bins: int | None = None  # a power of 2; None: some 25 expected events in each
    name: str = "chi2"

    def __post_init__(self) -> None:
        if self.bins is not None and (self.bins < 2 or self.bins & (self.bins - 1)):
            raise InputError(f"bins={self.bins}: cells come from halving, so give a power of 2, such as 64")

    def settings(self, pool: ToyPool) -> dict[str, Any]:  # noqa: D102
        return {"bins": self.bins}

    def prepare(  # noqa: D102
        self, pool: ToyPool, folder: Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        reference = len(pool.reference)
        wanted = np.clip(pool.plan.expected / _EXPECTED, 4, min(_MOST, reference / 4))
        depth = int(np.log2(self.bins or wanted))
        cells = halved(pool.events, reference, depth)
        return _Binned(cells, 2**depth, reference, pool.plan.expected, pool.plan.fixed is not None)


def halved(events: Array, reference: int, depth: int) -> NDArray[np.int64]:
    """The cell of each event: at every level each cell is cut at its median in the next feature.

    >>> halved(np.array([[1.0], [2.0], [3.0], [4.0], [2.2]]), 4, 1).tolist()
    [0, 0, 1, 1, 0]
    """
    cells = np.zeros(len(events), dtype=np.int64)
    for level in range(depth):
        values = events[:, level % events.shape[1]]
        order = np.lexsort((values[:reference], cells[:reference]))
        bounds = np.searchsorted(cells[:reference][order], np.arange(2**level + 1))
        edges = np.zeros(2**level)
        for cell, (first, last) in enumerate(pairwise(bounds)):
            inside = values[:reference][order[first:last]]
            edges[cell] = np.median(inside) if len(inside) else np.inf
        cells = 2 * cells + (values > edges[cells])
    return cells


@dataclass(frozen=True, eq=False)
class _Binned(OneByOne):
    cells: NDArray[np.int64]
    bins: int
    reference: int
    expected: float
    shape_only: bool

    def statistic(self, draw: Draw) -> float:
        out = np.concatenate([draw.data[draw.data < self.reference], draw.left_out])
        seen = np.bincount(self.cells[draw.data], minlength=self.bins)
        left = self._whole() - np.bincount(self.cells[out], minlength=self.bins)
        total = len(draw.data) if self.shape_only else self.expected
        scale = total / left.sum()
        expected = scale * np.maximum(left, 0.5)  # an empty cell is half an event
        # The reference fluctuates too.
        return float(((seen - expected) ** 2 / (expected * (1 + scale))).sum())

    def _whole(self) -> NDArray[np.int64]:
        return np.bincount(self.cells[: self.reference], minlength=self.bins)
