"""Tables in memory: arrays, named columns, data frames, a `Sample`, awkward arrays with a list per event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

from numpy.typing import NDArray

from lanner.events.columns import array_problem, as_array, as_source, as_table, check_types, column_keys
from lanner.events.io.list_chunks import pieces
from lanner.events.io.table import Chunk, Table, by_columns
from lanner.events.lists import Lists
from lanner.events.sample import Sample, as_columns, default_names

WEIGHTS = "\0weights"  # weights that were given beside a table are its column of this name, which no other has


def table_of(source: Any, weights: Any, label: str) -> Table:
    """Make a table of an array, named columns, a data frame or a `Sample`, with weights beside it or none."""
    if isinstance(source, Sample):
        source = as_columns(source)
    if _is_awkward(source) and source.fields:
        source = {name: source[name] for name in source.fields}
    table = as_source(source, label)
    keys = column_keys(table, label)
    arrays: Mapping[str, NDArray[Any] | Lists]
    if keys is None:
        array = as_table(table, label)
        arrays = dict(zip(default_names(array.shape[1]), array.T, strict=True))
    else:
        arrays = {name: _column(table[key], f"column {name!r} of {label}") for name, key in keys.items()}
    names = tuple(arrays)
    if weights is not None:
        arrays = {**arrays, WEIGHTS: as_array(weights, f"the weights of {label}")}

    def problem(name: str) -> str | None:
        array = arrays[name]
        if isinstance(array, Lists):
            return f"is jagged, a list per event ({array.dtype})"
        if array.ndim == 1 and array.dtype.kind == "O" and any(isinstance(value, Real) for value in array):
            check_types({name: array}, label)  # numbers with something else among them: name it
        return array_problem(array.dtype, array.shape)

    def first(name: str) -> Any:
        array = arrays[name]
        return array[:1].content if isinstance(array, Lists) else array[0]

    def chunks(chosen: Sequence[str], size: int) -> Iterator[Chunk]:
        for chunk in by_columns(arrays.__getitem__, chosen, size, label):
            yield from pieces(chunk, size)

    return Table(
        label,
        names,
        problem,
        chunks,
        named=keys is not None,
        first=first,
        lists=lambda name: isinstance(arrays[name], Lists),
    )


def _is_awkward(source: Any) -> bool:
    return type(source).__module__.partition(".")[0] == "awkward"  # not imported for those who have none


def _column(column: Any, what: str) -> NDArray[Any] | Lists:
    if _is_awkward(column) and column.ndim > 1:
        return Lists.of(column, what)
    return as_array(column, what)
