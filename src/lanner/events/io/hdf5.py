"""HDF5 files: a dataset per column at the root or in a group, or one compound dataset, read in slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lanner._util.text import listed, with_nearest
from lanner.errors import InputError
from lanner.events.columns import as_names
from lanner.events.io.table import Chunk, Table, array_problem, guarded, reading, rows_per_chunk, sliced, steps
from lanner.events.sample import default_names


@contextmanager
def open_table(path: Path, inside: str | None) -> Iterator[Table]:
    """Open a group or a dataset of an HDF5 file; the root, or what alone is in it, if none is named."""
    import h5py

    with reading(path, "HDF5"):
        file = h5py.File(path, "r")
    with file:
        with reading(path, "HDF5"):
            node = _descend(_find(file, path, inside), path)
            what = f"{path}:{node.name.strip('/')}".rstrip(":")
            make = _group if _is_group(node) else _compound if node.dtype.names else _array
            table = make(node, path, what)
        yield table


def _is_group(member: Any) -> bool:
    return hasattr(member, "keys")


def _is_column(member: Any) -> bool:
    return not _is_group(member) and member.ndim == 1 and member.dtype.names is None


def _members(group: Any) -> dict[str, Any]:
    """Return the groups and datasets of a group, without links that lead nowhere."""
    found = ((str(name), group.get(name)) for name in group)
    return {name: member for name, member in found if _is_group(member) or hasattr(member, "ndim")}


def _find(file: Any, path: Path, inside: str | None) -> Any:
    node = file
    for part in filter(None, (inside or "").split("/")):
        members = _members(node) if _is_group(node) else {}
        if part not in members:
            raise InputError(
                f"{path} has no group or dataset {inside!r}: in {node.name} there is no "
                f"{with_nearest([part], members)}; choose from {listed(members) or 'nothing'}"
            )
        node = members[part]
    return node


def _descend(node: Any, path: Path) -> Any:
    """Go down from a group without columns into what alone is in it."""
    while _is_group(node):
        members = _members(node)
        if "pandas_type" in node.attrs:
            _check_pandas(node, path)
            members = {"table": members["table"]}
        if any(map(_is_column, members.values())):
            break
        if len(members) != 1:
            where = f"{path}:{node.name.strip('/')}".rstrip(":")
            example = f"{path}:{next(iter(members), '')}"
            raise InputError(
                f"{where} has no columns of its own: name a group or table in it, as in {example!r}; "
                f"there are {listed(members) or 'none'}"
            )
        node = next(iter(members.values()))
    return node


def _check_pandas(group: Any, path: Path) -> None:
    if "table" not in group:
        raise InputError(
            f"{path}:{group.name.strip('/')} was written by pandas in its 'fixed' format, which only pandas reads: "
            f"write it with to_parquet, or with to_hdf(..., format='table', data_columns=True)"
        )


def _group(group: Any, path: Path, what: str) -> Table:
    datasets = {name: member for name, member in _members(group).items() if not _is_group(member)}

    def problem(name: str) -> str | None:
        return array_problem(datasets[name].dtype, datasets[name].shape or ())

    def chunks(names: Sequence[str], size: int) -> Iterator[Chunk]:
        return guarded(sliced(datasets.__getitem__, names, size, what), path, "HDF5")

    return Table(what, as_names(datasets, what), problem, chunks)


def _compound(dataset: Any, path: Path, what: str) -> Table:
    def problem(name: str) -> str | None:
        why = array_problem(dataset.dtype[name], dataset.shape)
        packed = why is not None and name.startswith("values_block_")
        return f"{why} (pandas packs columns so, unless to_hdf is given data_columns=True)" if packed else why

    def chunks(chosen: Sequence[str], size: int) -> Iterator[Chunk]:
        # Records pass through memory whole, so a chunk has room for all of their fields.
        step = rows_per_chunk(size, max(len(chosen), dataset.dtype.itemsize // 8))
        records = (dataset.fields(list(chosen))[rows] for rows in steps(len(dataset), step))
        return guarded(({name: part[name] for name in chosen} for part in records), path, "HDF5")

    hidden = frozenset({"index"} if "pandas_type" in dataset.parent.attrs else ())
    return Table(what, as_names(dataset.dtype.names, what), problem, chunks, hidden=hidden)


def _array(dataset: Any, path: Path, what: str) -> Table:
    """Read a dataset of one dimension as a column, of two as a table without names."""
    if dataset.ndim not in (1, 2) or array_problem(dataset.dtype, dataset.shape[:1]):
        raise InputError(
            f"{what} has shape {dataset.shape} and type {dataset.dtype}, but a table of numbers (events, features) "
            f"is needed: name a group or another dataset"
        )
    named = dataset.ndim == 1
    names = (dataset.name.rpartition("/")[2],) if named else default_names(dataset.shape[1])

    def chunks(chosen: Sequence[str], size: int) -> Iterator[Chunk]:
        parts = (dataset[rows] for rows in steps(len(dataset), rows_per_chunk(size, len(names))))
        tables = (part.reshape(len(part), -1) for part in parts)
        return guarded(({name: table[:, names.index(name)] for name in chosen} for table in tables), path, "HDF5")

    return Table(what, names, lambda name: None, chunks, named=named)
