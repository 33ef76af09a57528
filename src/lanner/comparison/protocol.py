"""What a test is: it takes toys from a pool and gives each of them a statistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lanner.comparison.toy_pool import ToyPool
from lanner.model.parallel import blocks, in_parallel
from lanner.model.weightings import Draw
from lanner.run.evaluate import Combiner
from lanner.run.toy_maker import ToyRun
from lanner.typing import Array, Progress, ToysEnded

_TOGETHER = 10  # toys between two reports of progress


@dataclass(frozen=True, eq=False)
class Statistics:
    """What a test made of some toys."""

    values: Array  # (rows, toys): one row, or one for each scale
    converged: NDArray[np.bool_]  # (rows, toys)
    iterations: NDArray[np.int64]  # (rows, toys)
    coefficients: Array | None = None  # (rank, k) of the first k toys, of a test that learns a ratio

    @classmethod
    def of(cls, values: Any) -> Statistics:
        """Of a test that has nothing to converge."""
        values = np.atleast_2d(np.asarray(values, dtype=np.float64))
        return cls(values, np.ones(values.shape, dtype=bool), np.zeros(values.shape, dtype=np.int64))


class Prepared(Protocol):
    """A test that has seen the pool, ready for any number of toys."""

    @property
    def batch(self) -> int:
        """How many toys to make together: what an interruption may cost."""

    def statistics(
        self, draws: Sequence[Draw], *, progress: ToysEnded | None = None, checkpoint: Path | None = None
    ) -> Statistics:
        """The statistic of each toy: the larger, the less it looks like the reference."""

    def combiner(self, null: ToyRun) -> Combiner:
        """How several statistics of a toy become one, learned from null toys."""


class Test(Protocol):
    """A way to tell data from a reference."""

    @property
    def name(self) -> str:
        """A short name: of its folder, and in tables."""

    def settings(self, pool: ToyPool) -> dict[str, Any]:
        """What its statistic depends on besides the reference, as plain JSON."""

    def prepare(self, pool: ToyPool, folder: Path | None = None, progress: Progress | None = None) -> Prepared:
        """The one-off work; what it finds may be kept in a folder, and `progress` be told how far it is."""


class OneStatistic:
    """A prepared test with a single statistic, which needs no combination."""

    def combiner(self, null: ToyRun) -> Combiner:
        """No combination: all null toys are counted."""
        return Combiner(None, 0)


class OneByOne(OneStatistic):
    """A prepared test whose toys do not gain from being made together: each core takes one."""

    batch = 50

    def statistic(self, draw: Draw) -> float:
        """The statistic of a toy."""
        raise NotImplementedError

    def statistics(
        self, draws: Sequence[Draw], *, progress: ToysEnded | None = None, checkpoint: Path | None = None
    ) -> Statistics:
        """The statistics of several toys."""
        found: list[float] = []
        for some in blocks(len(draws), _TOGETHER):
            found += in_parallel(self.statistic, draws[some])
            if progress is not None:
                progress(some.stop - some.start)
        return Statistics.of(found)
