"""Which columns of numbers are left out where nobody names the features: those that `events.roles` knows for others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any

import numpy as np

from lanner.errors import InputError
from lanner.events.columns import as_float, as_source, column_keys
from lanner.events.io.memory import table_of
from lanner.events.io.request import in_words
from lanner.events.io.table import Table
from lanner.events.roles import ROWS, role_by_name, why_no_feature
from lanner.events.sample import Sample
from lanner.typing import Array

_SIZE = 2**26  # bytes of a chunk


def no_features(tables: Iterable[AbstractContextManager[Table]], *, size: int = _SIZE) -> dict[str, str]:
    """The columns of numbers that are no features, each with the reason; chunks take about `size` bytes.

    The first rows of the first file decide. A column with the name of an identifier, of which these have one value
    only, is looked at further: of files that are sorted by run the first may have a single one.
    """
    found: dict[str, str] = {}
    unsure: dict[str, Array] = {}
    for k, opened in enumerate(tables):
        with opened as table:
            if not table.named:
                return {}
            names = list(table.usable()[0]) if k == 0 else [name for name in unsure if name in table.names]
            if k == 0:
                for name, values in _first_rows(table, names, size).items():
                    reason = why_no_feature(name, values)
                    if reason is not None:
                        found[name] = reason
                    elif role_by_name(name) is not None:
                        unsure[name] = values[:1]
            for name in list(unsure):
                reason = _why_in_all(table, name, unsure[name], size)
                if reason is not None:
                    found[name] = reason
                    del unsure[name]
        if not unsure:
            break
    return found


def _first_rows(table: Table, names: Sequence[str], size: int) -> dict[str, Array]:
    if not names:
        return {}
    with closing(table.chunks(names, min(size, 8 * len(names) * ROWS))) as chunks:  # type: ignore[type-var]
        chunk = next(iter(chunks), {})
        return {name: as_float(np.asanyarray(values)[:ROWS]) for name, values in chunk.items()}


def _why_in_all(table: Table, name: str, first: Array, size: int) -> str | None:
    """The same of a column that has one value only in the first rows, from all chunks until another comes."""
    if name not in table.names or table.problem(name) is not None:
        return None
    with closing(table.chunks([name], min(size, 8 * ROWS))) as chunks:  # type: ignore[type-var]
        for chunk in chunks:
            reason = why_no_feature(name, np.append(first, as_float(np.asanyarray(chunk[name]))))
            if reason is not None:
                return reason
    return None


def sample_of_table(source: Any, label: str) -> tuple[Sample, dict[str, str]]:
    """A sample of whatever `Sample.of` takes; of a table with names also the columns that are left out, and why.

    Whoever gives a `Sample`, or an array without names, has chosen the features.

    >>> sample_of_table({"pt": [1.0, 2.0], "run": [163286, 163374]}, "data")[1]
    {'run': 'looks like a run number (whole numbers up to 163374)'}
    """
    if isinstance(source, Sample) or column_keys(table := as_source(source, label), label) is None:
        return Sample.of(source, label=label), {}
    columns = table_of(table, None, label)
    left_out = _text(columns) | no_features([nullcontext(columns)])
    names = [name for name in columns.names if name not in left_out]
    if left_out and not names:
        raise InputError(
            f"{label} has no columns that look like features: {in_words(left_out)}; name those that are meant with "
            f"lanner.Sample.of(..., names=[...])"
        )
    return Sample.of(table, names=names if left_out else None, label=label), left_out


def sample_like(names: Sequence[str], source: Any, label: str) -> Sample:
    """A sample with these columns of a table, if the others are no features anyway; otherwise with all of them."""
    if isinstance(source, Sample):
        return source
    table = as_source(source, label)
    keys = column_keys(table, label)
    if keys is None or not set(names) < set(keys):
        return Sample.of(table, label=label)
    columns = table_of(table, None, label)
    others = set(_text(columns) | no_features([nullcontext(columns)])) | set(names)
    return Sample.of(table, names=names if set(keys) <= others else None, label=label)


def _text(table: Table) -> dict[str, str]:
    """The columns that hold text, dates and the like; a column of vectors is no mistake to be passed over."""
    problems = {name: table.problem(name) for name in table.names}
    return {
        name: why + table.example(name) for name, why in problems.items() if why is not None and why.startswith("holds")
    }
