"""The numbers of a result as tables, in the way in which HEPData has them: columns with units and errors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanner._util.text import count
from lanner.inference.significance import EmpiricalP
from lanner.report.characterise import Characterisation
from lanner.report.export.histograms import null_histogram
from lanner.report.profiles import RatioProfile, contents, poisson_interval
from lanner.run.result import SearchResult
from lanner.typing import Array

_LONGEST = 64  # letters of a table's name, by HEPData's rules
_UNIT = re.compile(r"(.+?)\s*\[([^\[\]]+)\]\s*$")


@dataclass(frozen=True)
class Errors:
    """Errors of a column: how far down and up from each value, both positive."""

    label: str
    down: tuple[float, ...]
    up: tuple[float, ...]


@dataclass(frozen=True)
class Column:
    """A column of a table; its values are numbers, texts, or the ends of bins."""

    name: str
    values: tuple[Any, ...]
    units: str = ""
    independent: bool = False
    errors: tuple[Errors, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table, what it shows, and its columns, of which those that are no result come first."""

    name: str
    description: str
    columns: tuple[Column, ...]
    keywords: tuple[str, ...] = ()

    def column(self, name: str) -> Column:
        """The column of a name."""
        return next(column for column in self.columns if column.name == name)


def tables_of(result: SearchResult, found: Characterisation | None = None) -> tuple[Table, ...]:
    """Significances, the null distribution, nuisance parameters, and every variable's distributions and ratios."""
    made = [_significances(result), _null(result)]
    if result.nuisances:
        made.append(_nuisances(result))
    for number, profile in enumerate(() if found is None else found.profiles, start=1):
        made += [_distribution(profile, number), _ratio(profile, number)]
    return tuple(made)


def _significances(result: SearchResult) -> Table:
    rows: list[tuple[str, float, EmpiricalP]] = []
    combined = result.combined
    if combined is None:
        rows.append((f"width {result.plan.width:.4g}", result.statistic, result.empirical))
    else:
        rows.append(("all together", result.statistic, result.empirical))
        for scale in combined.scales:
            words = f"width {scale.width:.4g}, penalty {scale.penalty:.4g}"
            rows.append((words, scale.statistic, scale.empirical))
        rows += [(t.label, t.statistic, EmpiricalP(t.exceedances, t.toys)) for t in combined.terms]
    judged = [one for _, _, one in rows]
    p = np.array([one.p_value for one in judged])
    low, high = np.array([one.interval for one in judged]).T
    interval = Errors("95 % interval of toys", _numbers(np.maximum(p - low, 0)), _numbers(np.maximum(high - p, 0)))
    return Table(
        "Significance",
        f"{result.verdict()} The data are {count(result.data_size, 'event')}, where {result.plan.expected:.6g} are "
        "expected. The p-value of the search is that of the first row; those below it are not corrected for their "
        "number. p = (toys at or above the data + 1) / (toys + 1).",
        (
            Column("Test", tuple(words for words, _, _ in rows), independent=True),
            Column("Statistic", _numbers([t for _, t, _ in rows])),
            Column("p-value", _numbers(p), errors=(interval,)),
            Column("Z", _numbers([one.z_score for one in judged])),
            Column("Toys", tuple(one.toys for one in judged)),
            Column("Toys at or above the data", tuple(one.exceedances for one in judged)),
        ),
        ("p-value", "model-independent search"),
    )


def _null(result: SearchResult) -> Table:
    filled = null_histogram(result)
    above = int(filled.values(flow=True)[-1])
    beyond = f" {count(above, 'toy')} without a finite statistic count as extreme." if above else ""
    return Table(
        "Null distribution",
        f"Test statistic of {count(len(result.null), 'null toy')}; the data have {result.statistic:.10g}.{beyond}",
        (
            _bins("Test statistic", np.asarray(filled.axes[0].edges)),
            Column("Toys", tuple(int(n) for n in filled.values())),
        ),
        ("null distribution",),
    )


