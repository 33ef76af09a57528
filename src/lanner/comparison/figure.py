"""The figure of a comparison: what each test finds, and what a toy of it costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lanner._util.text import is_beyond
from lanner.report.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, SKY, VERMILION, hep_style

if TYPE_CHECKING:
    from lanner.comparison.compare import Comparison

_LOOKS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "D"), (VERMILION, "^"), (SKY, "v"), (BLACK, "P"))


def draw_comparison(result: Comparison, path: Path) -> None:
    """A line per test: Z on the left, milliseconds per toy on the right."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    rows = list(reversed(result.rows))
    places = np.arange(len(rows))
    with hep_style():
        figure = Figure(figsize=(9.5, 0.42 * len(rows) + 2.2), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 1.2))
        signals = list(dict.fromkeys((f.signal, f.signal_events) for r in rows for f in r.found))
        legend = []
        for k, signal in enumerate(signals):
            colour, marker = _LOOKS[k % len(_LOOKS)]
            shift = 0.5 * ((k + 0.5) / len(signals) - 0.5)
            name, events = signal
            legend.append(Line2D([], [], color=colour, marker=marker, markersize=5, label=f"{name}, {events:g} events"))
            for place, row in zip(places, rows, strict=True):
                for f in (f for f in row.found if (f.signal, f.signal_events) == signal):
                    low, middle, high = f.z
                    # Open where it is more than can be shown.
                    face = "white" if is_beyond(middle, row.most) else colour
                    left.errorbar(middle, place - shift, xerr=[[middle - low], [high - middle]], fmt=marker,
                                  color=colour, markerfacecolor=face, markersize=5, linewidth=1.2)  # fmt: skip
        if not signals:
            left.plot([r.z_score for r in rows], places, "o", color=BLUE, markersize=6)
        left.plot([r.reach for r in rows], places, "|", color=GREY, markersize=14)
        reach = "the most that the toys show" + ("; open: more than their tail can" if signals else "")
        legend.append(Line2D([], [], linestyle="none", color=GREY, marker="|", markersize=14, label=reach))
        left.set_yticks(places, [r.test for r in rows])
        for ax in (left, right):
            ax.tick_params(axis="y", which="minor", left=False, right=False)
        left.set_xlabel("significance Z: median, 16 % to 84 %" if signals else "significance Z")
        left.set_ylim(-0.6, len(rows) - 0.4)
        right.barh(places, [1e3 * r.seconds_per_toy for r in rows], color=GREY, height=0.5)
        right.set_xscale("log")
        right.set_xlabel("ms per toy")
        figure.legend(handles=legend, loc="outside upper center", ncols=4, fontsize=9)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=110)
