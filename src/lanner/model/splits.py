"""Which events give the score its moments: halves of the reference, so that no toy is judged by its own events.

The score weighs each direction by the features' second moment. Had a toy's data a part in it, they would look less
surprising than the real data, which never have one (5 % of p-values would become 8 %). So the reference is divided
into blocks; half of them give the moments, a toy's data come from the other half, and there are several such splits,
of which each toy belongs to one. The data, which are in no block, are judged by every split, and the median of the
statistics counts: which half an event is in then hardly matters. Blocks are halved by the rows of a Hadamard matrix,
each with its complement: every block gives moments in half of the splits, every pair of blocks together in the same
number.

Candidate centres are in the moments of every split and never a toy's data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard

ALWAYS, NEVER = -1, -2  # labels of rows that give moments in every split, and in none


@dataclass(frozen=True, eq=False)
class Splits:
    """Labels of a pool's rows, the number of their block or `ALWAYS` or `NEVER`; and how many blocks there are."""

    labels: NDArray[np.int8]
    blocks: int

    @classmethod
    def of(cls, free: NDArray[np.intp], always: NDArray[np.intp], rows: int, blocks: int) -> Splits:
        """Blocks of equal size from free rows in random order, beside the rows that always give moments."""
        labels = np.full(rows, NEVER, dtype=np.int8)
        labels[always] = ALWAYS
        labels[free] = np.arange(len(free)) % blocks
        return cls(labels, blocks)

    @property
    def number(self) -> int:
        """How many splits there are. A single block gives no moments: they are those of the centres alone.

        >>> [Splits(np.empty(0, np.int8), blocks).number for blocks in (1, 2, 4, 8)]
        [1, 2, 6, 14]
        """
        return len(self.shaping)

    @cached_property
    def shaping(self) -> NDArray[np.bool_]:
        """Whether a block gives the moments of a split, (splits, blocks).

        >>> Splits(np.empty(0, np.int8), 2).shaping.tolist()
        [[True, False], [False, True]]
        """
        if self.blocks == 1:
            return np.zeros((1, 1), dtype=bool)
        halves = hadamard(self.blocks)[1:] > 0
        return np.stack([halves, ~halves], axis=1).reshape(-1, self.blocks)

    def free(self, split: int) -> NDArray[np.intp]:
        """The rows from which toys of a split take their data, in order."""
        return self._free[split]

    @cached_property
    def _free(self) -> list[NDArray[np.intp]]:
        inside = np.flatnonzero(self.labels >= 0)
        return [inside[~shaping[self.labels[inside]]] for shaping in self.shaping]
