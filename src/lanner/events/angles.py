"""Angles, whose two ends are one place: how they are named, and which columns look like some."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from lanner._util.text import nearest_hint, shown
from lanner.errors import InputError
from lanner.typing import Array

TURN = 2 * math.pi
_RANGES = ((-math.pi, math.pi), (0.0, TURN), (-180.0, 180.0), (0.0, 360.0))
_LEAST_ROWS = 200
_ENDS = 0.01  # of the range, that may be empty at either end
_EDGE = 0.05  # of the range: in each of the two such parts must be ...
_FILLED = 0.5  # ... so much of what a uniform angle has there


def periods(periodic: Iterable[str], names: Sequence[str]) -> dict[str, float]:
    """The period of each column named as "phi" or "phi=360".

    >>> periods(["phi1=360"], ["pt1", "phi1"])
    {'phi1': 360.0}
    """
    found: dict[str, float] = {}
    for text in periodic:
        name, _, given = (text, "", "") if text in names else (part.strip() for part in text.rpartition("="))
        name, given = (name, given) if name else (given, "")
        if name not in names:
            raise InputError(f"periodic={shown(text)}: {shown(name)} is not a feature{nearest_hint(name, names)}")
        if name in found:
            raise InputError(f"periodic names {name!r} twice: give it once")
        found[name] = _period(given, text)
    return found


def _period(given: str, text: str) -> float:
    try:
        period = float(given) if given else TURN
    except ValueError:
        period = math.nan
    if not 0 < period < math.inf:
        raise InputError(f"periodic={shown(text)}: give a positive number as the period, such as 360, or none for 2 pi")
    return period


def check_period(column: Array, period: float, name: str) -> None:
    """Refuse degrees that are taken for radians."""
    likely = looks_like_angle(column)
    if likely == 360.0 and period == TURN:
        raise InputError(f"column {name!r} looks like degrees, not radians: give periodic=['{name}=360']")


def looks_like_angle(column: Array) -> float | None:
    """The period of a column that looks like an angle: its values fill one turn and do not die out at both ends.

    >>> looks_like_angle(np.linspace(-180, 180, 1000)), looks_like_angle(np.linspace(-3, 3, 1000))
    (360.0, None)
    """
    if len(column) < _LEAST_ROWS:
        return None
    lowest, highest = float(column.min()), float(column.max())
    for low, high in _RANGES:
        turn = high - low
        slack = 1e-6 * turn  # single precision rounds pi up
        inside = low - slack <= lowest <= low + _ENDS * turn and high - _ENDS * turn <= highest <= high + slack
        if inside:
            at_low = np.count_nonzero(column < low + _EDGE * turn)
            at_high = np.count_nonzero(column > high - _EDGE * turn)
            if min(at_low, at_high) > _FILLED * _EDGE * len(column):
                return TURN if turn < 7 else turn
    return None
