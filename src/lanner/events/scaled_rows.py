"""`ScaledRows`: the rows of several tables as one table in scaled units, computed when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lanner.events.scaling import Scaling
from lanner.events.spread import SpreadTable
from lanner.typing import Array


class Rows(Protocol):
    """Events, one per row: an array, or an object that computes the rows asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice | NDArray[np.intp], /) -> Array: ...


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """The rows of several tables, one after another, in the units of a scaling, without a copy of them all.

    A table may lie on disk (a memory map): only the rows asked for are read.

    >>> rows = ScaledRows((np.array([[1.0], [2.0]]), np.array([[3.0]])), Scaling([1.0], [2.0], None, ("x",)))
    >>> len(rows), rows[1:3].ravel().tolist(), rows[np.array([2, 0])].ravel().tolist()
    (3, [0.5, 1.0], [1.0, 0.0])
    """

    tables: tuple[Array, ...]
    scaling: Scaling

    def __len__(self) -> int:
        return sum(map(len, self.tables))

    @property
    def spread(self) -> SpreadTable | None:
        """The table of a reference that is left in its files."""
        first: Any = self.tables[0]
        return first if isinstance(first, SpreadTable) else None

    def __getitem__(self, rows: slice | NDArray[np.intp], /) -> Array:
        return self.scaling.apply(self._slice(rows) if isinstance(rows, slice) else self._taken(rows))

    def _slice(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(len(self))
        parts = []
        for table in self.tables:
            if start < len(table) and stop > 0:
                parts.append(table[max(start, 0) : stop])
            start, stop = start - len(table), stop - len(table)
        return parts[0] if len(parts) == 1 else np.vstack(parts)

    def _taken(self, rows: NDArray[np.intp]) -> Array:
        found = np.empty((len(rows), self.tables[0].shape[1]))
        first = 0
        for table in self.tables:
            here = (rows >= first) & (rows < first + len(table))
            found[here] = table[rows[here] - first]
            first += len(table)
        return found
