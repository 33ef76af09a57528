"""Columns of any source as arrays of float64, and the checks that name the columns at fault.

`Sample` and the readers of files share these functions, so both refuse the same things in the same words.
"""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lanner._util.text import count, joined, listed, shown, with_nearest
from lanner.errors import InputError
from lanner.typing import Array

NUMBERS = "biuf"  # numpy's kinds that become float64 without a guess: bool, int, unsigned, float

# From whatever was given to arrays of numbers.


def as_source(source: Any, label: str) -> Any:
    """Return a source with named columns as it is, and anything else as an array, which may be structured."""
    if isinstance(source, np.ndarray):
        return source
    if isinstance(source, Mapping) or hasattr(source, "column_names") or hasattr(source, "columns"):
        return source
    check_holds_events(source, label)
    return as_array(source, label)


def check_holds_events(source: Any, label: str) -> None:
    """Refuse what is often given in the place of events: the name of a file, a histogram, an `Events`."""
    one = source[0] if isinstance(source, list | tuple) and len(source) else source
    if isinstance(one, str | PathLike):
        what = f"the file {str(one)!r}" if one is source else f"a list of files, the first of them {str(one)!r}"
        raise InputError(
            f"{label} is {what}, not a table of events: read it first, with lanner.read_sample({shown(source)}).sample"
        )
    if hasattr(source, "kind") and callable(getattr(source, "values", None)):  # as UHI says of histograms
        raise InputError(
            f"{label} is a histogram ({type(source).__name__}), and its bins are no events: give those that it was "
            f"filled with, one a row, with their features as they are"
        )
    if hasattr(source, "sample") and hasattr(source.sample, "features"):
        raise InputError(f"{label} is what read_sample returned: give its sample, such as events.sample")


def column_keys(table: Any, label: str) -> dict[str, Any] | None:
    """Map the name of each column to its key in the table; None if the columns have no names."""
    if isinstance(table, np.ndarray):
        if table.dtype.names is None:
            return None
        keys = list(table.dtype.names)
    elif isinstance(table, Mapping):
        keys = list(table)
    else:
        # pyarrow first: it has `.columns` too, but these are the data.
        keys = list(table.column_names if hasattr(table, "column_names") else table.columns)
    return dict(zip(as_names(map(str, keys), label), keys, strict=True))


def as_array(source: Any, label: str) -> NDArray[Any]:
    """Return an array of any type, masked if the source was; refuse what is ragged."""
    sequence = isinstance(source, list | tuple)
    try:
        if sequence and any(isinstance(row, np.ma.MaskedArray) for row in source):
            source = np.ma.stack(source)  # np.asanyarray would drop the masks of the rows
        array: NDArray[Any] = np.asanyarray(source)
        if sequence and array.dtype.kind not in NUMBERS:
            # One string makes strings of all numbers: keep them apart, to tell which column has it.
            array = np.array(source, dtype=object)
    except ValueError as error:
        raise InputError(f"{label} {_why_ragged(source, error)}: give every row the same length") from None
    return array


def _why_ragged(rows: Any, error: ValueError) -> str:
    lengths = [len(row) if hasattr(row, "__len__") else 1 for row in rows]
    odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is None:
        return f"cannot be made an array ({error})"
    return f"is ragged: row 0 has length {lengths[0]}, row {odd} has length {lengths[odd]}"


def as_table(array: NDArray[Any], label: str) -> NDArray[Any]:
    """Return a view of shape (events, features), neither of them 0."""
    if array.ndim == 0:
        kind = type(array.item()).__name__
        raise InputError(
            f"{label} is a single {kind}, not a table: give an array (events, features), a data frame or "
            f"a dict of columns; a file has to be read first"
        )
    if array.ndim > 2:
        raise InputError(
            f"{label} has {array.ndim} dimensions (shape {array.shape}), but a table (events, features) "
            f"has two: reshape it, for example with .reshape(len(x), -1)"
        )
    table = array.reshape(-1, 1) if array.ndim == 1 else array
    if table.shape[0] == 0:
        raise InputError(f"{label} is empty (no rows): give at least one event, or loosen its selection")
    if table.shape[1] == 0:
        raise InputError(f"{label} has no columns: give at least one feature")
    return table


def stack(columns: Mapping[str, Any], label: str) -> Array:
    """Return the columns side by side as one table of numbers."""
    if not columns:
        raise InputError(f"{label} has no columns: give at least one feature")
    arrays = {name: as_array(column, f"column {name!r} of {label}") for name, column in columns.items()}
    for name, array in arrays.items():
        if array.ndim != 1:
            raise InputError(
                f"column {name!r} of {label} has shape {array.shape}, but one number per event is needed: "
                f"give each of its components as a column of its own"
            )
    table: Array = as_table(np.empty((common_length(arrays, label), len(arrays))), label)
    check_types(arrays, label)  # after the size: a column without rows has no type to speak of
    for j, array in enumerate(arrays.values()):
        table[:, j] = as_float(array)
    return table


