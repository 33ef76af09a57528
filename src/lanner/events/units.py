"""The unit of a column: what is subtracted from its values and what they are divided by, for each rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lanner.errors import InputError
from lanner.typing import Array

RULES = (None, "robust", "standard", "authors")
# What the rules do, for people.
WORDS = {
    None: "as they are",
    "robust": "the median, and half of the central 68 % interval; of a column that mostly has one value, mean and "
    "standard deviation without its 0.1 % tails",
    "standard": "mean and standard deviation",
    "authors": "mean and standard deviation of a column with negative values, the mean of another that exceeds 1",
}
_CENTRAL = (0.15865525393145707, 0.8413447460685429)  # one standard deviation to either side of a normal's mean
_CLIPPED = (0.001, 0.999)
_MOSTLY = 0.5
_CONSTANT = 1e-6


def check_rule(rule: object) -> None:
    """Refuse what is no rule."""
    if rule not in RULES:
        raise InputError(f"{rule!r} is no rule for a scaling: choose from {', '.join(map(repr, RULES))}")


def numbers_of(given: ArrayLike, part: str, names: Sequence[str]) -> Array:
    """The shift or the scale of each feature, read-only, or an error that says what is wrong with it.

    >>> numbers_of([2, 3], "shift", ["a", "b"]).tolist()
    [2.0, 3.0]
    """
    values = np.array(given, dtype=np.float64)
    if values.shape != (len(names),):
        raise InputError(
            f"the {part} of a scaling has shape {values.shape} for {len(names)} features: give one number per feature"
        )
    bad = ~np.isfinite(values) | ((values <= 0) & (part == "scale"))
    if bad.any():
        j = int(np.argmax(bad))
        needed = "finite and positive" if part == "scale" else "finite"
        raise InputError(
            f"the {part} of column {names[j]!r} is {values[j]:g}, but must be {needed}: "
            f"learn the scaling anew with Scaling.learn"
        )
    values.setflags(write=False)
    return values


def learn_unit(column: Array, rule: str | None, what: str) -> tuple[float, float]:
    """Shift and scale of a column by a rule; `what` is the column in words, for errors.

    >>> learn_unit(np.array([1.0, 3.0]), "standard", "column 'x'")
    (2.0, 1.0)
    """
    shift, scale = 0.0, 1.0
    if rule == "robust":
        shift, scale = robust(column)
        _check_normal(scale, what)
    elif rule == "standard" or (rule == "authors" and column.min() < 0):
        shift, scale = moments(column)
        # Rounding gives a constant column a spread of about 1e-17, so compare the values themselves.
        if column.min() == column.max():
            raise InputError(
                f"{what} is always {column[0]:g}, so it has no spread to divide by: drop it from the features"
            )
        _check_normal(scale, what)
    elif rule == "authors" and column.max() > 1:
        scale, _ = moments(column)
    return shift, scale


def robust(column: Array) -> tuple[float, float]:
    """Median and half of the central 68 % interval: a few wild values move neither.

    That interval is 0, or close to 0 by chance, where most values are the same (a flag, a charge, energies that are
    mostly 0). Mean and standard deviation serve there, of the values clipped to their 0.1 % and 99.9 % quantiles, or as
    they are if nothing varies in between. What never varies gets a unit so small that any other value is far away.

    >>> robust(np.array([-1.0, 0.0, 1.0, 1e9]))[0], robust(np.array([0.5, 0.5]))
    (0.5, (0.5, 1e-06))
    """
    lowest, highest = float(column.min()), float(column.max())
    if lowest == highest:
        return lowest, _CONSTANT * max(1.0, abs(lowest))
    exponent = _exponent(column)
    values = np.ldexp(column, -exponent)
    low, middle, high = np.quantile(values, [_CENTRAL[0], 0.5, _CENTRAL[1]])
    if high > low and np.count_nonzero(values == middle) <= _MOSTLY * len(values):
        return float(np.ldexp(middle, exponent)), float(np.ldexp(0.5 * (high - low), exponent))
    # Of an order statistic, not between two: a value that is there keeps its bits, and what does not vary is seen.
    low, high = np.quantile(column, _CLIPPED, method="nearest")
    return moments(np.clip(column, low, high) if high > low else column)


def moments(column: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and standard deviation (ddof=0) of a column.

    Without event weights, on purpose: a scaling is a choice of units, which any fixed number can serve, and with
    negative weights a weighted variance may be negative.
    """
    exponent = _exponent(column)
    unit = np.ldexp(column, -exponent)
    return float(np.ldexp(unit.mean(), exponent)), float(np.ldexp(unit.std(), exponent))


def constant_columns(features: Array) -> NDArray[np.intp]:
    """The columns that have the same value in every row.

    >>> constant_columns(np.array([[1.0, 2.0], [1.0, 3.0]])).tolist()
    [0]
    """
    return np.flatnonzero(features.min(axis=0) == features.max(axis=0))


def _exponent(column: Array) -> int:
    """The power of two near the largest value.

    In units of it the squares of numbers like 1e-200 or 1e200 neither vanish nor overflow, and no bit changes.
    """
    _, exponent = np.frexp(np.abs(column).max())
    return int(exponent)


def _check_normal(scale: float, what: str) -> None:
    if scale < np.finfo(np.float64).tiny:
        raise InputError(f"{what} has a spread of {scale:g}, too small to divide by: give it in smaller units")
