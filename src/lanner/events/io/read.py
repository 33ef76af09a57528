"""`read_sample`: events from files of any format, or from memory, with a selection and further variables."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import memory_budget
from lanner._util.text import count, joined
from lanner.errors import InputError
from lanner.events.columns import as_names
from lanner.events.expressions import Expression
from lanner.events.io.builder import SampleBuilder
from lanner.events.io.memory import WEIGHTS, table_of
from lanner.events.io.paths import describe, files_of, names_files
from lanner.events.io.request import check_same, make_request, with_names
from lanner.events.io.table import SHARE, Table
from lanner.events.sample import Sample
from lanner.typing import Array

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Events:
    """A sample as it was read, and what goes with it: `extra` has the same rows in the same order."""

    sample: Sample
    extra: dict[str, Array]
    description: str  # where the events come from, for people
    dropped: int  # rows left out because a feature or the weight was NaN or missing
    rows: NDArray[np.intp] | None = None  # where the events stand among all rows read; None: all were kept


def read_sample(
    source: Any,
    *,
    features: Iterable[str] | str | None = None,
    weight: Any = None,
    where: str | Expression | None = None,
    extra: Iterable[str] | str = (),
    drop_nan: bool = False,
    label: str = "sample",
    memory: float | str | None = None,
) -> Events:
    """Read events from files or memory.

    Parameters
    ----------
    source : path, pattern such as ``data/*.root:events`` or list of them (ROOT, Parquet, HDF5, CSV, npy,
        npz, by suffix; a tree, group or table after a colon), or what `Sample.of` takes
    features : columns to fit, in this order, or ``name=formula``; by default all columns of numbers but the weight
    weight : the column (or ``name=formula``) of the event weights; for events in memory also an array
    where : selection such as ``mll > 100 and abs(eta1) < 2.4``; a comparison with NaN is false
    extra : further columns, or ``name=formula``, to look at but not to fit; here NaN is allowed
    drop_nan : drop rows in which a feature or the weight is NaN or missing, and count them; otherwise refuse them
    label : what error messages call the sample
    memory : bytes, or text such as "4 GB"; files are read in chunks so that events and chunk stay within

    >>> events = read_sample({"pt": [10, 20, 30], "eta": [1, 2, 3]}, features="pt", where="eta > 1", extra="twice=2*pt")
    >>> events.sample, events.extra["twice"].tolist()
    (Sample(2 events, 1 feature: pt; unweighted), [40.0, 60.0])
    """
    budget = memory_budget(memory)
    features, extra = None if features is None else as_names(features, label), as_names(extra, label)
    apart = weight is not None and not isinstance(weight, str)  # weights beside the table, not in it
    if apart and names_files(source):
        raise InputError(f"{label}: the weights of a file are a column of it: give weight='name', not an array")
    plain = isinstance(source, Sample) or (isinstance(source, np.ndarray) and source.dtype.names is None)
    if plain and features is None and not isinstance(weight, str) and where is None and not extra and not drop_nan:
        sample = Sample.of(source, weights=weight, label=label)  # nothing to choose, so nothing to copy
        return Events(sample, {}, f"{type(source).__name__} in memory: {count(len(sample), 'event')}", 0)
    apart = apart or (weight is None and isinstance(source, Sample) and source.weights is not None)
    collection: SampleBuilder | None = None
    for opened in _tables(source, weight if apart else None, label):
        with opened as table:
            what = table.what if table.what == label else f"{label} {table.what}"
            table = with_names(table, features, what)
            if collection is None:
                request = make_request(
                    table,
                    features=features,
                    weight=WEIGHTS if apart else weight,
                    where=where,
                    extra=extra,
                    what=what,
                )
                origin = what if not names_files(source) else f"{label} {describe(source)}"
                collection = SampleBuilder(request, drop_nan, budget, origin)
            else:
                check_same(table, collection.request, what)
            for chunk in table.chunks(collection.request.needed, budget // SHARE):
                collection.add(chunk)
    assert collection is not None  # a source names at least one file, or it was refused
    sample, further = collection.finish(collection.what)
    return Events(sample, further, _description(source, collection), collection.dropped, collection.kept_rows())


def columns_of(source: Any) -> list[str]:
    """Return the names of the columns of a source, of the first file if there are several.

    >>> columns_of({"pt": [1.0], "name": ["a"]})
    ['pt', 'name']
    """
    with next(_tables(source, None, "sample")) as table:
        return list(table.names)


def _tables(source: Any, weights: Any, label: str) -> Iterator[AbstractContextManager[Table]]:
    """Yield what to open, one after the other."""
    if names_files(source):
        for file in files_of(source, label):
            yield file.open()
    else:
        yield nullcontext(table_of(source, weights, label))


def _description(source: Any, collection: SampleBuilder) -> str:
    request = collection.request
    text = describe(source) if names_files(source) else f"{type(source).__name__} in memory"
    kept = collection.chosen - (collection.dropped if collection.drop_nan else 0)
    text += f": {kept} of {count(collection.rows, 'event')}" if kept < collection.rows else f": {count(kept, 'event')}"
    if request.where is not None:
        text += f", where {request.where.text.strip()}"
    if collection.dropped:
        text += f", {collection.dropped} dropped for NaN"
    if request.left_out:
        left_out = joined([f"{name!r} {why}" for name, why in request.left_out.items()])
        _log.info("%s: left out of the features, %s", collection.what, left_out)
        text += f", left out of the features: {left_out}"
    return text
