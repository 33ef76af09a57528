"""ROOT files: TTrees and RNTuples, read with uproot in chunks that end where the file's own blocks end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.text import listed, with_nearest
from lanner.errors import InputError
from lanner.events.columns import NUMBERS, as_names
from lanner.events.io.table import Chunk, Table, rows_per_chunk

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
        fields = dict(tree.items())
        forms = _forms(tree) if hasattr(tree, "cluster_summaries") else None
        what = f"{path}:{name}"

        def problem(column: str) -> str | None:
            return _branch_problem(fields[column]) if forms is None else forms.get(column, "holds a record")

        def chunks(names: Sequence[str], size: int) -> Iterator[Chunk]:
            edges = _edges(_offsets(tree, fields[names[0]]), int(tree.num_entries), rows_per_chunk(size, len(names)))
            for start, stop in pairwise(edges):
                # By branch and never by expression: uproot would evaluate a name that is no branch as Python.
                arrays = {name: fields[name].array(entry_start=start, entry_stop=stop, library="np") for name in names}
                yield {name: _flat(array, name, what) for name, array in arrays.items()}

        def first(name: str) -> Any:
            return fields[name].array(entry_stop=1, library="ak").to_list()[0]

        yield Table(what, as_names(fields, what), problem, chunks, first=first)


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


def _branch_problem(branch: Any) -> str | None:
    """Say why a branch of a TTree is not one number per event."""
    interpretation = branch.interpretation
    kind = type(interpretation).__name__
    dtype = getattr(interpretation, "to_dtype", None)
    if kind == "AsDtype" and isinstance(dtype, np.dtype) and dtype.shape == () and dtype.kind in NUMBERS:
        return None
    if kind == "AsDtype" and isinstance(dtype, np.dtype) and dtype.shape:
        return f"holds {dtype.shape} numbers per event ({branch.typename})"
    if kind == "AsJagged":
        return f"is jagged, a list per event ({branch.typename})"
    return "holds text" if kind == "AsStrings" else f"holds objects ({branch.typename or kind})"


def _forms(ntuple: Any) -> Mapping[str, str | None]:
    """Say of each field of an RNTuple why it is not one number per event; None if it is."""
    import awkward as ak

    found: dict[str, str | None] = {}

    def walk(form: Any, prefix: str) -> None:
        for field, content in zip(form.fields, form.contents, strict=True):
            name = f"{prefix}{field}"
            inner = content
            while isinstance(inner, ak.forms.IndexedOptionForm | ak.forms.ByteMaskedForm | ak.forms.BitMaskedForm):
                inner = inner.content  # a value that may be missing
            if isinstance(inner, ak.forms.RecordForm):
                walk(inner, f"{name}.")
            elif isinstance(inner, ak.forms.NumpyForm):
                kind = np.dtype(inner.primitive).kind
                found[name] = None if kind in NUMBERS and not inner.inner_shape else f"holds {inner.type}"
            else:
                text = inner.parameters.get("__array__") == "string"
                found[name] = "holds text" if text else f"is jagged, a list per event ({inner.type})"

    form = ntuple.to_akform()
    walk(form[0] if isinstance(form, tuple) else form, "")
    return found


def _offsets(tree: Any, branch: Any) -> Sequence[int]:
    """Return the rows at which the file's own blocks begin: only whole blocks can be decompressed."""
    if hasattr(tree, "cluster_summaries"):
        return [int(cluster.num_first_entry) for cluster in tree.cluster_summaries]
    return [int(offset) for offset in branch.entry_offsets]


def _edges(offsets: Sequence[int], rows: int, step: int) -> list[int]:
    """Cut `rows` into chunks of at most `step`, at the ends of blocks where there are any."""
    blocks, edges = np.unique([*offsets, rows]), [0]
    while edges[-1] < rows:
        furthest = int(blocks[np.searchsorted(blocks, edges[-1] + step, side="right") - 1])
        edges.append(furthest if furthest > edges[-1] else min(edges[-1] + step, rows))
    return edges


def _flat(array: NDArray[Any], name: str, what: str) -> NDArray[Any]:
    # A field of a record inside a list has a plain type, and only its array shows the list.
    if array.ndim == 1 and array.dtype.kind in NUMBERS:
        return array
    raise InputError(
        f"column {name!r} of {what} is jagged, a list per event: write one number per event, for example the "
        f"leading one, to a flat tree"
    )
