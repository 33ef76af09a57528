"""`Lists`: a column with any number of numbers per event, such as the momenta of all muons.

What is elementwise happens on the flat content with NumPy, as for columns of one number per event. Awkward reads the
files and adds up: its sums go through a list in order, so a sum made by hand with it has the same last digit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events.columns import NUMBERS
from lanner.typing import Array


@dataclass(frozen=True, eq=False, slots=True)
class Lists:
    """A list of numbers, or of conditions, per event.

    >>> muons = Lists(np.array([0, 2, 2]), np.array([30.0, 20.0]))
    >>> len(muons), muons.counts.tolist()
    (2, [2, 0])
    >>> muons[np.array([False, True])].content.tolist()
    []
    """

    offsets: NDArray[np.int64]  # where each list begins in the content, and where the last one ends
    content: NDArray[Any]

    @classmethod
    def of(cls, array: Any, what: str) -> Lists:
        """Make one of an awkward array with one level of lists; None among numbers is NaN, None for a list is empty."""
        import awkward as ak

        array = ak.from_regular(array, axis=None)
        if array.ndim != 2:
            raise InputError(f"{what} has {array.ndim - 1} levels of lists per event, but formulas take one")
        if "?" in str(array.type) or "option" in str(array.type):
            array = ak.fill_none(ak.fill_none(array, [], axis=0), np.nan, axis=1)
        content = np.asarray(ak.to_numpy(ak.flatten(array, axis=1)))
        if content.dtype.kind not in NUMBERS:
            if content.size:
                raise InputError(f"{what} holds lists of other things than numbers ({content.dtype})")
            content = np.empty(0)
        offsets = np.zeros(len(array) + 1, dtype=np.int64)
        np.cumsum(ak.to_numpy(ak.num(array, axis=1)), out=offsets[1:])
        return cls(offsets, content)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: slice | NDArray[np.bool_]) -> Lists:
        """Take some events: neighbours, or those where a condition holds."""
        counts = self.counts[rows]
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(len(self))
            content = self.content[self.offsets[start] : self.offsets[max(start, stop)]]
        else:
            content = self.content[np.repeat(rows, self.counts)]
        return Lists(np.concatenate([[0], np.cumsum(counts)]), content)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many numbers each event has."""
        found: NDArray[np.int64] = np.diff(self.offsets)
        return found

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.content.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return int(self.content.nbytes + self.offsets.nbytes)

    def like(self, content: NDArray[Any]) -> Lists:
        """Lists of the same lengths with another content."""
        return Lists(self.offsets, content)

    def spread(self, column: NDArray[Any]) -> NDArray[Any]:
        """Repeat what an event has once, for each number of its list."""
        return column if column.ndim == 0 else np.repeat(column, self.counts)

    def chosen(self, holds: NDArray[np.bool_]) -> Lists:
        """Those numbers for which a condition holds, of which there is one for each number.

        >>> muons = Lists(np.array([0, 2, 3]), np.array([30.0, 20.0, 50.0]))
        >>> muons.chosen(np.array([False, True, True])).counts.tolist()
        [1, 1]
        """
        before = np.concatenate([[0], np.cumsum(holds)])
        return Lists(before[self.offsets], self.content[holds])

    def item(self, index: int) -> tuple[Array, NDArray[np.bool_]]:
        """Return one number of each list, counted from its end if the index is negative, and where there is none."""
        counts = self.counts
        there = counts > index if index >= 0 else counts >= -index
        first = self.offsets[:-1] if index >= 0 else self.offsets[1:]
        found = np.full(len(self), np.nan)
        found[there] = self.content[first[there] + index]
        return found, ~there


def _reduced(lists: Lists, name: str) -> Array:
    import awkward as ak

    array = ak.unflatten(np.asarray(lists.content, dtype=np.float64), lists.counts)
    found: Array = np.asarray(ak.to_numpy(getattr(ak, name)(array, axis=1, mask_identity=False)), dtype=np.float64)
    return found


def _extreme(lists: Lists, name: str) -> Array:
    found = _reduced(lists, name)
    found[lists.counts == 0] = np.nan
    unknown = np.isnan(lists.content)
    if unknown.any():  # awkward passes over NaN, where NumPy's maximum is NaN
        found[_number(lists.like(unknown)) > 0] = np.nan
    return found


def _number(lists: Lists) -> Array:
    """Of conditions how many hold, of numbers how many there are."""
    if lists.dtype.kind != "b":
        return lists.counts.astype(np.float64)
    before = np.concatenate([[0], np.cumsum(lists.content)])
    return np.asarray(np.diff(before[lists.offsets]), dtype=np.float64)


# What makes one value of a list: of nothing, max and min have none, and the others 0, False and (all) True.
REDUCERS: dict[str, Callable[[Lists], NDArray[Any]]] = {
    "count": _number,
    "sum": lambda lists: _reduced(lists, "sum"),
    "max": lambda lists: _extreme(lists, "max"),
    "min": lambda lists: _extreme(lists, "min"),
    "any": lambda lists: _number(lists) > 0,
    "all": lambda lists: _number(lists) == lists.counts,
}
OF_CONDITIONS = ("any", "all")
