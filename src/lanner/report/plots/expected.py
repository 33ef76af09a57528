"""Plots of a search whose data nobody has looked at: what is expected, and what may be found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lanner._util.text import count
from lanner.inference.null import Null
from lanner.report.expected import ExpectedProfile
from lanner.report.plots.profile import flow, name_axis, scale_of_counts, stacked
from lanner.report.plots.style import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    PALE,
    VERMILION,
    as_label,
    hep_style,
    legend_above,
    new_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 40
_LINES = (ORANGE, VERMILION)


def plot_expected(profile: ExpectedProfile, ax: Axes | None = None) -> Axes:
    """The events expected in each bin, by process, with how much data fluctuate there."""
    with hep_style():
        ax = new_axes() if ax is None else ax
        width = max(float(np.median(np.diff(profile.edges))), 0.03 * float(profile.edges[-1] - profile.edges[0]))
        under, over = bool(profile.content[0] != 0), bool(profile.content[-1] != 0)
        ends = [profile.edges[0] - width] * under, [profile.edges[-1] + width] * over
        edges = np.concatenate([ends[0], profile.edges, ends[1]])
        shown = slice(0 if under else 1, None if over else -1)
        content, spread = profile.content[shown], profile.fluctuation[shown]
        stacked(ax, [(label, part[shown]) for label, part in profile.stack], edges)
        if not profile.stack:
            ax.stairs(content, edges, fill=True, color="#e3e3e3")
        ax.stairs(content, edges, color=GREY, linewidth=1.2, label="expected")
        ax.stairs(content + spread, edges, baseline=np.maximum(content - spread, 0.0), fill=True, color=BLACK,
                  alpha=0.2, linewidth=0, label="±√n, as data fluctuate", zorder=2.2)  # fmt: skip
        error = profile.error[shown]
        if bool(np.any(error > 0.5 * spread)):  # too few reference events to be taken as exact there
            middle = 0.5 * (edges[:-1] + edges[1:])
            ax.errorbar(
                middle, content, yerr=error, fmt="none", color=BLACK, linewidth=1, label="reference's own error"
            )
        positive = content[content > 0]
        scale_of_counts(ax, positive)
        flow(ax, profile, edges)
        ax.set_ylabel("expected events per bin")
        name_axis(ax, profile)
        legend_above(ax, columns=3)
    return ax


def plot_null_alone(null: Null, thresholds: Sequence[tuple[float, float | None]], ax: Axes | None = None) -> Axes:
    """The null toys, and from where on data have so many standard deviations."""
    toys = null.statistics[np.isfinite(null.statistics)]
    there = [(level, at) for level, at in thresholds if at is not None]
    with hep_style():
        ax = new_axes() if ax is None else ax
        low, high = (float(toys.min()), float(toys.max())) if toys.size else (0.0, 1.0)
        low = min(low, 0.0) if 0 < low < 0.3 * high else low
        end = max([high, *(at for _, at in there)])
        edges = np.linspace(low, high if high > low else low + 1.0, _BINS + 1).tolist()
        ax.hist(toys, bins=edges, color=PALE, edgecolor=GREY, linewidth=0.8, label=count(len(toys), "null toy"))
        for (level, at), color in zip(there, _LINES, strict=False):
            ax.axvline(at, color=color, linewidth=2, label=f"{level:g}σ from {at:.3g}")
        ax.set_xlim(low, end + 0.05 * (end - low))
        ax.set_xlabel("test statistic")
        ax.set_ylabel("toys")
        legend_above(ax, columns=3)
    return ax


def plot_departures(
    departures: Sequence[tuple[str, str, tuple[float, float, float]]],
    levels: Sequence[float],
    ax: Axes | None = None,
) -> Axes:
    """The median Z of each departure, with the band that holds 68 % of its toys."""
    with hep_style():
        ax = new_axes(size=(7.0, 1.3 + 0.36 * len(departures))) if ax is None else ax
        places = np.arange(len(departures))[::-1]
        low, middle, high = np.array([band for _, _, band in departures]).T
        ax.errorbar(middle, places, xerr=np.stack([middle - low, high - middle]), fmt="o", color=BLUE, markersize=5,
                    linewidth=2)  # fmt: skip
        for level, color in zip(levels, _LINES, strict=False):
            ax.axvline(level, color=color, linewidth=1.2, linestyle="--", label=f"{level:g}σ")
        ax.axvline(0.0, color=GREY, linewidth=0.8)
        ax.set_yticks(places, [as_label(name, 32) for name, _, _ in departures])
        ax.set_yticks([], minor=True)
        ax.set_ylim(-0.6, len(departures) - 0.4)
        ax.set_xlabel("Z that the search would find: median, and 16 % to 84 % of the toys")
        legend_above(ax, columns=len(levels))
    return ax
