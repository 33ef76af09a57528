"""Parquet files, read with pyarrow in batches that may be smaller than a row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.events.columns import as_names
from lanner.events.io.table import Chunk, Table, refuse_inside, rows_per_chunk


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

        def chunks(names: Sequence[str], size: int) -> Iterator[Chunk]:
            rows = rows_per_chunk(size, len(names))
            for batch in file.iter_batches(batch_size=rows, columns=list(names), row_groups=groups):
                yield {name: as_numpy(batch.column(name)) for name in names}

        index = (schema.pandas_metadata or {}).get("index_columns", ())
        hidden = frozenset(name for name in index if isinstance(name, str))
        yield Table(
            str(path),
            as_names(schema.names, str(path)),
            lambda name: type_problem(schema.field(name).type),
            chunks,
            hidden=hidden,
        )


def rows_of_groups(path: Path) -> list[int]:
    """How many rows each row group of a file has."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pa.OSFile(str(path)) as stream:
        found = pq.read_metadata(stream)
        return [found.row_group(i).num_rows for i in range(found.num_row_groups)]


def type_problem(kind: Any) -> str | None:
    """Say why values of an Arrow type are not one number per event."""
    from pyarrow import types

    if types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind):
        return None
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return f"is jagged, a list per event ({kind})"
    return "holds text" if types.is_string(kind) or types.is_large_string(kind) else f"holds values of type {kind}"


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
