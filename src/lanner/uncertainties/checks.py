"""What can be checked of a declared uncertainty before the reference is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from lanner._util.values import as_number
from lanner.errors import InputError
from lanner.events import Sample
from lanner.events.columns import as_array
from lanner.typing import Array

MOST = 1.0  # the largest relative uncertainty that the method is made for


def check_name(name: object) -> None:
    """Refuse what cannot be the name of an uncertainty."""
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"an uncertainty has the name {name!r}: give a text, such as 'luminosity'")


def checked_size(name: str, size: Any) -> float:
    """A relative uncertainty from 0 to 1, or an error that says what was probably meant."""
    number = as_number(size, f"the size of {name!r}")
    if 0 <= number <= MOST:
        return number
    percent = f"; for {number:g} % give {number / 100:g}" if 1 < number <= 100 else ""
    raise InputError(
        f"the uncertainty {name!r} has the size {number:g}: give a relative uncertainty from 0 to 1, such as 0.03 for "
        f"3 %{percent}"
    )


def same(one: Any, other: Any) -> bool:
    """Whether two variations, as weights, names of columns or samples, are the same but for rounding.

    >>> same(np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-12])), same("up", "down")
    (True, False)
    """
    if isinstance(one, str) or isinstance(other, str):
        return bool(isinstance(one, str) and isinstance(other, str) and one == other)
    if isinstance(one, Sample):
        weights = [np.ones(len(s)) if s.weights is None else s.weights for s in (one, other)]
        return same(one.features, other.features) and same(*weights)
    return bool(one.shape == other.shape and np.allclose(one, other, rtol=1e-9, atol=0.0))


def checked_yield(name: str, direction: str, change: Any, given: Any) -> float:
    """A change of the yield by at most a factor 2, of a sample that is there."""
    what = f"{direction}_yield of {name!r}"
    number = as_number(change, what)
    if given is None:
        raise InputError(f"{what} is given, but no sample {direction}: give the sample, or leave it out")
    if not 1 / (1 + MOST) <= number <= 1 + MOST:
        raise InputError(f"{what} is {number:g}: give the varied yield over that of the reference, from 0.5 to 2")
    return number


def checked_label(name: str, label: Any) -> Array:
    """A label of events as numbers 0 and 1."""
    values = as_array(label, f"the label of {name!r}")
    if values.ndim != 1 or not np.isin(values, (0, 1)).all():
        raise InputError(
            f"the label of {name!r} has other values than true and false, or 0 and 1: give one of them for each event "
            "of the reference, such as process == 3"
        )
    if not values.any():
        raise InputError(f"the label of {name!r} is false for every event: give the label of a process that is there")
    return np.asarray(values, dtype=np.float64)
