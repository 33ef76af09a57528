"""The time line of a monitor as one HTML page: it loads nothing, and everything that comes from files is escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from lanner._util.text import joined
from lanner.monitor import figures
from lanner.monitor.drift import Shifts, shifts
from lanner.monitor.history import Entry
from lanner.monitor.words import KINDS, batches, bound, effect, outcome, promises
from lanner.report.page import resource, template_of
from lanner.report.text.words import number, p_value, z_score
from lanner.typing import Array

if TYPE_CHECKING:
    from lanner.monitor.store import BatchStore

TITLE = "Do the batches follow the reference?"
_MOST = 1000  # batches in the figures, the last ones
_DETAILED = 200  # batches that are described one by one, the last ones, beside those with alarms
_ALARMS = 200  # of these
_COLUMNS = 250  # of the map of drift: more batches are joined
_FEATURES = 20  # in it
_SCRIPT = "refresh.js"


def render(store: BatchStore, *, refresh: float | None = None) -> str:
    """The page as text. With `refresh` a browser that shows it reads it again after so many seconds."""
    from markupsafe import Markup

    import lanner

    entries = store.entries
    shown = entries[-_MOST:]
    script = None if refresh is None else resource(_SCRIPT, "lanner.monitor").replace("SECONDS", f"{refresh:g}")
    alarmed = [entry for entry in entries if entry.decided.is_alarm]
    bad = [entry for entry in alarmed if entry not in shown[-_DETAILED:]][-_ALARMS:]
    return str(
        template_of("timeline.html.j2", "lanner.monitor")(
            title=TITLE,
            styles=Markup(resource("report.css") + resource("timeline.css", "lanner.monitor")),
            script=None if script is None else Markup(script),
            script_digest="" if script is None else _digest(script),
            refresh=refresh,
            verdict=_verdict(store),
            left_off=len(entries) - len(shown),
            calibration=store.calibration,
            promises=promises(store),
            kinds=KINDS,
            number_of=batches(len(entries)),
            events=sum(entry.record.events for entry in entries),
            figures={name: Markup(svg) for name, svg in _figures(store, shown).items()},
            alarmed=list(reversed(alarmed[-_MOST:])),
            flagged=[entry for entry in entries if entry.is_flagged],
            flagged_by_lord=[entry.record.name for entry in entries if entry.is_flagged_by_lord],
            quarantined=store.quarantined[-_MOST:],
            described=[_described(store, entry) for entry in reversed([*bad, *shown[-_DETAILED:]])],
            link_of=figures.link_of,
            written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
            version=lanner.__version__,
        )
    )


def figure_of_p(store: BatchStore) -> str:
    """The first figure alone, for a notebook."""
    return figures.figure_of_p(store.entries[-_MOST:], store.calibration.thresholds.single)


def _verdict(store: BatchStore) -> str:
    entries = store.entries
    alarmed = [entry.record.name for entry in entries if entry.decided.is_alarm]
    if not entries:
        return "No batch has come yet."
    if not alarmed:
        return f"No alarm in {batches(len(entries))}."
    return f"Alarms with {len(alarmed)} of {batches(len(entries))}: {joined(alarmed)}."


def _figures(store: BatchStore, entries: Sequence[Entry]) -> dict[str, str]:
    if not entries:
        return {}
    of, thresholds = store.calibration, store.calibration.thresholds
    found = {"p": figures.figure_of_p(entries, thresholds.single)}
    if thresholds.windows is not None:
        found["windows"] = figures.figure_of_windows(entries, of.windows, thresholds.windows)
    if thresholds.drift is not None:
        found["evidence"] = figures.figure_of_evidence(entries, thresholds.drift)
    drifting, names = _drift(store, entries)
    if drifting is not None:
        found["drift"] = figures.figure_of_drift(drifting.leading(_FEATURES), names)
    return found


def _drift(store: BatchStore, entries: Sequence[Entry]) -> tuple[Shifts | None, list[str]]:
    """Shifts of batches, neighbours joined where they are many."""
    yardstick = store.calibration.yardstick
    if not any(entry.record.sums is not None for entry in entries):
        return None, []
    groups = np.array_split(np.arange(len(entries)), min(len(entries), _COLUMNS))
    counts = np.array([sum(_counts(store, entries[k]) for k in group) for group in groups])
    names = [entries[group[0]].record.name for group in groups]
    return shifts(yardstick.bins, counts, yardstick.worth), names


def _counts(store: BatchStore, entry: Entry) -> Array:
    yardstick = store.calibration.yardstick
    sums = entry.record.sums
    return np.zeros(yardstick.bins.number) if sums is None else sums[yardstick.part_of_bins]


def _described(store: BatchStore, entry: Entry) -> dict[str, Any]:
    """A batch by itself."""
    from markupsafe import Markup

    verdict, bins = entry.verdict, store.calibration.yardstick.bins
    plots = []
    if entry.record.sums is not None:
        parts = np.split(_counts(store, entry), np.cumsum([len(edges) for edges in bins.edges])[:-1])
        for feature in verdict.features:
            j = bins.names.index(feature.name)
            worth = store.calibration.yardstick.worth
            plots.append(Markup(figures.figure_of_bins(feature, bins.edges[j], bins.shares[j], parts[j], worth)))
    numbers = []
    if verdict.p_value is not None:
        z = "" if verdict.z_score is None else f"Z {'≥' if verdict.is_limit else '='} {z_score(verdict.z_score)}"
        numbers.append(f"p {bound(verdict)}{p_value(verdict.p_value)}, {z}")
    if verdict.is_limit and verdict.p_extrapolated is not None:
        numbers.append(f"continued beyond the toys, an extrapolation, p = {p_value(verdict.p_extrapolated)}")
    if verdict.p_shape is not None and verdict.p_count is not None:
        shape, number_of = p_value(verdict.p_shape), p_value(verdict.p_count)
        numbers.append(f"by its shape p = {shape}, by its number of events p = {number_of}")
    if verdict.expected is not None:
        numbers.append(f"{verdict.events} events where {number(verdict.expected, 5)} are expected")
    return {
        "entry": entry,
        "verdict": verdict,
        "link": figures.link_of(entry),
        "outcome": _short(entry),
        "numbers": numbers,
        "effect": effect(verdict),
        "window": _in_window(store, entry),
        "plots": plots,
        "origin": "" if entry.record.origin is None else str(entry.record.origin.get("path", "")),
    }


def _in_window(store: BatchStore, entry: Entry) -> str:
    """The features that depart in the window of an alarm."""
    if not any(alarm.kind == "windows" for alarm in entry.decided.alarms):
        return ""
    length = min(entry.decided.windows, key=lambda w: w.p_value).batches
    before = [e for e in store.entries[: entry.decided.number + 1] if e.record.sums is not None]
    yardstick = store.calibration.yardstick
    counts = np.sum([_counts(store, e) for e in before[-length:]], axis=0)
    return "; ".join(f.words for f in yardstick.bins.departures(counts, yardstick.worth)[:3])


def _short(entry: Entry) -> str:
    verdict = entry.decided
    if verdict.p_value is None:
        return outcome(verdict)
    words = [f"p {bound(verdict)}{p_value(verdict.p_value)}"]
    words += [f"ALARM ({alarm.kind})" for alarm in verdict.alarms]
    return ", ".join(words + (["flagged"] if entry.is_flagged else []))


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
