"""Values that stand for none, such as -999: how they are recognised, and what becomes of them.

As numbers they would rule the unit of their column, and lie far from everything. An event that has one is put at the
centre of that column instead, and an indicator column says that it is so: nothing is lost, and whether more or fewer
values are missing in the data is tested like anything else.

Where Lanner itself finds that an event does not have an object, such as a second muon, it writes `ABSENT`. Nothing has
to be recognised then: this value is missing in any column, one of charges or counts as well.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events.units import robust
from lanner.typing import Array

ABSENT = -9_999_999.0  # exact in single precision too; no energy in MeV at any collider, and no identifier, is this
_LEAST_ROWS, _LEAST_SHARE = 5, 5e-4  # that share the value
_FAR = 3.0  # units of the other values
_MOST_TOGETHER = 4  # codes side by side, such as -999 and -998
# The other values must be continuous: half as many as rows, or enough that they are no classes or counts. Rounding
# to two decimals leaves a pseudorapidity 500 values, and degrees that are whole numbers 360.
_LEAST_VALUES, _MANY_VALUES = 20, 200


@dataclass(frozen=True)
class Missing:
    """A value that means "none" in a column, and the share of the reference's rows that have it.

    >>> found = Missing("pt3", -999.0, 0.5)
    >>> str(found), found.levels
    ("-999 in column 'pt3'", (-1.0, 1.0))
    """

    column: str
    value: float
    share: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.value) and 0 < self.share < 1):
            raise InputError(
                f"a missing value {self.value!r} with a share of {self.share!r}: the value must be finite, and the "
                "share above 0 and below 1"
            )

    def __str__(self) -> str:
        return f"{self.value:.10g} in column {self.column!r}"

    @property
    def levels(self) -> tuple[float, float]:
        """The indicator where the value is there and where it is missing: mean 0 and spread 1 in the reference."""
        spread = (self.share * (1 - self.share)) ** 0.5
        return -self.share / spread, (1 - self.share) / spread

    def rows(self, column: Array, unit: float) -> NDArray[np.bool_]:
        """Where a column has the value, also as single precision rounds it: other files may hold it so."""
        near: NDArray[np.bool_] = np.abs(column - self.value) <= min(2.0**-23 * abs(self.value), unit)
        return near


def placeholders(column: Array) -> dict[float, float]:
    """The values of a column that stand for none, and their shares of the rows.

    Such a value is shared by many rows and lies far from all others, which are continuous. Flags, charges, counts and
    columns that are mostly 0 have none.

    >>> x = np.random.default_rng(1).normal(size=1000)
    >>> x[:50] = -999
    >>> placeholders(x)
    {-999.0: 0.05}
    """
    absent = int(np.count_nonzero(column == ABSENT))
    if absent == len(column):
        return {}
    found = _recognised(column[column != ABSENT] if absent else column)
    number = len(column) - absent
    known = {ABSENT: absent / len(column)} if absent else {}
    return known | {value: rows / len(column) for value, rows in found.items() if rows < number}


def refuse_absent(column: Array, recognised: Container[float], what: str) -> None:
    """Refuse objects that events do not have where their placeholder would be taken as a number."""
    absent = 0 if ABSENT in recognised else int(np.count_nonzero(column == ABSENT))
    if absent == len(column):
        raise InputError(f"{what} is missing in every event, which has none of its objects: leave the column out")
    if absent:
        raise InputError(
            f"{what} is missing in {absent} of {len(column)} events, which have none of its objects, and would be "
            f"taken as the number {ABSENT:.0f}: use scaling='robust' with missing='auto', or select events that have "
            "the object with where=..., as in where='count(Muon_pt) >= 2'"
        )


def _recognised(column: Array) -> dict[float, int]:
    """The values that are recognised as placeholders, and how many rows have them."""
    values, counts = np.unique(column, return_counts=True)
    shared = counts >= max(_LEAST_ROWS, _LEAST_SHARE * len(column))
    if len(values) < _LEAST_VALUES or not shared.any():
        return {}
    taken = _suspects(values, counts, shared)
    while taken.any():
        others, rows = values[~taken], counts[~taken]
        if len(others) < max(_LEAST_VALUES, min(rows.sum() / 2, _MANY_VALUES)):
            return {}
        _, unit = robust(np.repeat(others, rows))
        near = taken & (_distance(values, others) <= _FAR * unit)
        if not near.any():
            break
        taken &= ~near
    return {float(v): int(c) for v, c in zip(values[taken], counts[taken], strict=True)}


def _suspects(values: Array, counts: NDArray[np.intp], shared: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Values that many rows share, alone or few together, a gap away from the others.

    The gap is measured in units of distinct values, each with its number of rows, but none with more than nine of
    ten have at most: so a placeholder in most of the rows does not set them.
    """
    weights = np.cumsum(np.minimum(counts, np.quantile(counts, 0.9, method="lower")), dtype=np.float64)
    low, high = values[np.searchsorted(weights, np.array([0.16, 0.84]) * weights[-1])]
    edges = np.flatnonzero(np.diff(values) > 0.5 * (high - low)) + 1
    group = np.zeros(len(values), dtype=np.intp)
    group[edges] = 1
    group = np.cumsum(group)
    few = np.bincount(group) <= _MOST_TOGETHER
    alone = np.bincount(group, ~shared) == 0
    found: NDArray[np.bool_] = (few & alone)[group]
    return found


def _distance(values: Array, others: Array) -> Array:
    """How far each value is from the nearest of the others, which are sorted."""
    after = np.searchsorted(others, values).clip(1, len(others) - 1)
    distance: Array = np.minimum(np.abs(values - others[after - 1]), np.abs(values - others[after]))
    return distance
