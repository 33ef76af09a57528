"""ROOT files: TTrees and RNTuples, read with uproot in chunks that end where the file's own blocks end.

A branch may have one number per event, or a list of them, which formulas take: arrays with a counter and vectors of
numbers in TTrees, collections in RNTuples, whose records are reached by names with dots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.text import listed, with_nearest
from lanner.errors import InputError
from lanner.events.columns import NUMBERS, array_problem, as_names
from lanner.events.io.list_chunks import growing_chunks
from lanner.events.io.table import Chunk, Table
from lanner.events.lists import Lists

_TREES = ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple", "ROOT::Experimental::RNTuple")


@contextmanager
def open_table(path: Path, inside: str | None) -> Iterator[Table]:
    """Open a tree of a ROOT file, the only one if none is named."""
    import uproot

    # Plain file reads: fsspec gives '::' in a name a meaning, and a memory map counts as our memory.
    # No cache, because each chunk is read once.
    with uproot.open({str(path.absolute()): None}, handler=uproot.MultithreadedFileSource, array_cache=None) as file:
        name = _tree_name(file, path, inside)
        tree = file[name]
        _check_footer(tree, path)
        fields = dict(tree.items())
        kinds = _forms(tree) if hasattr(tree, "cluster_summaries") else None
        what = f"{path}:{name}"

        def kind(column: str) -> _Kind:
            return _branch_kind(fields[column]) if kinds is None else kinds.get(column, _Kind("holds no numbers"))

        def read(column: str, start: int, stop: int) -> Any:
            # By branch and never by expression: uproot would evaluate a name that is no branch as Python.
            library = "ak" if kind(column).lists else "np"
            array = fields[column].array(entry_start=start, entry_stop=stop, library=library)
            if library == "ak":
                return Lists.of(array, f"column {column!r} of {what}")
            problem = array_problem(array.dtype, array.shape)
            if problem is not None:
                raise InputError(f"column {column!r} of {what} {problem}, but one number per event is needed")
            return array

        def chunks(names: Sequence[str], size: int) -> Iterator[Chunk]:
            width = 0 if any(kind(name).lists for name in names) else len(names)
            return growing_chunks(
                lambda start, stop: {name: read(name, start, stop) for name in names},
                _offsets(tree, fields[names[0]]),
                int(tree.num_entries),
                size,
                width,
            )

        def first(name: str) -> Any:
            return fields[name].array(entry_stop=1, library="ak").to_list()[0]

        yield Table(
            what,
            as_names(fields, what),
            lambda column: kind(column).problem,
            chunks,
            first=first,
            lists=lambda column: kind(column).lists,
        )


def _check_footer(tree: Any, path: Path) -> None:
    """Refuse an RNTuple whose footer is damaged, before uproot reads as many entries from it as it claims to have."""
    if not hasattr(tree, "_prepare_footer_chunk"):  # of a TTree, or of another version of uproot
        return
    import xxhash

    tree._prepare_footer_chunk()
    content = bytes(tree._footer_chunk.raw_data)
    if int.from_bytes(content[-8:], "little") != xxhash.xxh3_64_intdigest(content[:-8]):
        raise InputError(f"{path} is damaged: the footer of its RNTuple does not fit its checksum")


def _tree_name(file: Any, path: Path, inside: str | None) -> str:
    kinds: dict[str, str] = dict(file.iterclassnames(recursive=True, cycle=False))
    trees = [name for name, kind in kinds.items() if kind in _TREES]
    if inside is None:
        if len(trees) == 1:
            return trees[0]
        if not trees:
            raise InputError(f"{path} has no tree, only {listed(kinds) or 'nothing at all'}: give another file")
        raise InputError(f"{path} has more than one tree: name one of {listed(trees)}, as in '{path}:{trees[0]}'")
    name = inside.strip("/").partition(";")[0]  # 'events;2' is an older copy of 'events'
    if name in trees:
        return inside.strip("/")
    why = f"{name!r} is a {kinds[name]}" if name in kinds else f"there is no tree {with_nearest([name], trees)}"
    raise InputError(f"{path}: {why}; choose from its trees: {listed(trees) or 'none'}")


@dataclass(frozen=True)
class _Kind:
    """Why a branch is not one number per event, if so, and whether it has a list of numbers."""

    problem: str | None = None
    lists: bool = False


_PLAIN = _Kind()


def _branch_kind(branch: Any) -> _Kind:
    """Say what a branch of a TTree holds."""
    interpretation = branch.interpretation
    kind = type(interpretation).__name__
    if kind == "AsJagged":
        inner = _numbers(interpretation.content)
        if inner is None:
            return _Kind(f"holds lists of other things than numbers ({branch.typename})")
        if inner.shape:
            return _Kind(f"holds lists within lists ({branch.typename})")
        return _Kind(f"is jagged, a list per event ({branch.typename})", lists=True)
    dtype = _numbers(interpretation)
    if dtype is not None:
        if dtype.shape == ():
            return _PLAIN
        return _Kind(f"holds {dtype.shape} numbers per event ({branch.typename})", lists=len(dtype.shape) == 1)
    if "vector<vector" in str(branch.typename).replace("std::", ""):
        return _Kind(f"holds lists within lists ({branch.typename})")
    return _Kind("holds text" if kind == "AsStrings" else f"holds objects ({branch.typename or kind})")


def _numbers(interpretation: Any) -> np.dtype[Any] | None:
    """Return the type of what is stored as plain numbers, with its shape; None if it is anything else."""
    dtype = getattr(interpretation, "to_dtype", None)
    if type(interpretation).__name__ != "AsDtype" or not isinstance(dtype, np.dtype):
        return None
    return dtype if dtype.base.kind in NUMBERS else None


def _forms(ntuple: Any) -> Mapping[str, _Kind]:
    """Say what each field of an RNTuple holds."""
    import awkward as ak

    found: dict[str, _Kind] = {}
    options = ak.forms.IndexedOptionForm, ak.forms.ByteMaskedForm, ak.forms.BitMaskedForm  # of what may be missing

    def walk(form: Any, prefix: str, levels: int) -> None:
        for field, content in zip(form.fields, form.contents, strict=True):
            name, inner, deep = f"{prefix}{field}", content, levels
            while True:
                if isinstance(inner, ak.forms.ListOffsetForm | ak.forms.RegularForm):
                    if inner.parameters.get("__array__") == "string":
                        break
                    deep += 1
                elif not isinstance(inner, options):
                    break
                inner = inner.content
            if isinstance(inner, ak.forms.RecordForm):
                found[name] = _Kind(f"holds {'lists of ' if deep else ''}records")
                walk(inner, f"{name}.", deep)
            else:
                found[name] = _field_kind(inner, deep)

    form = ntuple.to_akform()
    walk(form[0] if isinstance(form, tuple) else form, "", 0)
    return found


def _field_kind(form: Any, levels: int) -> _Kind:
    """Say what a field holds within so many levels of lists."""
    if type(form).__name__ != "NumpyForm":
        text = form.parameters.get("__array__") == "string"
        what = "text" if text else f"{form.type}"
        return _Kind(f"holds {'lists of ' if levels else ''}{what}")
    levels += len(form.inner_shape)
    if levels > 1:
        return _Kind(f"holds lists within lists ({form.type})")
    if np.dtype(form.primitive).kind not in NUMBERS:
        return _Kind(f"holds {form.type}")
    return _Kind(f"is jagged, a list per event ({form.type})", lists=True) if levels else _PLAIN


def _offsets(tree: Any, branch: Any) -> Sequence[int]:
    """Return the rows at which the file's own blocks begin: only whole blocks can be decompressed."""
    if hasattr(tree, "cluster_summaries"):
        return [int(cluster.num_first_entry) for cluster in tree.cluster_summaries]
    return [int(offset) for offset in branch.entry_offsets]
