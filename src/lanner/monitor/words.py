"""What a monitor says in words: a line for each batch, and the state in a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lanner._util.text import Rows, count, joined
from lanner.monitor.judge import BatchVerdict
from lanner.report.plots.style import visible
from lanner.report.text.words import number, p_value, z_score

if TYPE_CHECKING:
    from lanner.monitor.store import BatchStore

KINDS = {"batch": "a single batch", "windows": "a window of batches", "drift": "a slow drift"}


def batches(number_of: int) -> str:
    """So many of them.

    >>> batches(1), batches(2)
    ('1 batch', '2 batches')
    """
    return "1 batch" if number_of == 1 else f"{number_of} batches"


def line(verdict: BatchVerdict) -> str:
    """A batch in one line of a terminal."""
    return f"{visible(verdict.name)}  {count(verdict.events, 'event')}  {outcome(verdict)}"


def outcome(verdict: BatchVerdict) -> str:
    """What was found, in a few words."""
    if verdict.p_value is None:
        return "no events: says nothing" if verdict.events == 0 else "too few events to be tested alone"
    words = [f"p {bound(verdict)}{p_value(verdict.p_value)}"]
    if verdict.p_count is not None:
        words.append(f"{number(verdict.expected, 4)} expected")
    words += [f"ALARM ({alarm.kind}): {alarm.reason}" for alarm in verdict.alarms]
    if verdict.alarms and verdict.features:
        words.append(leading(verdict))
    words += [f"tolerated ({alarm.kind}): {alarm.reason}" for alarm in verdict.tolerated]
    return "; ".join(words)


def bound(verdict: BatchVerdict) -> str:
    """Whether a p-value is a limit, which no toy has reached, or a number."""
    return "≤ " if verdict.is_limit else "= "


def effect(verdict: BatchVerdict) -> str:
    """The size of a departure with its interval."""
    e = verdict.effect
    return "" if e is None else f"{percent(e.size)} ({percent(e.low)} to {percent(e.high)})"


def percent(share: float) -> str:
    """A part of one.

    >>> percent(0.0312), percent(2.2), percent(0.0)
    ('3.1 %', '220 %', '0 %')
    """
    return f"{number(100 * share, 2)} %"


def leading(verdict: BatchVerdict) -> str:
    """The feature that departs most."""
    first = verdict.features[0]
    return f"{visible(first.words)} (Z = {z_score(first.z_score, 1)})"


def summary_rows(store: BatchStore) -> Rows:
    """The state of a monitor."""
    entries, rules = store.entries, store.calibration.rules
    events = sum(entry.record.events for entry in entries)
    untested = sum(entry.decided.p_value is None for entry in entries)
    alarms = [entry.decided for entry in entries if entry.decided.is_alarm]
    rows = [
        (
            "batches",
            f"{len(entries)}, {count(events, 'event')}"
            + (f", {untested} too small to be tested alone" if untested else ""),
        )
    ]
    for kind, words in KINDS.items():
        of_kind = [v.name for v in alarms if any(alarm.kind == kind for alarm in v.alarms)]
        rows.append(
            (f"alarms of {words}", f"{len(of_kind)}{': ' + joined(list(map(visible, of_kind))) if of_kind else ''}")
        )
    flagged = [entry.record.name for entry in entries if entry.is_flagged]
    rows.append(("flagged batches", f"{len(flagged)}{': ' + joined(list(map(visible, flagged))) if flagged else ''}"))
    quarantined = store.quarantined
    if quarantined:
        names = [visible(refusal.name) for refusal in quarantined]
        rows.append(("not counted", f"{len(names)}: {joined(names)} (reasons in quarantine.jsonl)"))
    rows += promises(store)
    yardstick = store.calibration.yardstick
    rows.append(("reference", f"worth {yardstick.worth:.0f} events, in {count(len(yardstick.names), 'feature')}"))
    ways = 0 if yardstick.widths[0].spread is None else len(yardstick.widths[0].spread)
    if ways:
        rows.append(("run-to-run spread", f"{count(ways, 'way')} in which good batches differ, taken away"))
    return [*rows, ("typical batch", f"{rules.batch:g} events")]


def promises(store: BatchStore) -> Rows:
    """How often each decision is wrong."""
    calibration = store.calibration
    rules, thresholds = calibration.rules, calibration.thresholds
    once = f"once in {rules.run_length:g} batches"
    rows = [("false alarms, single batches", f"{once}: p below {number(float(np.exp(thresholds.single)), 2)}")]
    if thresholds.windows is not None:
        lengths = ", ".join(map(str, calibration.windows))
        rows.append(
            (f"false alarms, windows of {lengths}", f"{once}: p below {number(float(np.exp(thresholds.windows)), 2)}")
        )
    if thresholds.drift is not None:
        rows.append(("false alarms, drift", f"{once}: evidence above {number(float(np.exp(thresholds.drift)), 2)}"))
    rows.append(("false flags", f"{percent(rules.false_discoveries)} of those flagged"))
    if rules.tolerance:
        rows.append(("tolerance", f"departures that may be below {percent(rules.tolerance)} are no alarm"))
    return rows + [("not promised", words) for words in calibration.refused]
