"""HDF5 files: a dataset per column at the root or in a group, or one compound dataset, read in slices.

Only what lies in the file itself is read: see `hdf5_storage`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from lanner._util.text import listed, with_nearest
from lanner.errors import InputError
from lanner.events.columns import array_problem, as_names
from lanner.events.io.hdf5_storage import Elsewhere, check_stored, member_of
from lanner.events.io.table import Chunk, Table, by_columns, table_by_rows
from lanner.events.sample import default_names


@contextmanager
def open_table(path: Path, inside: str | None) -> Iterator[Table]:
    """Open a group or a dataset of an HDF5 file; the root, or what alone is in it, if none is named."""
    import h5py

    with h5py.File(path, "r") as file:
        node = _descend(_find(file, path, inside), path)
        what = _what(path, node)
        if _is_group(node):
            yield _group(node, what)
            return
        check_stored(node, what)
        yield _compound(node, what) if node.dtype.names else _array(node, what)


def _what(path: Path, node: Any) -> str:
    """What messages call a group or dataset."""
    return f"{path}:{node.name.strip('/')}".rstrip(":")


def _is_group(member: Any) -> bool:
    return hasattr(member, "keys")


def _is_column(member: Any) -> bool:
    if isinstance(member, Elsewhere):
        return True
    return not _is_group(member) and member.ndim == 1 and member.dtype.names is None


def _members(group: Any) -> dict[str, Any]:
    """Return the groups and datasets of a group, without links that lead nowhere."""
    found = ((str(name), member_of(group, name)) for name in group)
    return {
        name: member
        for name, member in found
        if _is_group(member) or isinstance(member, Elsewhere) or hasattr(member, "ndim")
    }


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
        if isinstance(node, Elsewhere):
            check_stored(node, f"{path}:{inside}")
    return node


def _descend(node: Any, path: Path) -> Any:
    """Go down from a group without columns into what alone is in it."""
    passed = [node]
    while _is_group(node):
        members = _members(node)
        if "pandas_type" in node.attrs:
            _check_pandas(node, path)
            members = {"table": members["table"]}
        if any(map(_is_column, members.values())):
            break
        if len(members) != 1:
            example = f"{path}:{next(iter(members), '')}"
            raise InputError(
                f"{_what(path, node)} has no columns of its own: name a group or table in it, as in {example!r}; "
                f"there are {listed(members) or 'none'}"
            )
        node = next(iter(members.values()))
        if node in passed:
            raise InputError(
                f"{_what(path, passed[0])} holds no columns: the only group in {node.name} is a link back to it; name "
                f"a group or dataset with events, or give another file"
            )
        passed.append(node)
    return node


def _check_pandas(group: Any, path: Path) -> None:
    if "table" not in group:
        raise InputError(
            f"{_what(path, group)} was written by pandas in its 'fixed' format, which only pandas reads: "
            f"write it with to_parquet, or with to_hdf(..., format='table', data_columns=True)"
        )


def _group(group: Any, what: str) -> Table:
    """Make a table of a group in which each dataset is a column."""
    datasets = {name: member for name, member in _members(group).items() if not _is_group(member)}

    def problem(name: str) -> str | None:
        # An error and no reason to leave the column out: it is missed, whether it was named or not.
        check_stored(datasets[name], f"column {name!r} of {what}")
        return array_problem(datasets[name].dtype, datasets[name].shape or ())

    def chunks(names: Sequence[str], size: int) -> Iterator[Chunk]:
        return by_columns(datasets.__getitem__, names, size, what)

    def first(name: str) -> Any:
        return datasets[name][0] if datasets[name].shape else datasets[name][()]

    return Table(what, as_names(datasets, what), problem, chunks, first=first)


def _compound(dataset: Any, what: str) -> Table:
    """Make a table of a dataset of records."""
    hidden = frozenset({"index"} if "pandas_type" in dataset.parent.attrs else ())
    names = as_names(dataset.dtype.names, what)
    table = table_by_rows(what, names, dataset, lambda chosen, rows: dataset.fields(list(chosen))[rows], hidden=hidden)

    def problem(name: str) -> str | None:
        why = table.problem(name)
        packed = why is not None and name.startswith("values_block_")
        return f"{why} (pandas packs columns so, unless to_hdf is given data_columns=True)" if packed else why

    return replace(table, problem=problem)


def _array(dataset: Any, what: str) -> Table:
    """Make a table of a dataset of numbers: of one dimension a column, of two a table without names."""
    if dataset.ndim not in (1, 2) or array_problem(dataset.dtype, dataset.shape[:1]):
        raise InputError(
            f"{what} has shape {dataset.shape} and type {dataset.dtype}, but a table of numbers (events, features) "
            f"is needed: name a group or another dataset"
        )
    named = dataset.ndim == 1
    names = (dataset.name.rpartition("/")[2],) if named else default_names(dataset.shape[1])
    return table_by_rows(what, names, dataset, lambda chosen, rows: dataset[rows], named=named)
