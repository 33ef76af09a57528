"""The variables to look at: those of the fit, and further ones, which may be without a value in some events."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lanner._util.text import count, with_nearest
from lanner.errors import ColumnWarning, InputError
from lanner.events import Sample
from lanner.events.columns import as_source, as_table, column_keys, stack
from lanner.events.missing import ABSENT
from lanner.events.sample import as_columns, default_names
from lanner.typing import Array

Columns = Mapping[str, Array]


def columns_to_show(sample: Sample, extra: Any, label: str, variables: Iterable[str] | None) -> dict[str, Array]:
    """The variables to look at, by name: the fit's first, then the extra ones, in which NaN is allowed."""
    columns: dict[str, Array] = {
        # An object that an event does not have is no number to be drawn.
        name: np.where(column == ABSENT, np.nan, column) if (column == ABSENT).any() else column
        for name, column in zip(sample.names, sample.features.T, strict=True)
    }
    if extra is not None:
        what = f"the extra variables of the {label}"
        more = _named(extra, what)
        rows = len(next(iter(more.values())))
        if rows != len(sample):
            raise InputError(f"{what} have {rows} rows for {len(sample)} events: give one row per event")
        columns |= {name: values for name, values in more.items() if name not in columns}
    if variables is None:
        return columns
    wanted = [variables] if isinstance(variables, str) else list(dict.fromkeys(variables))
    missing = [name for name in wanted if name not in columns]
    if missing or not wanted:
        raise InputError(
            f"variables={wanted}: no variable {with_nearest(missing, columns) or 'is named'}; "
            f"choose from {', '.join(repr(name) for name in sorted(columns))}"
        )
    return {name: columns[name] for name in wanted}


def is_complete(reference: Columns, data: Columns, name: str) -> bool:
    """Whether a variable has a value in every event."""
    return bool(np.isfinite(reference[name]).all() and np.isfinite(data[name]).all())


def with_values(reference: dict[str, Array], data: dict[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
    """The variables that can be shown; what is missing, of some events or altogether, is warned of by name."""
    shown = []
    for name in reference:
        if is_complete(reference, data, name):
            shown.append(name)
            continue
        samples = {"reference": reference[name], "data": data[name]}
        absent = {label: int(np.count_nonzero(~np.isfinite(values))) for label, values in samples.items()}
        said = " and ".join(
            f"{absent[label]} of {count(len(values), f'{label} event')}"
            for label, values in samples.items()
            if absent[label]
        )
        usable = all(absent[label] < len(values) for label, values in samples.items())
        if usable:
            shown.append(name)
        outcome = "shown without them" if usable else "left out"
        warnings.warn(
            f"the variable {name!r} is missing, NaN or infinite in {said}: it is {outcome}", ColumnWarning, stacklevel=4
        )
    if not shown:
        raise InputError("no variable has a value in both samples: choose others")
    return {name: reference[name] for name in shown}, {name: data[name] for name in shown}


def _named(extra: Any, what: str) -> dict[str, Array]:
    """Further variables as columns of numbers."""
    table = as_source(as_columns(extra) if isinstance(extra, Sample) else extra, what)
    keys = column_keys(table, what)
    if keys is None:
        array = as_table(table, what)
        columns: dict[str, Any] = dict(zip(default_names(array.shape[1]), array.T, strict=True))
    else:
        columns = {name: table[key] for name, key in keys.items()}
    return dict(zip(columns, stack(columns, what).T, strict=True))
