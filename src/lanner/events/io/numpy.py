"""numpy's files: `.npy` with a table or records, `.npz` with an array per column. Never unpickled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import megabytes
from lanner._util.text import listed
from lanner.errors import InputError, MemoryBudgetError
from lanner.events.columns import array_problem, as_names, check_known
from lanner.events.io.memory import table_of
from lanner.events.io.table import SHARE, Chunk, Table, by_columns, refuse_inside, table_by_rows
from lanner.events.sample import default_names

_SMALL = 2**20  # bytes of an array that is read for the sake of an example


@contextmanager
def open_table(path: Path, inside: str | None) -> Iterator[Table]:
    """Open a `.npy` or `.npz` file."""
    if path.suffix.lower() == ".npy":
        refuse_inside(path, inside, "a single array")
        yield _single(path)
        return
    with path.open("rb") as stream:  # here, because numpy leaves open what it cannot read
        archive = np.load(stream, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise InputError(f"{path} is no npz archive but a single array: rename it to .npy")
        with archive:
            yield _archive(archive, path, inside)


def _single(path: Path) -> Table:
    array = _mapped(path)
    what = str(path)
    records = array.dtype.names is not None
    if records and array.ndim != 1:
        raise InputError(f"{what} has records of shape {array.shape}, but one record per event is needed: flatten it")
    if array.ndim not in (1, 2):
        raise InputError(f"{what} has shape {array.shape}, but a table (events, features) is needed: reshape it")
    names = default_names(1 if array.ndim == 1 else array.shape[1])
    if records:
        names = as_names(array.dtype.names or (), what)
    # Mapped anew for each chunk: pages that were read count as our memory until they are unmapped.
    return table_by_rows(what, names, array, lambda chosen, rows: _mapped(path)[rows], named=records)


def _mapped(path: Path) -> NDArray[Any]:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray):
        array.close()
        raise InputError(f"{path} is an archive of arrays: rename it to .npz")
    return array


def _archive(archive: Any, path: Path, inside: str | None) -> Table:
    headers = {name: _header(archive, name) for name in archive.files}
    if inside is not None:
        check_known([inside], headers, f"the archive {path}")
        return _table_in(archive, path, inside)
    if not any(len(shape) == 1 and dtype.names is None for shape, dtype in headers.values()):
        if len(headers) == 1:
            return _table_in(archive, path, next(iter(headers)))
        raise InputError(
            f"{path} has no arrays of one dimension to be columns: name the array that is the table, "
            f"one of {listed(headers) or 'none'}, as in '{path}:{next(iter(headers), 'events')}'"
        )

    def problem(name: str) -> str | None:
        shape, dtype = headers[name]
        return array_problem(dtype, shape)

    def chunks(chosen: Sequence[str], size: int) -> Iterator[Chunk]:
        # Arrays come out of the archive whole, so they have to fit together, and are cut afterwards.
        needed = sum(int(np.prod(headers[name][0], dtype=float)) * headers[name][1].itemsize for name in chosen)
        if needed > SHARE * size:
            raise MemoryBudgetError(
                f"{len(chosen)} arrays of {path} need {megabytes(needed)} at once, but the memory budget is "
                f"{megabytes(SHARE * size)}: raise it, or write the events to Parquet or ROOT, read piece by piece"
            )
        return by_columns(archive.__getitem__, chosen, size, str(path))

    def first(name: str) -> Any:
        shape, dtype = headers[name]
        small = np.prod(shape, dtype=float) * dtype.itemsize <= _SMALL
        return archive[name][0] if small else dtype

    return Table(str(path), as_names(headers, str(path)), problem, chunks, first=first)


def _table_in(archive: Any, path: Path, name: str) -> Table:
    return table_of(archive[name], None, f"{path}:{name}")


def _header(archive: Any, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of an array without reading it."""
    member = name if name in archive.zip.namelist() else f"{name}.npy"
    with archive.zip.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
    return shape, dtype
