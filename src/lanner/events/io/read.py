"""`read_sample`: events from files of any format, or from memory, with a selection and further variables."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import memory_budget
from lanner._util.text import count, joined, listed
from lanner.errors import ColumnWarning, InputError
from lanner.events.columns import as_names
from lanner.events.expressions import Expression
from lanner.events.io.builder import SampleBuilder
from lanner.events.io.memory import WEIGHTS, table_of
from lanner.events.io.paths import File, describe, files_of, names_files
from lanner.events.io.request import check_same, in_words, make_request, told_left_out, with_names
from lanner.events.io.roles import no_features
from lanner.events.io.table import SHARE, Table
from lanner.events.sample import Sample
from lanner.settings import spelled_out
from lanner.typing import Array


@dataclass(frozen=True, eq=False)
class Events:
    """A sample as it was read, and what goes with it.

    This is what `read_sample` returns. Every parameter is an attribute of the same name.

    Parameters
    ----------
    sample : Sample
        The features and weights of the events that were kept.
    extra : dict of str to ndarray
        The further variables by name, float64, read-only, in the order of the sample's rows. NaN is allowed.
    description : str
        Where the events come from and what was left out, in words.
    dropped : int
        Number of selected rows that were left out because a feature, the weight or a varied one was NaN or missing.
    rows : ndarray of int or None, default None
        Where the events stand among all rows that were read, counted from 0 through all files. None means that
        all rows were kept.
    varied : dict of str to ndarray
        What was asked for as `varied`, by name, in the order of the sample's rows.
    left_out : dict of str to str
        The columns that are no features although nobody named the features, each with the reason.
    read : int, default 0
        Number of rows that were read, before the selection.
    total : float or None, default None
        The sum over all these rows of what was asked for as `total`.

    See Also
    --------
    read_sample : Read events from files or memory.

    Examples
    --------
    >>> import lanner
    >>> events = lanner.read_sample({"pt": [10.0, 20.0, 30.0]}, where="pt > 15")
    >>> events.sample
    Sample(2 events, 1 feature: pt; unweighted)
    >>> events.rows.tolist()
    [1, 2]
    >>> events.description
    'dict in memory: 2 of 3 events, where pt > 15'
    """

    sample: Sample
    extra: dict[str, Array]
    description: str
    dropped: int
    rows: NDArray[np.intp] | None = None
    varied: dict[str, Array] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    read: int = 0
    total: float | None = None


@spelled_out
def read_sample(
    source: Any,
    *,
    features: Iterable[str] | str | None = None,
    weight: Any = None,
    where: str | Expression | None = None,
    extra: Iterable[str] | str = (),
    varied: Iterable[str] | str = (),
    total: str | None = None,
    drop_nan: bool = False,
    all_missing: bool = False,
    label: str = "sample",
    memory: float | str | None = None,
) -> Events:
    """Read events from files or memory, with a selection and formulas over the columns.

    Columns with a list per event (jagged branches of a TTree, collections of an RNTuple, lists in Parquet) are for
    formulas: ``mu1=Muon_pt[0]``, ``n=count(Jet.pt > 30)``, ``ht=sum(Jet_pt)``, and ``max``, ``min``, ``any``, ``all``.

    Files are read in chunks, and only the columns that are needed, so a file may be larger than memory. Features
    that take more than a quarter of the memory budget are kept on disk and mapped into memory.

    Parameters
    ----------
    source : str, path, list of them, or table
        A file such as ``muons.root``, a pattern such as ``data/*.root:events``, a list of these, or a table in memory:
        whatever `Sample.of` takes. The suffix names the format (ROOT, Parquet, HDF5, CSV, npy, npz); a tree,
        group or dataset follows after a colon.
    features : str or iterable of str or None, default None
        Columns to fit, in this order; ``name=formula`` makes one of others, as in ``ht=pt1 + pt2``. None takes
        all columns of numbers but the weight, those that `varied` needs, and those that look like identifiers (run,
        event and row numbers), event weights or labels; what is left out is warned of. For a table without names
        these become its names.
    weight : str or array_like or None, default None
        The column, or ``name=formula``, of the event weights; for events in memory also one number per event.
        None means no weights, or those that a `Sample` has.
    where : str or Expression or None, default None
        Selection, as in ``mll > 100 && abs(eta1) < 2.4``, with ``and``, ``or``, ``not`` or their signs ``&&``,
        ``||``, ``!``. A comparison with NaN, or with an object that the event does not have, is false.
    extra : str or iterable of str, default ()
        Further columns, or ``name=formula``, to look at but not to fit. Here NaN is allowed.
    varied : str or iterable of str, default ()
        Columns, or ``name=formula``, of which uncertainties are made: event weights of a variation, labels of a
        process. They are no features, unless these are named, and NaN in them is treated as in the weight.
    total : str or None, default None
        A column, or ``name=formula``, to add up over all rows, also those that `where` leaves out, such as the weights
        of a generator. The sum is NaN if one of them is.
    drop_nan : bool, default False
        Whether to drop rows in which a feature or the weight is NaN or missing, and count them. False refuses them.
        Objects that an event does not have, such as ``Muon_pt[1]`` of a single muon, are kept in features as missing
        and never cost the event: select with ``where="count(Muon_pt) >= 2"``.
    all_missing : bool, default False
        Whether an object may be missing in every event, as in a small data set of whose reference some events have it.
        False refuses that, because the index is more likely too large.
    label : str, default "sample"
        What error messages call the sample.
    memory : float or str or None, default None
        Memory to use at most, in bytes, or as a text such as ``"4 GB"``. None is half of what is free.

    Returns
    -------
    Events
        The sample with the further variables and a description of what was read.

    Raises
    ------
    InputError
        If a file, column or formula cannot be used, if values are NaN without `drop_nan` or infinite, or if no event
        is left.
    MemoryBudgetError
        If weights and further variables do not fit into `memory`.
    FileError
        If features have to be kept on disk and there is no room.

    See Also
    --------
    Sample.of : Make a sample of a table in memory, without selection or formulas.

    Examples
    --------
    >>> import lanner
    >>> table = {"pt": [10.0, 20.0, 30.0], "eta": [1.0, 2.0, 3.0]}
    >>> events = lanner.read_sample(table, features="pt", where="eta > 1", extra="twice=2*pt")
    >>> events.sample
    Sample(2 events, 1 feature: pt; unweighted)
    >>> events.extra["twice"].tolist()
    [40.0, 60.0]
    """
    budget = memory_budget(memory)
    chosen = None if features is None else as_names(features, label)
    further, uncertain = as_names(extra, label), as_names(varied, label)
    in_files, by_name = names_files(source), isinstance(weight, str)
    if in_files and weight is not None and not by_name:
        raise InputError(f"{label}: the weights of a file are a column of it: give weight='name', not an array")
    plain = isinstance(source, Sample) or (isinstance(source, np.ndarray) and source.dtype.names is None)
    if plain and chosen is None and not by_name and where is None and not (further or uncertain or drop_nan or total):
        sample = Sample.of(source, weights=weight, label=label)  # nothing to choose, so nothing to copy
        return Events(
            sample, {}, f"{type(source).__name__} in memory: {count(len(sample), 'event')}", 0, read=len(sample)
        )
    if weight is None and isinstance(source, Sample):
        weight = source.weights
    beside = None if by_name else weight  # weights that are no column of the table
    unfit: dict[str, str] = {}
    if chosen is None and not isinstance(source, Sample):  # whoever made a sample has chosen its features
        unfit = no_features(_tables(source, beside, label), size=budget // SHARE)
    builder: SampleBuilder | None = None
    for opened in _tables(source, beside, label):
        with opened as table:
            what = table.what if table.what == label else f"{label} {table.what}"
            table = with_names(table, chosen, what)
            if builder is None:
                column = weight if beside is None else WEIGHTS
                request = make_request(
                    table,
                    features=chosen,
                    weight=column,
                    where=where,
                    extra=further,
                    varied=uncertain,
                    total=total,
                    what=what,
                    no_features=unfit,
                )
                known_as = f"{label} {describe(source)}" if in_files else what
                builder = SampleBuilder(request, drop_nan, budget, known_as, all_missing=all_missing)
                if chosen is None and request.in_formulas:
                    warnings.warn(
                        f"{what}: left out of the features, because formulas of uncertainties need them: "
                        f"{listed(request.in_formulas)}. Name the columns you mean with features=[...]",
                        ColumnWarning,
                        stacklevel=3,
                    )
                if request.left_out:
                    warnings.warn(told_left_out(request, what), ColumnWarning, stacklevel=3)  # past `spelled_out`
            else:
                check_same(table, builder.request, what)
            builder.source = what
            for chunk in table.chunks(builder.request.needed, budget // SHARE):
                builder.add(chunk)
    assert builder is not None  # a source names at least one file, or it was refused
    sample, columns, beside = builder.finish()
    description = _description(source, builder)
    left_out = dict(builder.request.left_out)
    added = None if builder.request.total is None else builder.total
    rows = builder.kept_rows()
    return Events(sample, beside, description, builder.dropped, rows, columns, left_out, builder.rows, added)


def columns_of(source: Any) -> list[str]:
    """Return the names of the columns of a source, of the first file if there are several.

    Parameters
    ----------
    source : str, path, list of them, or table
        What `read_sample` takes.

    Returns
    -------
    list of str
        All names, also of columns that hold no numbers.

    Raises
    ------
    InputError
        If the file cannot be read.

    Examples
    --------
    >>> columns_of({"pt": [1.0], "name": ["a"]})
    ['pt', 'name']
    """
    with next(_tables(source, None, "sample")) as table:
        return list(table.names)


def _tables(source: Any, weights: Any, label: str) -> Iterator[AbstractContextManager[Table]]:
    """Yield what to open, one after the other."""
    if isinstance(source, File):
        yield source.open()
    elif names_files(source):
        for file in files_of(source, label):
            yield file.open()
    else:
        yield nullcontext(table_of(source, weights, label))


def _description(source: Any, builder: SampleBuilder) -> str:
    request = builder.request
    text = describe(source) if names_files(source) else f"{type(source).__name__} in memory"
    kept = builder.chosen - (builder.dropped if builder.drop_nan else 0)
    text += f": {kept} of {count(builder.rows, 'event')}" if kept < builder.rows else f": {count(kept, 'event')}"
    if request.where is not None:
        text += f", where {request.where.text.strip()}"
    if builder.dropped:
        text += f", {builder.dropped} dropped for NaN"
    lacking = [f"{name!r} in {count(number, 'event')}" for name, number in builder.absent.items() if number]
    if lacking:
        text += f", objects that are missing: {joined(lacking)}"
    if request.left_out:
        text += f", left out of the features: {in_words(request.left_out)}"
    return text
