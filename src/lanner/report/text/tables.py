"""The tables of a report: scales, settings, units and tunings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lanner.errors import InputError
from lanner.inference.tuning import Trial, Tuning
from lanner.report.text.words import aligned, deviation, number, z_score
from lanner.run.result import SearchResult

Table = list[dict[str, str]]

_LONGEST_CELL = 400  # characters
# What it means that a setting is not given.
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
    "apart": "reference events held out to shape the test",
    "source": "weighted reference events that toys draw from",
    "trace_error": "part of the kernel left out",
}
_OF_FITS = ("newton_steps", "tolerance")  # mean nothing for the score statistic, which needs no fit


def configuration(result: SearchResult) -> Table:
    """Every setting of the plan; the scaling is in `units`."""
    settings = dict(result.plan.settings())
    settings["scaling"] = settings["scaling"]["rule"]
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
    scaling = result.plan.scaling
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
    """Any value in a few"""
    if value is None:
        return "none"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return str(value)
    if isinstance(value, float | np.floating):
        return number(float(value), 6)
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        value = ", ".join(map(cell, value))
    text = str(value)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _trial(trial: Trial) -> dict[str, Any]:
    """The numbers that decide on a trial, in columns that fit on a page."""
    return {
        "centres": trial.centers,
        "penalty": trial.penalty,
        "rank": trial.rank,
        "mean t": aligned(trial.mean),
        "spread": aligned(trial.spread),
        "analytic mean": aligned(trial.analytic_mean),
        "not converged": trial.not_converged,
        "t ≤ 0": trial.not_positive,
        "toys": trial.toys,
        "stable": trial.stable,
    }


def scales(result: SearchResult) -> Table:
    """What each of several scales finds by itself."""
    if result.combined is None:
        return []
    return [
        {
            "width": aligned(s.width),
            "penalty": aligned(s.penalty, 2),
            "tuned to": deviation(s.deviation),
            "rank": str(s.rank),
            "statistic": aligned(s.statistic, 4),
            "null toys": f"{aligned(s.null_mean)} ± {aligned(s.null_spread)}",
            "analytic null": f"{aligned(s.analytic_mean)} ± {aligned(s.analytic_spread)}",
            "toys above": f"{s.exceedances} of {s.toys}",
            "local Z": z_score(s.local_z) + (" *" if k == result.combined.dominant_scale else ""),
        }
        for k, s in enumerate(result.combined.scales)
    ]
