"""The figure of a comparison: what each test finds, and what a toy of it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.text import is_beyond
from lanner.comparison.table import Comparison, Row
from lanner.report.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, SKY, VERMILION, hep_style

_LOOKS = (
    (BLUE, "o"),
    (ORANGE, "s"),
    (GREEN, "D"),
    (VERMILION, "^"),
    (SKY, "v"),
    (BLACK, "P"),
    (GREY, "X"),
    (BLUE, "<"),
)


def draw_comparison(result: Comparison, path: Path) -> None:
    """A line for each test: Z on the left and, where it was measured, milliseconds per toy on the right.

    Of a test with several combinations the default is shown; of a suite the ideal test too.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import NullFormatter

    rows = [r for r in reversed(result.rows) if r.statistic in ("single", "harmonic")]
    titles = [r.title for r in rows] + (["ideal"] if result.signals else [])
    places = np.arange(len(titles))
    timed = any(np.isfinite(r.seconds_per_toy) for r in rows)
    signals = list(dict.fromkeys((f.signal, f.signal_events) for r in rows for f in r.found))
    height = max(0.42, 0.12 * len(signals)) * len(titles) + 2.2
    with hep_style():
        figure = Figure(figsize=(9.5, height), layout="constrained")
        if timed:
            left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 1.2))
            right.barh(places[: len(rows)], [1e3 * r.seconds_per_toy for r in rows], color=GREY, height=0.5)
            right.set_xscale("log")
            right.xaxis.set_major_formatter("{x:g}")
            right.xaxis.set_minor_formatter(NullFormatter())
            right.set_xlabel("ms per toy")
            right.tick_params(axis="y", which="minor", left=False, right=False)
        else:
            left = figure.subplots()
        legend = []
        for k, (name, events) in enumerate(signals):
            colour, marker = _LOOKS[k % len(_LOOKS)]
            shift = 0.7 * ((k + 0.5) / len(signals) - 0.5)
            label = f"{name}, {events:.4g} events"
            legend.append(Line2D([], [], linestyle="none", color=colour, marker=marker, markersize=5, label=label))
            for place, row in zip(places, rows, strict=False):
                _draw_found(left, row, (name, events), place - shift, colour, marker)
            ideal = [s.ideal for s in result.signals if s.name == name]
            left.plot(ideal, [places[-1] - shift] * len(ideal), marker, color=colour, markersize=6)
        if not signals:
            left.plot([r.z_score for r in rows], places, "o", color=BLUE, markersize=6)
        left.plot([r.reach for r in rows], places[: len(rows)], "|", color=GREY, markersize=14)
        reach = "the most that the toys show" + ("; open: more than can be shown" if signals else "")
        legend.append(Line2D([], [], linestyle="none", color=GREY, marker="|", markersize=14, label=reach))
        left.set_yticks(places, titles)
        left.tick_params(axis="y", which="minor", left=False, right=False)
        left.set_xlabel("significance Z: median, 16 % to 84 %" if signals else "significance Z")
        left.set_ylim(-0.6, len(titles) - 0.4)
        figure.legend(handles=legend, loc="outside upper center", ncols=3, fontsize=9)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=110)


def _draw_found(ax: Any, row: Row, signal: tuple[str, float], place: float, colour: str, marker: str) -> None:
    """Median and spread of Z, open where it is more than can be shown."""
    for found in (f for f in row.found if (f.signal, f.signal_events) == signal):
        low, middle, high = found.z
        face = "white" if is_beyond(middle, row.most) else colour
        ax.errorbar(middle, place, xerr=[[middle - low], [high - middle]], fmt=marker, color=colour,
                    markerfacecolor=face, markersize=5, linewidth=1.2)  # fmt: skip
