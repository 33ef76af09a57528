"""Parquet files, read with pyarrow in batches that may be smaller than a row group.

Lists of numbers are for formulas, and fields of records, alone or in lists, are columns with names such as Muon.pt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.events.columns import as_names
from lanner.events.io.list_chunks import pieces
from lanner.events.io.table import COUNTED, Chunk, Table, refuse_inside, rows_per_chunk
from lanner.events.lists import Lists


@contextmanager
def open_table(path: Path, inside: str | None, groups: Sequence[int] | None = None) -> Iterator[Table]:
    """Open a Parquet file, or some of its row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    refuse_inside(path, inside, "Parquet")
    # As a file, because a name with a colon would be taken for an address; with a buffer, because otherwise
    # a whole row group of compressed bytes is held for every column.
    with pa.OSFile(str(path)) as stream, pq.ParquetFile(stream, buffer_size=2**20, pre_buffer=False) as file:
        schema = file.schema_arrow
        leaves = {leaf.name: leaf for leaf in _leaves(schema, file) if leaf.path[1:] or leaf.levels}
        inner = [name for name in leaves if name not in schema.names]

        def problem(name: str) -> str | None:
            if name in schema.names:
                return type_problem(schema.field(name).type)
            leaf = leaves[name]
            return type_problem(leaf.type) if not leaf.levels else _list_problem(leaf.type, leaf.levels)

        def width(name: str) -> float:
            return 1 + leaves[name].values if name in leaves else 1

        def column(batch: Any, name: str) -> Any:
            if name not in leaves:
                return as_numpy(batch.column(name))
            return _inner(batch.column(leaves[name].path[0]), leaves[name], f"column {name!r} of {path}")

        def chunks(names: Sequence[str], size: int) -> Iterator[Chunk]:
            stored = [leaves[name].stored if name in leaves else name for name in names]
            rows = rows_per_chunk(size, sum(map(width, names)))
            for batch in file.iter_batches(batch_size=rows, columns=stored, row_groups=groups):
                chunk = {name: column(batch, name) for name in names}
                yield from pieces(chunk, size) if any(name in leaves for name in names) else [chunk]

        yield Table(
            str(path),
            as_names((*schema.names, *inner), str(path)),
            problem,
            chunks,
            hidden=_index(schema),
            first=lambda name: next(file.iter_batches(batch_size=1, columns=[name])).column(name)[0].as_py(),
            lists=lambda name: name in leaves and leaves[name].levels == 1 and type_problem(leaves[name].type) is None,
            inner=frozenset(inner),
        )


@dataclass(frozen=True)
class _Leaf:
    """Numbers within lists or records: Muon.pt is the path ("Muon", "pt"), within one level of lists."""

    path: tuple[str, ...]
    levels: int  # of lists around it
    type: Any
    stored: str = ""  # what the file calls it
    values: float = 1.0  # per event, in the row group that has most

    @property
    def name(self) -> str:
        """What formulas call it."""
        return ".".join(self.path)


def _leaves(schema: Any, file: Any) -> list[_Leaf]:
    """Return all that a file stores apart, in its own order; nothing if that cannot be told."""
    found = [leaf for name in schema.names for leaf in _leaves_of(schema.field(name).type, (name,), 0)]
    if len(found) != file.metadata.num_columns:
        return []
    stored = [file.metadata.schema.column(j).path for j in range(len(found))]
    return [
        replace(leaf, stored=stored[j], values=_values(file, j, stored[j]) if leaf.levels else 1.0)
        for j, leaf in enumerate(found)
    ]


def _values(file: Any, j: int, stored: str) -> float:
    """Values of a column per event, in the row group that has most."""
    found = 1.0
    for g in range(file.num_row_groups):
        # Reading a row refuses damaged statistics in words; asking for the metadata first would end the process.
        next(file.iter_batches(batch_size=1, row_groups=[g], columns=[stored]), None)
        group = file.metadata.row_group(g)
        found = max(found, group.column(j).num_values / max(1, group.num_rows))
    return found


def _leaves_of(kind: Any, path: tuple[str, ...], levels: int) -> Iterator[_Leaf]:
    from pyarrow import types

    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        yield from _leaves_of(kind.value_type, path, levels + 1)
    elif types.is_struct(kind):
        for child in (kind.field(i) for i in range(kind.num_fields)):
            yield from _leaves_of(child.type, (*path, child.name), levels)
    else:
        yield _Leaf(path, levels, kind)


def _inner(column: Any, leaf: _Leaf, what: str) -> Any:
    """Return the numbers of a leaf, as lists where it is within some."""
    import awkward as ak

    array = ak.from_arrow(column)
    for name in leaf.path[1:]:
        array = array[name]
    if leaf.levels:
        return Lists.of(array, what)
    filled = np.ma.filled(ak.to_numpy(ak.values_astype(array, np.float64)), np.nan)
    return np.asarray(filled, dtype=np.float64)


def rows_of_groups(path: Path) -> list[int]:
    """How many rows each row group of a file has."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pa.OSFile(str(path)) as stream:
        found = pq.read_metadata(stream)
        return [found.row_group(i).num_rows for i in range(found.num_row_groups)]


def _index(schema: Any) -> frozenset[str]:
    """Return the columns that were the index of a data frame; a note about them that cannot be read is no harm."""
    found: Any = None
    with suppress(Exception):  # anybody can write anything into it
        found = schema.pandas_metadata["index_columns"]
    named = [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
    return frozenset([*named, *filter(COUNTED.fullmatch, schema.names)])


def type_problem(kind: Any) -> str | None:
    """Say why values of an Arrow type are not one number per event."""
    from pyarrow import types

    if types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind):
        return None
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _list_problem(kind.value_type, 1)
    if types.is_struct(kind):
        return "holds records"
    return "holds text" if types.is_string(kind) or types.is_large_string(kind) else f"holds values of type {kind}"


def _list_problem(kind: Any, levels: int) -> str:
    """Say what lists of an Arrow type are, where one number per event is needed."""
    from pyarrow import types

    if levels > 1 or types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return f"holds lists within lists ({kind})"
    problem = type_problem(kind)
    return f"is jagged, a list per event ({kind})" if problem is None else problem.replace("holds ", "holds lists of ")


def as_numpy(column: Any) -> NDArray[Any]:
    """Return an Arrow array as numbers, or bool, with missing values as NaN."""
    import pyarrow as pa

    # Not to_numpy(): it imports pandas, if there is one, which takes a second and in which a Ctrl-C is lost.
    if column.null_count:
        column = column.cast(pa.float64(), safe=False).fill_null(np.nan)
    is_bool = pa.types.is_boolean(column.type)
    if is_bool:
        column = column.cast(pa.uint8())
    kind = np.dtype(column.type.to_pandas_dtype())  # the name of a method: it knows NumPy's types
    if len(column) == 0:
        return np.empty(0, dtype=bool if is_bool else kind)
    array = np.frombuffer(column.buffers()[1], dtype=kind, count=len(column), offset=column.offset * kind.itemsize)
    return array.astype(bool) if is_bool else array
