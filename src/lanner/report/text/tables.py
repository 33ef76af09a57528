"""The tables of a report: scales, settings, units and tunings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lanner._util.text import deviation_in_words
from lanner.errors import InputError
from lanner.events import Scaling
from lanner.events.angles import TURN
from lanner.events.units import WORDS
from lanner.inference.plan import Plan
from lanner.inference.tuning import Trial, Tuning
from lanner.report.text.words import aligned, local_z, number, z_score
from lanner.run.result import SearchResult
from lanner.settings import DECLARED, FIT_ONLY

Table = list[dict[str, str]]

_LONGEST_CELL = 400  # characters
# What it means that an entry of the plan is not given, and names that say more than its own.
_UNSET = {
    "fixed": "no: the number of events is tested too",
    "moment_blocks": "not needed: nothing is judged by moments of the reference",
    "n_hit_or_miss": "not needed: the reference has no weights",
}
_NAMES = {
    "names": "features",
    "fixed": "fixed number of data events",
    "moment_blocks": "blocks of the reference for the moments",
    "centers_barred": "centres are never a toy's data",
    "n_hit_or_miss": "weighted reference events that toys draw from",
}


def configuration(plan: Plan) -> Table:
    """Every setting of a plan; the scaling is in `units`."""
    left_out = {"units", "chosen"} | (set(FIT_ONLY) if plan.statistic == "score" else set())
    rows = []
    for name, value in plan.to_dict().items():
        declared = DECLARED.get(name)
        label = (declared.label if declared is not None else None) or _NAMES.get(name, name.replace("_", " "))
        unset = declared.unset if declared is not None else _UNSET.get(name)
        if name not in left_out:
            rows.append({"setting": label, "value": cell(unset if value in (None, []) else value)})
    return rows


def units(scaling: Scaling) -> Table:
    """Shift and scale of every feature, and what is missing or periodic, if anything is."""
    rows = [
        {"feature": name, "shift": cell(shift), "scale": cell(scale), "and": _besides(scaling, name)}
        for name, shift, scale in zip(scaling.names, scaling.shift, scaling.scale, strict=True)
    ]
    some = any(row["and"] for row in rows)
    return [{key: value for key, value in row.items() if some or key != "and"} for row in rows]


def units_caption(result: SearchResult) -> str:
    """What the numbers of that table are."""
    return f"Units of the features: scaled = (x − shift) / scale ({WORDS[result.plan.units.rule]})"


def _besides(scaling: Scaling, name: str) -> str:
    """What is done to a feature besides its shift and scale."""
    said = []
    if name in scaling.periodic:
        period = TURN * scaling.scale[scaling.names.index(name)]
        said.append(f"periodic, with {cell(period)}: its cosine and sine")
    said += [
        f"{one.value:.10g} is missing ({100 * one.share:.2g} %): an indicator of its own"
        for one in scaling.missing
        if one.column == name
    ]
    return "; ".join(said)


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
            "tuned to": deviation_in_words(s.deviation),
            "rank": str(s.rank),
            "statistic": aligned(s.statistic, 4),
            "null toys": f"{aligned(s.null_mean)} ± {aligned(s.null_spread)}",
            "analytic null": f"{aligned(s.analytic_mean)} ± {aligned(s.analytic_spread)}",
            "toys above": f"{s.exceedances} of {s.toys}",
            "local Z": local_z(s.local_z) + (" *" if k == result.combined.dominant_scale else ""),
        }
        for k, s in enumerate(result.combined.scales)
    ]


def terms(result: SearchResult) -> Table:
    """What the terms beside the scales find: the number of events, and those out of reach."""
    if result.combined is None:
        return []
    leading = result.combined.leading_term
    return [
        {
            "what": t.label,
            "−ln p": aligned(t.statistic, 4),
            "toys above": f"{t.exceedances} of {t.toys}",
            "local Z": local_z(t.local_z) + (" *" if t is leading else ""),
        }
        for t in result.combined.terms
    ]


def spread(result: SearchResult) -> Table:
    """How much Z depends on what is random in the method, part by part."""
    found = result.spread
    if found is None:
        return []
    parts = {
        "which reference events a fit takes": found.subsamples,
        "which of them give the moments, and which the toys": found.splits,
        "the toys that make scales comparable": found.maps,
        "all together": found.total,
    }
    return [{"what is random": name, "standard deviation of Z": z_score(value)} for name, value in parts.items()]
