"""`Sample`: events as rows of named numbers, with weights or without, checked once when it is made.

All other code relies on what is checked here: float64, C-contiguous, finite, read-only, at least one event and one
feature, distinct names, a positive total weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lanner._util.text import LISTED, count, joined, listed
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
from lanner.events.units import constant_columns
from lanner.typing import Array


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Sample:
    """Events (rows), their features (named columns) and, for simulated events, their weights.

    Usually made with `Sample.of`, which takes more kinds of tables. The arrays are read-only views: nothing is
    copied unless the type or the memory layout has to change, and the caller's own arrays stay writeable.

    Parameters
    ----------
    features : array_like of shape (events, features)
        One row per event, finite numbers in any units. Kept as a C-contiguous array of float64.
    names : iterable of str
        One name per feature, all different.
    weights : array_like of shape (events,) or None, default None
        One weight per event. Weights may be negative, their sum has to be positive. None gives every event the
        weight 1.
    label : str, default "sample"
        What error messages call the sample. It is not kept.
    toy_weights : array_like of shape (events,) or None, default None
        What a toy's data are drawn by where single weights are negative: their local mean, none of them negative. A
        search learns it where it is None.

    Raises
    ------
    InputError
        If the table has no events or no features, values that are not finite real numbers, or names or weights that
        do not fit it.

    See Also
    --------
    Sample.of : Make a sample of an array, a data frame, named columns or another sample.
    read_sample : Read a sample from files, with a selection and formulas.

    Examples
    --------
    >>> import lanner
    >>> lanner.Sample([[1.0, 2.0], [3.0, 4.0]], ("pt", "eta"))
    Sample(2 events, 2 features: pt, eta; unweighted)
    """

    features: Array
    names: tuple[str, ...]
    weights: Array | None = None
    label: InitVar[str] = field(default="sample", kw_only=True)
    toy_weights: Array | None = field(default=None, kw_only=True)

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
        if self.toy_weights is not None:
            object.__setattr__(self, "toy_weights", read_only(self._checked_toy_weights(self.toy_weights, label)))

    @classmethod
    def of(
        cls,
        source: Any,
        *,
        names: Iterable[str] | str | None = None,
        weights: ArrayLike | str | None = None,
        label: str = "sample",
    ) -> Sample:
        """Make a sample of an array, a list, named columns, a data frame or another sample.

        Parameters
        ----------
        source : array_like, dict, data frame, table or Sample
            An array (events, features) or (events,), a list of rows, a structured array, a mapping of names to
            columns, a pandas or polars data frame, a pyarrow table, or a `Sample`.
        names : str or iterable of str or None, default None
            Which columns to take, in this order, if the source names its columns; otherwise the names to give
            them. None takes all columns, and calls them ``x0, x1, ...`` if they have no names.
        weights : array_like or str or None, default None
            One weight per event, or the name of the column that holds them, which is then not a feature. None means
            no weights; a `Sample` keeps its own.
        label : str, default "sample"
            What error messages call the sample.

        Returns
        -------
        Sample
            The events. A `Sample` is returned as it is if neither names nor weights are given.

        Raises
        ------
        InputError
            If a column is missing, or for the reasons that `Sample` itself has.

        See Also
        --------
        read_sample : Take a selection, formulas and files as well.

        Examples
        --------
        >>> import lanner
        >>> lanner.Sample.of({"pt": [40, 50], "w": [0.5, 2.0]}, weights="w")
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
        return partial(type(self), toy_weights=self.toy_weights), (self.features, self.names, self.weights)

    def _checked_toy_weights(self, toy_weights: Array, label: str) -> Array:
        found = as_weights(toy_weights, len(self), f"the toy weights of {label}")
        if self.weights is None or (found < 0).any():
            raise InputError(
                f"toy weights of {label} stand in for weights of which some are negative, and none of them may be: "
                "give weights as well, and the local mean of these as toy weights"
            )
        return found

    @property
    def draws_by(self) -> Array | None:
        """What a toy's data are drawn by; None where events have no weights.

        Returns
        -------
        numpy.ndarray or None
            The toy weights if there are any, and the weights otherwise.

        Examples
        --------
        >>> Sample.of([1.0, 2.0], weights=[0.5, 2.0]).draws_by.tolist()
        [0.5, 2.0]
        """
        return self.weights if self.toy_weights is None else self.toy_weights

    @property
    def dimensions(self) -> int:
        """Number of features.

        Returns
        -------
        int
            The number of columns, weights not counted.

        Examples
        --------
        >>> Sample.of([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).dimensions
        2
        """
        return int(self.features.shape[1])

    @property
    def named(self) -> bool:
        """Whether the columns have names of their own, not the default ``x0, x1, ...``.

        Returns
        -------
        bool
            False for the default names, in which case `match_columns` matches columns by position.

        Examples
        --------
        >>> Sample.of([1.0, 2.0]).named, Sample.of({"pt": [1.0, 2.0]}).named
        (False, True)
        """
        return self.names != default_names(self.dimensions)

    @property
    def total_weight(self) -> float:
        """Sum of the weights.

        Returns
        -------
        float
            The sum; without weights, the number of events.

        Examples
        --------
        >>> Sample.of([1.0, 2.0], weights=[0.5, 2.0]).total_weight, Sample.of([1.0, 2.0]).total_weight
        (2.5, 2.0)
        """
        return float(len(self)) if self.weights is None else float(self.weights.sum())

    @property
    def worth(self) -> float:
        """Effective number of events, after Kish: (sum w)^2 / sum w^2.

        So many events without weights fluctuate, relative to their number, as much as these do.

        Returns
        -------
        float
            The effective number; without weights, the number of events.

        Examples
        --------
        >>> Sample.of([1.0, 2.0, 3.0], weights=[1.0, 1.0, 2.0]).worth
        2.6666666666666665
        """
        if self.weights is None:
            return float(len(self))
        w = self.weights / np.abs(self.weights).max()  # squares of very small or large weights would not fit
        return float(w.sum() ** 2 / (w @ w))

    def take(self, rows: slice | Sequence[int] | NDArray[np.integer[Any]] | NDArray[np.bool_]) -> Sample:
        """Return the sample of some of the rows.

        Parameters
        ----------
        rows : slice, sequence of int, or array of int or bool
            Positions in the order wanted, a mask with one condition per event, or a slice.

        Returns
        -------
        Sample
            These events with their weights and names. A slice of neighbouring rows is not copied.

        Raises
        ------
        InputError
            If a position is not there, a mask has another length, no row is left, or the weights of these rows do
            not have a positive sum.

        Examples
        --------
        >>> Sample.of([1.0, 2.0, 3.0]).take([2, 0]).features.ravel().tolist()
        [3.0, 1.0]
        """
        if not isinstance(rows, slice):
            # An empty list is an array of floats to numpy, which it does not take as positions.
            rows = np.atleast_1d(rows) if np.size(rows) else np.arange(0)
        try:
            features = self.features[rows]
            weights = None if self.weights is None else self.weights[rows]
            toy_weights = None if self.toy_weights is None else self.toy_weights[rows]
        except IndexError as error:
            raise InputError(
                f"these rows cannot be taken from a sample of {count(len(self), 'event')} ({error}): "
                f"give positions below {len(self)}, or a mask of that length"
            ) from None
        return Sample(features, self.names, weights, label="the selection of rows", toy_weights=toy_weights)


def as_columns(sample: Sample) -> dict[str, Array] | Array:
    """Return the features as somebody else would hand them over: by name, or as an array if they have no names."""
    return dict(zip(sample.names, sample.features.T, strict=True)) if sample.named else sample.features


def default_names(dimensions: int) -> tuple[str, ...]:
    """Return the names of columns that came without any: ``x0, x1, ...``."""
    return tuple(f"x{column}" for column in range(dimensions))


def check_varies(sample: Sample, label: str, *, everywhere: bool = True) -> None:
    """Raise `InputError` if a column of `sample`, or every one of them, has the same value in every row."""
    if len(sample) == 1:
        raise InputError(f"{label} has one event only, in which no feature can vary: give more events")
    same = constant_columns(sample.features)
    if len(same) and (everywhere or len(same) == sample.dimensions):
        constant = [f"column {sample.names[j]!r} (always {sample.features.min(axis=0)[j]:g})" for j in same]
        remedy = "drop it from the features" if everywhere else "give a feature that varies"
        raise InputError(f"{label} is constant in {joined(constant)}: {remedy}")
