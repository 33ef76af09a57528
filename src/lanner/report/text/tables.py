"""Settings and tunings as tables of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lanner.errors import InputError
from lanner.inference.tuning import Trial, Tuning
from lanner.report.text import words
from lanner.run.result import SearchResult

Table = list[dict[str, str]]

_LONGEST_CELL = 400  # characters
# What a setting that is not given means.
_UNSET = {
    "fixed": "no: the number of events is tested too",
    "newton_steps": "to convergence",
    "tolerance": "default",
    "trace_error": "from the penalty",
    "apart": "the centres alone",
    "source": "not needed: the reference has no weights",
}


# Settings whose names say little by themselves.
_NAMES = {
    "names": "features",
    "fixed": "fixed number of data events",
    "reference_size": "reference events of each fit",
    "apart": "reference events that shape the test",
    "source": "weighted events that toys draw from",
    "trace_error": "part of the kernel left out",
}
_OF_FITS = ("newton_steps", "tolerance")  # nothing to the score statistic, which needs none


def configuration(result: SearchResult) -> Table:
    """Every setting of the plan; the scaling is in `units`."""
    settings = {k: v for k, v in result.plan.to_dict().items() if k not in ("units", "chosen")}
    score = result.plan.statistic == "score"
    return [
        {
            "setting": _NAMES.get(name, name.replace("_", " ")),
            "value": cell(_UNSET.get(name) if value is None else value),
        }
        for name, value in settings.items()
        if not (score and name in _OF_FITS)
    ]


def units(result: SearchResult) -> Table:
    """Shift and scale of every feature."""
    scaling = result.plan.units
    return [
        {"feature": name, "shift": cell(shift), "scale": cell(scale)}
        for name, shift, scale in zip(scaling.names, scaling.shift, scaling.scale, strict=True)
    ]


def tuning_tables(source: Any) -> dict[str, Table]:
    """Tables by caption, from a `Tuning` or a mapping: its plain values make the first, lists of mappings one each."""
    if source is None:
        return {}
    if isinstance(source, Tuning):
        source = {
            **source.settings(),
            "reference events used": source.events,
            "Distances between reference events": [{"quantile": q, "distance": d} for q, d in source.quantiles],
            "The penalty: the smallest at which toys are stable": [_trial(t) for t in source.penalties],
            "The number of centres: the smallest on the plateau of t": [_trial(t) for t in source.plateau],
        }
    plain = source.to_dict() if hasattr(source, "to_dict") else source
    if not isinstance(plain, Mapping):
        raise InputError(
            f"tuning is a {type(source).__name__}: give what `tune` returned, or names with values or tables"
        )
    tables: dict[str, Table] = {}
    values = []
    for key, value in plain.items():
        if isinstance(value, list | tuple) and all(isinstance(row, Mapping) for row in value):
            columns = list(dict.fromkeys(column for row in value for column in row))
            if value:
                tables[str(key)] = [{str(c): cell(row.get(c)) for c in columns} for row in value]
        else:
            values.append({"name": str(key), "value": cell(value)})
    return ({"": values} if values else {}) | tables


def cell(value: Any) -> str:
    """Any value in a few words."""
    if value is None:
        return "none"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return str(value)
    if isinstance(value, float | np.floating):
        return words.number(float(value), 6)
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        value = ", ".join(map(cell, value))
    text = str(value)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _trial(trial: Trial) -> dict[str, Any]:
    """What decides on a trial, in columns that fit on a page."""
    return {
        "centres": trial.centers,
        "penalty": trial.penalty,
        "rank": trial.rank,
        "mean t": words.aligned(trial.mean),
        "spread": words.aligned(trial.spread),
        "analytic mean": words.aligned(trial.analytic_mean),
        "not converged": trial.not_converged,
        "t ≤ 0": trial.not_positive,
        "toys": trial.toys,
        "stable": trial.stable,
    }


def scales(result: SearchResult) -> list[dict[str, str]]:
    """What each of several scales says by itself."""
    if result.combined is None:
        return []
    return [
        {
            "width": words.aligned(s.width),
            "penalty": f"{s.penalty:.1e}",
            "log-ratio": words.aligned(s.deviation, 2),
            "rank": str(s.rank),
            "statistic": words.aligned(s.statistic, 4),
            "null toys": f"{words.aligned(s.null_mean)} ± {words.aligned(s.null_spread)}",
            "analytic null": f"{words.aligned(s.analytic_mean)} ± {words.aligned(s.analytic_spread)}",
            "toys above": f"{s.exceedances} of {s.toys}",
            "local Z": words.z_score(s.local_z) + (" *" if k == result.combined.speaks else ""),
        }
        for k, s in enumerate(result.combined.scales)
    ]