def as_float(array: NDArray[Any]) -> Array:
    """Return the numbers as float64, masked ones as NaN."""
    # A long double too large becomes infinity, refused later by name; a signalling NaN, of a damaged file, is NaN.
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(array, np.ma.MaskedArray):
            array = np.ma.filled(array.astype(np.float64), np.nan)
        return np.asarray(array, dtype=np.float64)


def as_weights(weights: ArrayLike, events: int, what: str) -> Array:
    """Return the weights of events as float64, checked."""
    array = as_array(weights, what)
    if array.shape != (events,):
        raise InputError(
            f"{what} have shape {array.shape} for {count(events, 'event')}: give one weight per event, "
            f"an array of shape ({events},)"
        )
    if array.dtype.kind not in NUMBERS:
        raise InputError(f"{what} are no numbers (dtype {array.dtype}): convert them to numbers")
    values = as_float(array)
    bad = events - np.count_nonzero(np.isfinite(values))
    if bad:
        raise InputError(
            f"{what} are NaN, infinite or masked in {bad} of {count(events, 'row')}: "
            f"drop those events or correct their weights"
        )
    with np.errstate(over="ignore"):
        total = float(values.sum())
    if not 0 < total < np.inf:
        why = " because all are zero" if not values.any() else ""
        raise InputError(
            f"{what} cannot be used: the total weight is {total:g}{why}, but must be positive and finite; "
            f"check the weights, or leave them out"
        )
    return values


def as_names(names: Iterable[str] | str, label: str) -> tuple[str, ...]:
    """Return names of columns as plain strings; refuse a name that occurs twice."""
    given = (names,) if isinstance(names, str) else tuple(names)
    for name in given:
        if not isinstance(name, str):
            raise InputError(f"{label}: the column name {name!r} is no string: give {str(name)!r}")
    twice = [repr(name) for name, times in Counter(given).items() if times > 1]
    if twice:
        raise InputError(f"{label} has more than one column named {joined(twice)}: names must be distinct")
    return tuple(str(name) for name in given)  # plain strings, not numpy's


def read_only(array: Array) -> Array:
    """Return a view of the array that nobody can write to."""
    view = np.ascontiguousarray(array).view()  # a view, because the array may be the caller's own
    view.setflags(write=False)
    return view


# Checks that name the columns at fault.


def check_known(names: Sequence[str], known: Iterable[str], label: str) -> None:
    """Refuse names that are not among the known ones."""
    known = list(known)
    missing = [name for name in names if name not in known]
    if missing:
        raise InputError(
            f"{label} has no column {with_nearest(missing, known)}; choose from its columns: {listed(known) or 'none'}"
        )


def common_length(columns: Mapping[str, Sized], label: str) -> int:
    """Return how many rows the columns have; refuse columns of different lengths."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        found = joined([f"{name!r} {length}" for name, length in lengths.items()])
        raise InputError(f"the columns of {label} differ in length ({found}): give one value per event")
    return next(iter(lengths.values()), 0)


def array_problem(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str | None:
    """Say why an array of this type, the events along its first axis, is not one number per event."""
    if dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
        shape = (*shape, *inner)
    if len(shape) != 1:
        return f"has shape {shape}"
    if dtype.kind in NUMBERS:
        return None
    return "holds text" if dtype.kind in "SUT" else f"holds values of type {dtype}"


def check_types(columns: Mapping[str, NDArray[Any]], label: str) -> None:
    """Refuse columns of anything but real numbers."""
    columns = {name: array for name, array in columns.items() if array.dtype.kind not in NUMBERS}
    if not columns:
        return
    odd = {name: _first_odd(array) for name, array in columns.items()}
    # A list with one string gives objects everywhere: leave columns of real numbers out, unless all are.
    blamed = {name: value for name, value in odd.items() if value is not None} or odd
    found = [f"column {name!r} (dtype {columns[name].dtype}{value or ''})" for name, value in blamed.items()]
    raise InputError(
        f"{label} has other values than real numbers in {joined(found)}: convert them, for example with "
        f".astype(float), or leave the column out of the features"
    )


def _first_odd(array: NDArray[Any]) -> str | None:
    """Show the first value of a column of objects that is no real number; None if all are."""
    if array.dtype.kind != "O":
        return ""  # the type says it all
    odd = (value for value in array if not isinstance(value, Real | np.bool_))
    return next((f", such as {reprlib.repr(value)}" for value in odd), None)


_CHECKED = 2**18  # rows checked together: a sample may be larger than memory


def check_finite(features: Array, names: Sequence[str], label: str) -> None:
    """Refuse values that are not finite."""
    bad = np.zeros(features.shape[1], dtype=np.intp)
    for first in range(0, len(features), _CHECKED):
        bad += (~np.isfinite(features[first : first + _CHECKED])).sum(axis=0)
    if not bad.any():
        return
    rows = count(len(features), "row")
    found = [f"column {name!r} ({n} of {rows})" for name, n in zip(names, bad.tolist(), strict=True) if n]
    raise InputError(
        f"{label} has NaN, infinite or masked values in {joined(found)}: drop those events, or the column "
        f"from the features, or replace the values, in all samples alike"
    )
