"""A result's arrays as files: the statistic of every null toy, and the learned ratio of every event."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events import Sample
from lanner.events.io.write import write_columns
from lanner.report.characterise import Characterisation
from lanner.run.result import SearchResult

_LOG_RATIO, _WEIGHT, _ROW = "log_ratio", "expected_weight", "row"


def write_toys(result: SearchResult, path: Path) -> Path:
    """Write the statistic of each null toy that the p-value counts, and whether its fit converged."""
    columns: dict[str, NDArray[Any]] = {
        "statistic": result.null.statistics,
        "converged": result.null.converged.astype(np.int8),
    }
    note = f"null toys of a search; the data have {result.statistic!r}"
    return write_columns(path, columns, note=note)


def write_ratios(
    result: SearchResult, folder: Path, suffix: str, found: Characterisation | None, events: Mapping[str, Any]
) -> list[Path]:
    """Write f(x) beside the features of each event: of the samples that were characterised, and of further ones."""
    made = {} if found is None else _of_samples(found)
    for name, given in events.items():
        if name in made:
            raise InputError(f"events={name!r}: {', '.join(made)} are written already; give those events another name")
        if not name or Path(name).name != name:
            raise InputError(f"events={name!r}: give a name that a file can have")
        sample = Sample.of(given, label=name)
        features = dict(zip(sample.names, sample.features.T, strict=True))
        made[name] = _with(features, {_LOG_RATIO: result.ratio.log_ratio(sample)})
    note = "learned log-ratio f(x) = log n(x|data) / n(x|reference)"
    return [
        write_columns(folder / f"ratio_{name}{suffix}", columns, note=note) for name, columns in sorted(made.items())
    ]


def _of_samples(found: Characterisation) -> dict[str, dict[str, NDArray[Any]]]:
    rows = np.arange(len(found.log_ratio_data)) if found.data_rows is None else found.data_rows
    return {
        "reference": _with(
            found.reference, {_LOG_RATIO: found.log_ratio_reference, _WEIGHT: np.asarray(found.learned.share)}
        ),
        "data": _with(found.data, {_LOG_RATIO: found.log_ratio_data, _ROW: rows}),
    }


def _with(features: Mapping[str, NDArray[Any]], more: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The features and further columns, whose names step aside for features of the same name."""
    columns = dict(features)
    for name, values in more.items():
        while name in columns:
            name += "_"
        columns[name] = values
    return columns
