"""`Sample`: events as rows of named numbers, with weights or without, checked once at the door.

What comes after may rely on it: float64, C-contiguous, finite, read-only, at least one event and one
feature, distinct names, a positive total weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lanner._util.text import LISTED, count, joined, listed, with_nearest
from lanner.errors import InputError
from lanner.events.columns import (
    as_array,
    as_float,
    as_names,
    as_source,
    as_table,
    as_weights,
    check_finite,
    check_known,
    check_types,
    column_keys,
    read_only,
    stack,
)
from lanner.typing import Array


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
        table = as_table(as_array(self.features, label), label)
        names = as_names(self.names, label)
        if len(names) != table.shape[1]:
            raise InputError(
                f"{label} has {count(table.shape[1], 'column')}, but {count(len(names), 'name')} "
                f"{'was' if len(names) == 1 else 'were'} given ({listed(names)}): give one name per column"
            )
        check_types(dict(zip(names, table.T, strict=True)), label)
        features = as_float(table)
        check_finite(features, names, label)
        object.__setattr__(self, "features", read_only(features))
        object.__setattr__(self, "names", names)
        if self.weights is not None:
            weights = as_weights(self.weights, len(features), f"the weights of {label}")
            object.__setattr__(self, "weights", read_only(weights))

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
            source = as_columns(source)
        weight_column = weights if isinstance(weights, str) else None
        chosen = None if names is None else as_names(names, label)
        table = as_source(source, label)
        keys = column_keys(table, label)

        if keys is None:
            if weight_column is not None:
                raise InputError(
                    f"weights={weights!r} names a column, but the columns of {label} have no names: "
                    f"give the weights as an array, one per event"
                )
            features = as_table(table, label)
            chosen = default_names(features.shape[1]) if chosen is None else chosen
        else:
            if chosen is None:
                chosen = tuple(name for name in keys if name != weight_column)
            if weight_column in chosen:
                raise InputError(
                    f"column {weight_column!r} of {label} is asked for as a feature and as the weights: "
                    f"take it out of one of the two"
                )
            check_known(chosen if weight_column is None else (*chosen, weight_column), keys, label)
            features = stack({name: table[keys[name]] for name in chosen}, label)

        if weights is None:
            return cls(features, chosen, label=label)
        what = f"the weights of {label}"
        if weight_column is not None and keys is not None:
            what, weights = f"{what} (column {weight_column!r})", table[keys[weight_column]]
        return cls(features, chosen, as_weights(weights, len(features), what), label=label)

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        names = ", ".join(self.names[:LISTED]) + (", ..." if self.dimensions > LISTED else "")
        size = f"{count(len(self), 'event')}, {count(self.dimensions, 'feature')}"
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

    @property
    def worth(self) -> float:
        """(sum w)^2 / sum w^2: how many events without weights would fluctuate as little (Kish)."""
        if self.weights is None:
            return float(len(self))
        w = self.weights / np.abs(self.weights).max()  # squares of very small or large weights would not fit
        return float(w.sum() ** 2 / (w @ w))

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
                f"these rows cannot be taken from a sample of {count(len(self), 'event')} ({error}): "
                f"give positions below {len(self)}, or a mask of that length"
            ) from None
        return Sample(features, self.names, weights, label="the selection of rows")


def as_columns(sample: Sample) -> dict[str, Array] | Array:
    """Return the features as somebody else would hand them over: by name, or as an array if they have no names."""
    return dict(zip(sample.names, sample.features.T, strict=True)) if sample.named else sample.features


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
            f"{data_label} has {count(data.dimensions, 'column')} "
            f"({listed(data.names) if data.named else 'without names'}), {reference_label} has {len(names)} "
            f"({listed(names) if reference_named else 'without names'}): give both the same features"
        )
    missing = [name for name in names if name not in data.names]
    extra = [name for name in data.names if name not in names]
    raise InputError(
        f"{data_label} does not have the columns of {reference_label} "
        f"(missing: {with_nearest(missing, extra) or 'none'}; extra: {listed(extra) or 'none'}): "
        f"rename them, or select the same features of both with names=[...]"
    )


def check_varies(sample: Sample, label: str) -> None:
    """Raise `InputError` if a column of `sample` has the same value in every row."""
    if len(sample) == 1:
        raise InputError(f"{label} has one event only, in which no feature can vary: give more events")
    lowest, highest = sample.features.min(axis=0), sample.features.max(axis=0)
    constant = [f"column {sample.names[j]!r} (always {lowest[j]:g})" for j in np.flatnonzero(lowest == highest)]
    if constant:
        raise InputError(f"{label} is constant in {joined(constant)}: drop it from the features")
