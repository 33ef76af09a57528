"""`Sample`: events as rows of named numbers, with weights or without, checked once at the door.

What comes after may rely on it: float64, C-contiguous, finite, read-only, at least one event and one
feature, distinct names, a positive total weight.
"""

from __future__ import annotations

import difflib
import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lanner.errors import InputError

Array = NDArray[np.float64]

_NUMBERS = "biuf"  # numpy's kinds that become float64 without a guess: bool, int, unsigned, float
_LISTED = 8  # columns named in one message; the rest is counted


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Sample:
    """Events (rows), their features (named columns) and, for simulated events, their weights.

    Usually made with `Sample.of`. The arrays are read-only views: nothing is copied unless the type
    or the memory layout has to change, and the caller's own arrays stay writeable.

    >>> Sample([[1.0, 2.0], [3.0, 4.0]], ("pt", "eta"))
    Sample(2 events, 2 features: pt, eta; unweighted)
    """

    features: Array
    names: tuple[str, ...]
    weights: Array | None = None
    label: InitVar[str] = field(default="sample", kw_only=True)  # how error messages call the sample

    def __post_init__(self, label: str) -> None:
        table = _as_table(_as_array(self.features, label), label)
        names = _as_names(self.names, label)
        if len(names) != table.shape[1]:
            raise InputError(
                f"{label} has {_count(table.shape[1], 'column')}, but {_count(len(names), 'name')} "
                f"{'was' if len(names) == 1 else 'were'} given ({_listed(names)}): give one name per column"
            )
        _check_types(dict(zip(names, table.T, strict=True)), label)
        features = _as_float(table)
        _check_finite(features, names, label)
        object.__setattr__(self, "features", _read_only(features))
        object.__setattr__(self, "names", names)
        if self.weights is not None:
            weights = _as_weights(self.weights, len(features), f"the weights of {label}")
            object.__setattr__(self, "weights", _read_only(weights))

    @classmethod
    def of(
        cls,
        source: Any,
        *,
        names: Iterable[str] | str | None = None,
        weights: ArrayLike | str | None = None,
        label: str = "sample",
    ) -> Sample:
        """Make a sample from an array, a list, named columns, a data frame or another sample.

        Parameters
        ----------
        source : array (events, features) or (events,), list of rows, structured array, mapping of
            names to columns, pandas or polars data frame, pyarrow table, or `Sample`
        names : which columns to take, in this order, if the source names its columns; otherwise the
            names to give them (default ``x0, x1, ...``)
        weights : one weight per event, or the name of the column that holds them, which is then not
            a feature; a `Sample` keeps its weights unless others are given
        label : what error messages call this sample

        >>> Sample.of({"pt": [40, 50], "w": [0.5, 2.0]}, weights="w")
        Sample(2 events, 1 feature: pt; total weight 2.5)
        """
        if isinstance(source, Sample):
            if names is None and weights is None:
                return source
            weights = source.weights if weights is None else weights
            columns = zip(source.names, source.features.T, strict=True)
            source = dict(columns) if source.named else source.features
        weight_column = weights if isinstance(weights, str) else None
        chosen = None if names is None else _as_names(names, label)
        table = _as_source(source, label)
        keys = _column_keys(table, label)

        if keys is None:
            if weight_column is not None:
                raise InputError(
                    f"weights={weights!r} names a column, but the columns of {label} have no names: "
                    f"give the weights as an array, one per event"
                )
            features = _as_table(table, label)
            chosen = default_names(features.shape[1]) if chosen is None else chosen
        else:
            if chosen is None:
                chosen = tuple(name for name in keys if name != weight_column)
            if weight_column in chosen:
                raise InputError(
                    f"column {weight_column!r} of {label} is asked for as a feature and as the weights: "
                    f"take it out of one of the two"
                )
            _check_known(chosen if weight_column is None else (*chosen, weight_column), keys, label)
            features = _stack({name: table[keys[name]] for name in chosen}, label)

        if weights is None:
            return cls(features, chosen, label=label)
        what = f"the weights of {label}"
        if weight_column is not None and keys is not None:
            what, weights = f"{what} (column {weight_column!r})", table[keys[weight_column]]
        return cls(features, chosen, _as_weights(weights, len(features), what), label=label)

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        names = ", ".join(self.names[:_LISTED]) + (", ..." if self.dimensions > _LISTED else "")
        size = f"{_count(len(self), 'event')}, {_count(self.dimensions, 'feature')}"
        weighted = "unweighted" if self.weights is None else f"total weight {self.total_weight:.6g}"
        return f"Sample({size}: {names}; {weighted})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, because numpy forgets "read-only" when it pickles.
        return type(self), (self.features, self.names, self.weights)

    @property
    def dimensions(self) -> int:
        """Number of features."""
        return int(self.features.shape[1])

    @property
    def named(self) -> bool:
        """Whether the columns have names of their own, not the default ``x0, x1, ...``."""
        return self.names != default_names(self.dimensions)

    @property
    def total_weight(self) -> float:
        """Sum of the weights; the number of events if there are none."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())

    def take(self, rows: slice | Sequence[int] | NDArray[np.integer[Any]] | NDArray[np.bool_]) -> Sample:
        """Return the sample of these rows, given as positions, a mask or a slice.

        >>> Sample.of([1.0, 2.0, 3.0]).take([2, 0]).features.ravel().tolist()
        [3.0, 1.0]
        """
        if not isinstance(rows, slice):
            # An empty list is an array of floats to numpy, which it does not take as positions.
            rows = np.atleast_1d(rows) if np.size(rows) else np.arange(0)
        try:
            features = self.features[rows]
            weights = None if self.weights is None else self.weights[rows]
        except IndexError as error:
            raise InputError(
                f"these rows cannot be taken from a sample of {_count(len(self), 'event')} ({error}): "
                f"give positions below {len(self)}, or a mask of that length"
            ) from None
        return Sample(features, self.names, weights, label="the selection of rows")


def default_names(dimensions: int) -> tuple[str, ...]:
    """Return the names of columns that came without any: ``x0, x1, ...``."""
    return tuple(f"x{column}" for column in range(dimensions))


def match_columns(reference: Sample, data: Sample, *, labels: tuple[str, str] = ("reference", "data")) -> Sample:
    """Return `data` with its columns in the order of `reference`, matched by name.

    If only one of the two has names, columns are matched by position: unnamed data take the names of
    the reference, and named data keep theirs beside an unnamed reference.

    >>> reference = Sample.of({"pt": [1, 2], "eta": [3, 4]})
    >>> match_columns(reference, Sample.of({"eta": [5, 6], "pt": [7, 8]})).names
    ('pt', 'eta')
    """
    return match_names(reference.names, data, labels=labels)


def match_names(names: tuple[str, ...], data: Sample, *, labels: tuple[str, str]) -> Sample:
    """Do the same as `match_columns` for a reference of which only the names are at hand."""
    reference_label, data_label = labels
    if data.names == names:
        return data
    if set(data.names) == set(names):
        position = {name: column for column, name in enumerate(data.names)}
        ordered = data.features[:, [position[name] for name in names]]
        return Sample(ordered, names, data.weights, label=data_label)

    reference_named = names != default_names(len(names))
    if reference_named != data.named:
        if len(names) == data.dimensions:
            return data if data.named else Sample(data.features, names, data.weights, label=data_label)
        raise InputError(
            f"{data_label} has {_count(data.dimensions, 'column')} "
            f"({_listed(data.names) if data.named else 'without names'}), {reference_label} has {len(names)} "
            f"({_listed(names) if reference_named else 'without names'}): give both the same features"
        )
    missing = [name for name in names if name not in data.names]
    extra = [name for name in data.names if name not in names]
    raise InputError(
        f"{data_label} does not have the columns of {reference_label} "
        f"(missing: {_with_nearest(missing, extra) or 'none'}; extra: {_listed(extra) or 'none'}): "
        f"rename them, or select the same features of both with names=[...]"
    )


def check_varies(sample: Sample, label: str) -> None:
    """Raise `InputError` if a column of `sample` has the same value in every row."""
    if len(sample) == 1:
        raise InputError(f"{label} has one event only, in which no feature can vary: give more events")
    lowest, highest = sample.features.min(axis=0), sample.features.max(axis=0)
    constant = [f"column {sample.names[j]!r} (always {lowest[j]:g})" for j in np.flatnonzero(lowest == highest)]
    if constant:
        raise InputError(f"{label} is constant in {_joined(constant)}: drop it from the features")


# From whatever was given to an array, a table of columns and numbers.


def _as_source(source: Any, label: str) -> Any:
    """Leave what has columns by name as it is; make an array, maybe a structured one, of the rest."""
    if isinstance(source, np.ndarray):
        return source
    if isinstance(source, Mapping) or hasattr(source, "column_names") or hasattr(source, "columns"):
        return source
    return _as_array(source, label)


def _column_keys(table: Any, label: str) -> dict[str, Any] | None:
    """Map the name of each column to its key in the table; None if columns have no names."""
    if isinstance(table, np.ndarray):
        if table.dtype.names is None:
            return None
        keys = list(table.dtype.names)
    elif isinstance(table, Mapping):
        keys = list(table)
    else:
        # pyarrow first: it has `.columns` too, but these are the data.
        keys = list(table.column_names if hasattr(table, "column_names") else table.columns)
    return dict(zip(_as_names(map(str, keys), label), keys, strict=True))


def _as_array(source: Any, label: str) -> NDArray[Any]:
    """Return an array of any type, masked if the source was; refuse what is ragged."""
    sequence = isinstance(source, list | tuple)
    try:
        if sequence and any(isinstance(row, np.ma.MaskedArray) for row in source):
            source = np.ma.stack(source)  # np.asanyarray would drop the masks of the rows
        array: NDArray[Any] = np.asanyarray(source)
        if sequence and array.dtype.kind not in _NUMBERS:
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


def _as_table(array: NDArray[Any], label: str) -> NDArray[Any]:
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


def _stack(columns: Mapping[str, Any], label: str) -> Array:
    """Return the columns side by side as one table of numbers."""
    if not columns:
        raise InputError(f"{label} has no columns: give at least one feature")
    arrays = {name: _as_array(column, f"column {name!r} of {label}") for name, column in columns.items()}
    for name, array in arrays.items():
        if array.ndim != 1:
            raise InputError(
                f"column {name!r} of {label} has shape {array.shape}, but one number per event is needed: "
                f"give each of its components as a column of its own"
            )
    events = len(next(iter(arrays.values())))
    if any(len(array) != events for array in arrays.values()):
        lengths = _joined([f"{name!r} {len(array)}" for name, array in arrays.items()])
        raise InputError(f"the columns of {label} differ in length ({lengths}): give one value per event")
    table: Array = _as_table(np.empty((events, len(arrays))), label)
    _check_types(arrays, label)  # after the size: a column without rows has no type to speak of
    for j, array in enumerate(arrays.values()):
        table[:, j] = _as_float(array)
    return table


def _as_float(array: NDArray[Any]) -> Array:
    """Return the numbers as float64, masked ones as NaN."""
    with np.errstate(over="ignore"):  # a long double too large becomes infinity, refused later by name
        if isinstance(array, np.ma.MaskedArray):
            array = np.ma.filled(array.astype(np.float64), np.nan)
        return np.asarray(array, dtype=np.float64)


def _as_weights(weights: ArrayLike, events: int, what: str) -> Array:
    array = _as_array(weights, what)
    if array.shape != (events,):
        raise InputError(
            f"{what} have shape {array.shape} for {_count(events, 'event')}: give one weight per event, "
            f"an array of shape ({events},)"
        )
    if array.dtype.kind not in _NUMBERS:
        raise InputError(f"{what} are no numbers (dtype {array.dtype}): convert them to numbers")
    values = _as_float(array)
    bad = events - np.count_nonzero(np.isfinite(values))
    if bad:
        raise InputError(
            f"{what} are NaN, infinite or masked in {bad} of {_count(events, 'row')}: "
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


def _as_names(names: Iterable[str] | str, label: str) -> tuple[str, ...]:
    listed = (names,) if isinstance(names, str) else tuple(names)
    for name in listed:
        if not isinstance(name, str):
            raise InputError(f"{label}: the column name {name!r} is no string: give {str(name)!r}")
    twice = [repr(name) for name, times in Counter(listed).items() if times > 1]
    if twice:
        raise InputError(f"{label} has more than one column named {_joined(twice)}: names must be distinct")
    return tuple(str(name) for name in listed)  # plain strings, not numpy's


def _read_only(array: Array) -> Array:
    view = np.ascontiguousarray(array).view()  # a view, because the array may be the caller's own
    view.setflags(write=False)
    return view


# Checks that name the columns at fault.


def _check_known(names: Sequence[str], known: Iterable[str], label: str) -> None:
    known = list(known)
    missing = [name for name in names if name not in known]
    if missing:
        raise InputError(
            f"{label} has no column {_with_nearest(missing, known)}; "
            f"choose from its columns: {_listed(known) or 'none'}"
        )


def _check_types(columns: Mapping[str, NDArray[Any]], label: str) -> None:
    columns = {name: array for name, array in columns.items() if array.dtype.kind not in _NUMBERS}
    if not columns:
        return
    odd = {name: _first_odd(array) for name, array in columns.items()}
    # A list with one string gives objects everywhere: leave columns of real numbers out, unless all are.
    blamed = {name: value for name, value in odd.items() if value is not None} or odd
    found = [f"column {name!r} (dtype {columns[name].dtype}{value or ''})" for name, value in blamed.items()]
    raise InputError(
        f"{label} has other values than real numbers in {_joined(found)}: convert them, for example with "
        f".astype(float), or leave the column out of the features"
    )


def _first_odd(array: NDArray[Any]) -> str | None:
    """Show the first value of a column of objects that is no real number; None if all are."""
    if array.dtype.kind != "O":
        return ""  # the type says it all
    odd = (value for value in array if not isinstance(value, Real | np.bool_))
    return next((f", such as {reprlib.repr(value)}" for value in odd), None)


def _check_finite(features: Array, names: Sequence[str], label: str) -> None:
    finite = np.isfinite(features)
    if finite.all():
        return
    rows = _count(len(features), "row")
    bad = (~finite).sum(axis=0).tolist()
    found = [f"column {name!r} ({n} of {rows})" for name, n in zip(names, bad, strict=True) if n]
    raise InputError(
        f"{label} has NaN, infinite or masked values in {_joined(found)}: drop those events, or the column "
        f"from the features, or replace the values, in all samples alike"
    )


# Words of messages.


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _joined(items: Sequence[str]) -> str:
    return ", ".join(items[:_LISTED]) + (f" and {len(items) - _LISTED} more" if len(items) > _LISTED else "")


def _listed(names: Iterable[str]) -> str:
    return _joined([repr(name) for name in names])


def _with_nearest(missing: Iterable[str], known: Iterable[str]) -> str:
    """List the missing names, each with the known ones that look like it."""
    lowered = {name.lower(): name for name in known}  # 'PT' is near 'pt'
    items = []
    for name in missing:
        near = [lowered[match] for match in difflib.get_close_matches(name.lower(), lowered, cutoff=0.5)]
        items.append(f"{name!r} (nearest: {_listed(near)})" if near else repr(name))
    return _joined(items)