def _nuisances(result: SearchResult) -> Table:
    errors = _numbers([one.error for one in result.nuisances])
    return Table(
        "Nuisance parameters",
        "Best values under the hypothesis that the data follow the reference, in units of the uncertainties given.",
        (
            Column("Uncertainty", tuple(one.name for one in result.nuisances), independent=True),
            Column(
                "Best value",
                _numbers([one.value for one in result.nuisances]),
                errors=(Errors("fit", errors, errors),),
            ),
        ),
        ("nuisance parameters",),
    )


def _distribution(profile: RatioProfile, number: int) -> Table:
    reference, data = contents(profile.reference), contents(profile.data)
    own = np.sqrt(np.asarray(profile.reference.variances(flow=True), dtype=np.float64))
    errors = [_symmetric("simulated events", own)]
    if profile.uncertainty is not None:
        errors.append(_symmetric("systematic", profile.uncertainty))
    down, up = _of_counts(profile)
    columns = [
        _bins(*_axis(profile), profile.edges),
        Column("Data", _inner(data), errors=(Errors("Poisson", _inner(down), _inner(up)),)),
        Column("Reference", _inner(reference), errors=tuple(errors)),
        *(Column(f"Reference: {process}", _inner(events)) for process, events in profile.stack),
        Column("Reference times learned ratio", _inner(contents(profile.reweighted))),
    ]
    outside = (
        f"Below the first bin are {data[0]:g} events of data and {reference[0]:.6g} expected, above the last "
        f"{data[-1]:g} and {reference[-1]:.6g}."
    )
    without = ""
    if any(profile.without):
        without = f" Without a value are {profile.without[0]} simulated events and {profile.without[1]} of data."
    title = (
        f"Events along {profile.name}: data, reference, and the reference reweighted to the data. {outside}{without}"
    )
    return Table(_named("Distribution", number, profile), title, tuple(columns), ("distribution",))


def _ratio(profile: RatioProfile, number: int) -> Table:
    shown = [bool(x) for x in np.isfinite(profile.learned_ratio[1:-1])]
    bins = np.stack([profile.edges[:-1], profile.edges[1:]], axis=1)[shown]
    columns = [
        Column(_axis(profile)[0], tuple(map(tuple, bins.tolist())), _axis(profile)[1], independent=True),
        Column("Learned ratio", _inner(profile.learned_ratio, shown)),
    ]
    if profile.band is not None:
        middle = profile.band[2]
        levels = (("68 % of null toys", 1, 3), ("95 % of null toys", 0, 4))
        errors = (
            Errors(label, _inner(middle - profile.band[low], shown), _inner(profile.band[high] - middle, shown))
            for label, low, high in levels
        )
        columns.append(Column("Median of null toys", _inner(middle, shown), errors=tuple(errors)))
    words = f"The learned ratio of data to reference along {profile.name}, with what it is in null toys."
    return Table(_named("Learned ratio", number, profile), words, tuple(columns), ("learned ratio",))


def _axis(profile: RatioProfile) -> tuple[str, str]:
    """The name of an axis and its unit.

    The unit is what an analysis has in brackets at the end.
    """
    words = profile.axis or profile.name
    parts = _UNIT.match(words)
    return (words, "") if parts is None else (parts[1], parts[2])


def _bins(name: str, *more: Any) -> Column:
    *units, edges = more
    ends = tuple(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    return Column(name, ends, units[0] if units else "", independent=True)


def _of_counts(profile: RatioProfile) -> tuple[Array, Array]:
    """How far the 68 % interval of each count reaches down and up."""
    counts = contents(profile.data)
    low, high = poisson_interval(counts)
    return counts - low, high - counts


def _symmetric(label: str, values: Array) -> Errors:
    return Errors(label, _inner(values), _inner(values))


def _inner(values: Array, shown: list[bool] | None = None) -> tuple[float, ...]:
    """The bins without the open ends, those that are shown."""
    inner = np.asarray(values, dtype=np.float64)[1:-1]
    return _numbers(inner if shown is None else inner[shown])


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(np.asarray(values, dtype=np.float64).tolist())


def _named(kind: str, number: int, profile: RatioProfile) -> str:
    """A name that no other table has, and whose file can have any system's name."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", " ", profile.name).strip()
    return f"{kind} {number} {plain}"[:_LONGEST].strip()
