"""The figures of the time line: p-values of batches and windows, evidence, drift of features, and bins of a batch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lanner.monitor.bins import FeatureDeparture
from lanner.monitor.charts import AXIS, GRID, SOFT, Chart, diverging, fitted, powers
from lanner.monitor.drift import Shifts
from lanner.monitor.history import Entry
from lanner.monitor.words import bound
from lanner.report.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION
from lanner.report.text.words import number, p_value
from lanner.typing import Array

_WIDTH = 1120.0
_LEFT = 118.0  # of all frames above each other, so that a batch is in one line
_COLORS = (BLUE, GREEN, PURPLE, SKY, ORANGE, BLACK)
_DECADES = 3.0  # beyond the threshold, after which points are at the edge
_TEN = math.log(10)


def link_of(entry: Entry) -> str:
    """Where a batch is described."""
    return f"batch-{entry.decided.number}"


def figure_of_p(entries: Sequence[Entry], threshold: float) -> str:
    """p of each batch, with the threshold (log p) of alarms."""
    heights = [_decades(entry.decided.p_value) for entry in entries]
    at, top = -threshold / _TEN, _top(heights, -threshold / _TEN)
    chart = _chart(entries, 240, (0.0, top))
    chart.y_ticks([(-k, words) for k, words in powers(-top, 0)])
    chart.y_label("p-value")
    chart.level(at, VERMILION, f"alarm below p = {number(10**-at, 2)}")
    chart.frame()
    radius = 4.0 if len(entries) <= 150 else 2.5 if len(entries) <= 500 else 1.6
    marks: list[tuple[float, float]] = []
    alarms: list[tuple[str, float, float]] = []
    for x, (entry, y) in enumerate(zip(entries, heights, strict=True)):
        verdict = entry.decided
        if not math.isfinite(y):
            chart.mark(
                x,
                0.0,
                color=GREY,
                radius=1.5,
                hint=f"{verdict.name}: {verdict.events} events, not tested alone",
                link=link_of(entry),
            )
            continue
        alarm = any(a.kind == "batch" for a in verdict.alarms)
        color = VERMILION if alarm else ORANGE if verdict.is_alarm else BLUE
        hint = f"{verdict.name}: p {bound(verdict)}{p_value(verdict.p_value or 0.0)}, {verdict.events} events"
        chart.mark(x, y, color=color, radius=radius + (1.5 if alarm else 0), hint=hint, link=link_of(entry))
        if entry.is_flagged:
            chart.mark(x, y, color=VERMILION, radius=radius + 4.5, ring=True)
        marks.append((chart.px(x), chart.py(y)))
        if alarm:
            alarms.append((verdict.name, *marks[-1]))
    for name, x_at, y_at in alarms:
        words = fitted(name, 85)
        end, width = x_at > 0.85 * chart.width, 14 + 6.6 * len(words)
        span = (x_at - width, x_at - 1) if end else (x_at + 1, x_at + width)
        if not any(span[0] - 8 < u < span[1] + 8 and abs(v - y_at) < 15 and u != x_at for u, v in marks):
            marks.append((sum(span) / 2, y_at))
            side = -10 if end else 10
            chart.text(x_at + side, y_at + 4, words, anchor="end" if end else "start", color=VERMILION, bold=True)
    return chart.svg("The p-value of each batch, in the order of arrival", "line")


def figure_of_windows(entries: Sequence[Entry], lengths: Sequence[int], threshold: float) -> str:
    """p of windows that end with each batch."""
    curves = {k: [_decades(_window(entry, k)) for entry in entries] for k in lengths}
    at = -threshold / _TEN
    top = _top([y for ys in curves.values() for y in ys], at)
    chart = _chart(entries, 200, (0.0, top))
    chart.y_ticks([(-k, words) for k, words in powers(-top, 0)])
    chart.y_label("p-value")
    for j, (k, ys) in enumerate(curves.items()):
        chart.curve(range(len(entries)), ys, _COLORS[j % len(_COLORS)])
        x = chart.left + 130 * j
        chart.line([(x, 14), (x + 22, 14)], _COLORS[j % len(_COLORS)], width=2)
        chart.text(x + 28, 18, f"last {k} batches")
    chart.level(at, VERMILION, f"alarm below p = {number(10**-at, 2)}")
    chart.frame()
    _alarms(chart, entries, "windows", lambda entry: max(_decades(w.p_value) for w in entry.decided.windows))
    return chart.svg("The p-value of the last batches together", "line")


def figure_of_evidence(entries: Sequence[Entry], threshold: float) -> str:
    """Evidence of a drift as it accumulates, with its threshold (log R)."""
    heights = [entry.decided.log_r / _TEN for entry in entries]
    at = threshold / _TEN
    finite = [y for y in heights if math.isfinite(y)]
    low, top = min([-1.0, *finite]), _top(heights, at)
    chart = _chart(entries, 200, (max(low, -4.0), top))
    chart.y_ticks(powers(max(low, -4.0), top))
    chart.y_label("evidence R")
    chart.curve(range(len(entries)), heights, BLUE)
    chart.level(at, VERMILION, f"alarm above R = {number(10**at, 2)}")
    chart.frame()
    _alarms(chart, entries, "drift", lambda entry: entry.decided.log_r / _TEN)
    return chart.svg("Accumulated evidence of a slow drift", "line")


def figure_of_drift(shifts: Shifts, names: Sequence[str]) -> str:
    """How far each feature has moved in each batch, or group of batches."""
    columns, rows = shifts.shift.shape[1], len(shifts.names)
    sure = shifts.sure
    most = max(0.05, float(np.quantile(np.abs(sure), 0.99)) if sure.size else 0.0)
    chart = Chart(_WIDTH, 62.0 + 19 * rows, (-0.5, columns - 0.5), (0.0, float(rows)), left=_LEFT, bottom=52)
    for row, feature in enumerate(shifts.names):
        y = rows - row
        chart.text(chart.left - 7, (chart.py(y) + chart.py(y - 1)) / 2 + 4, fitted(feature, 108), anchor="end")
        for x in np.flatnonzero(np.abs(sure[row]) > 0.03 * most):
            moved, error = shifts.shift[row, x], shifts.error[x]
            hint = f"{names[int(x)]}, {feature}: {moved:+.3f} ± {error:.3f}"
            chart.cell((x - 0.5, x + 0.5), (y - 1, y), diverging(sure[row, x], most), hint)
        if row:
            chart.line([(chart.left, chart.py(y)), (chart.width - chart.right, chart.py(y))], GRID)
    chart.frame()
    chart.x_ticks(_names(names, chart.width))
    _color_bar(chart, most)
    return chart.svg("Mean shift of each feature in units of its spread", "line")


def figure_of_bins(feature: FeatureDeparture, edges: Array, share: Array, counts: Array, worth: float) -> str:
    """Events of a batch in the bins of a feature over those of the reference."""
    total = counts.sum()
    expected = total * np.maximum(share, 1 / worth)
    ratio, error = counts / expected, np.sqrt(np.maximum(counts, 1.0)) / expected
    top = float(np.clip(1.15 * np.max(ratio + error), 2.0, 6.0))
    chart = Chart(330, 190, (0.0, float(len(edges))), (0.0, top), left=40, top=24, right=10)
    chart.text(chart.left, 15, fitted(feature.name, 270), color=BLACK, bold=True)
    step = 1 if top <= 4 else 2
    chart.y_ticks([(y, str(y)) for y in range(0, int(top) + 1, step)])
    worst = edges == feature.low
    for color, some in ((BLUE, np.flatnonzero(~worst)), (VERMILION, np.flatnonzero(worst))):
        chart.bars([(int(k) + 0.12, int(k) + 0.88, 1.0, float(ratio[k])) for k in some], color + "40")
        chart.errors([(int(k) + 0.5, float(ratio[k]), float(error[k])) for k in some], color)
    chart.line([(chart.left, chart.py(1)), (chart.width - chart.right, chart.py(1))], SOFT)
    chart.frame()
    inner = list(range(1, len(edges)))
    shown = sorted({inner[0], inner[len(inner) // 2], inner[-1]}) if inner else []
    chart.x_ticks([(k, f"{edges[k]:.3g}") for k in shown])
    return chart.svg(f"Events over the reference in bins of {feature.name}")


def _chart(entries: Sequence[Entry], height: float, y: tuple[float, float]) -> Chart:
    chart = Chart(_WIDTH, height, (-0.5, max(1, len(entries)) - 0.5), y, left=_LEFT, top=26)
    chart.x_ticks(_names([entry.record.name for entry in entries], _WIDTH))
    return chart


def _names(names: Sequence[str], width: float) -> list[tuple[float, str]]:
    """As many names along the axis as there is room for."""
    if not names:
        return []
    each = 10 + 6.4 * min(14, max(map(len, names)))
    step = max(1, math.ceil(len(names) * each / (width - 120)))
    return [(k, fitted(names[k], 90)) for k in range(0, len(names), step)]


def _decades(p: float | None) -> float:
    """-log10 p; NaN where there is none."""
    return math.nan if p is None else -math.log10(max(p, 1e-300))


def _window(entry: Entry, length: int) -> float | None:
    return next((w.p_value for w in entry.decided.windows if w.batches == length), None)


def _top(heights: Sequence[float], threshold: float) -> float:
    highest = max([y for y in heights if math.isfinite(y)], default=0.0)
    return max(threshold + 0.7, min(highest + 0.3, threshold + _DECADES))


def _alarms(chart: Chart, entries: Sequence[Entry], kind: str, height: object) -> None:
    for x, entry in enumerate(entries):
        for alarm in entry.decided.alarms:
            if alarm.kind == kind:
                hint = f"{entry.record.name}: {alarm.reason}"
                chart.mark(x, height(entry), color=VERMILION, radius=4.5, hint=hint, link=link_of(entry))  # type: ignore[operator]


def _color_bar(chart: Chart, most: float) -> None:
    y, x, width = chart.height - 14, chart.left, 8.0
    chart.text(x, y + 4, f"−{number(most, 2)}")
    for k in range(21):
        color = diverging((k - 10) / 10, 1.0)
        chart.parts.append(
            f'<rect x="{x + 46 + k * width:g}" y="{y - 6:g}" width="{width:g}" height="11" fill="{color}"/>'
        )
    chart.parts.append(
        f'<rect x="{x + 46:g}" y="{y - 6:g}" width="{21 * width:g}" height="11" fill="none" stroke="{AXIS}"/>'
    )
    chart.text(x + 52 + 21 * width, y + 4, f"+{number(most, 2)} standard deviations")
