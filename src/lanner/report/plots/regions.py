"""Z of several regions beside the global one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanner.report.plots.style import BLACK, BLUE, GREY, VERMILION, as_label, hep_style, new_axes
from lanner.run.regions_result import RegionsResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_regions(result: RegionsResult, ax: Axes | None = None) -> Axes:
    """Z of all regions together, and below it that of each by itself, with what the toys know of them."""
    every = [("all regions", result.empirical), *((name, one.result.empirical) for name, one in result.regions.items())]
    places = list(range(len(every)))[::-1]
    with hep_style():
        ax = new_axes(size=(7.0, 1.5 + 0.4 * len(every))) if ax is None else ax
        for place, (_, p) in zip(places, every, strict=True):
            color = VERMILION if place == places[0] else BLUE
            low, high = p.z_interval
            ax.hlines(place, low, p.z_score if high is None else high, color=color, linewidth=2)
            ax.plot([p.z_score], [place], ">" if p.is_bound else "o", color=color, markersize=7)
        ax.axvline(0.0, color=BLACK, linewidth=0.8)
        ax.axhline(places[0] - 0.5, color=GREY, linewidth=0.8)
        ax.set_yticks(places, [as_label(name, 30) for name, _ in every])
        ax.tick_params(axis="y", which="minor", left=False, right=False)
        ax.set_ylim(-0.6, len(every) - 0.4)
        ax.set_xlabel("one-sided Z")
    return ax
