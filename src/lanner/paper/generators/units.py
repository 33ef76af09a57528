"""The units of the published files: every column was divided by a number of its own. Those numbers are fixed here.

A normalisation computed anew from each sample would hide in which units a mass is, and differ between samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lanner.errors import InputError
from lanner.typing import Columns


@dataclass(frozen=True)
class Unit:
    """A column is (value - zero) / size, with the value in GeV, radians or without unit."""

    size: float
    zero: float = 0.0


def normalised(columns: Columns, units: Mapping[str, Unit]) -> Columns:
    """Columns in the published file's units and order.

    >>> normalised({"pt": np.array([30.0])}, {"pt": Unit(60.0)})
    {'pt': array([0.5])}
    """
    return {name: np.asarray((columns[name] - unit.zero) / unit.size) for name, unit in units.items()}


def physical(columns: Columns, units: Mapping[str, Unit]) -> Columns:
    """Columns in GeV and radians; those without a known unit are refused."""
    unknown = [name for name in columns if name not in units]
    if unknown:
        raise InputError(f"column {unknown[0]!r} has no known unit; known: {', '.join(units)}")
    return {name: column * units[name].size + units[name].zero for name, column in columns.items()}
