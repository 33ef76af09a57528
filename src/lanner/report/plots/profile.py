"""Plots of one variable: distributions above, ratios below."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.text import count
from lanner.report.plots.style import (
    BAND_68,
    BAND_95,
    BLACK,
    BLUE,
    GREY,
    PURPLE,
    STACK,
    VERMILION,
    as_axis,
    as_label,
    hep_style,
    legend_above,
    new_axes,
    new_figure,
)
from lanner.report.profiles import RatioProfile, contents
from lanner.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lanner.report.expected import ExpectedProfile


_WIDE = 50.0  # ratio of the largest to the smallest expectation from which the counts go on a logarithmic axis
_TICKS = 12  # at most, along whole numbers
_TALL = 6.0  # learned ratio from which ratios do


def figure_of_profile(profile: RatioProfile) -> Figure:
    """Both panels of a variable in a figure of their own."""
    with hep_style():
        figure = new_figure((7.0, 5.4))
        upper, lower = figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": (1.5, 1), "hspace": 0.04})
        plot_distributions(profile, upper)
        plot_ratio(profile, lower)
        upper.set_xlabel("")
        upper.tick_params(labelbottom=False)
        figure.align_ylabels([upper, lower])
    return figure


def plot_distributions(profile: RatioProfile, ax: Axes | None = None) -> Axes:
    """The reference, the reference reweighted by the learned ratio, and the data, in events per bin."""
    with hep_style():
        ax = new_axes() if ax is None else ax
        edges, shown = _drawn(profile)
        reference, reweighted = (contents(h)[shown] for h in (profile.reference, profile.reweighted))
        counts = contents(profile.data)[shown]
        _, low, high = (row[shown] for row in profile.data_ratio)
        centers = 0.5 * (edges[:-1] + edges[1:])
        stacked(ax, [(label, part[shown]) for label, part in profile.stack], edges)
        if not profile.stack:
            ax.stairs(reference, edges, fill=True, color="#e3e3e3")
        name = "reference" if profile.uncertainty is None else "reference, uncertainties as fitted"
        ax.stairs(reference, edges, color=GREY, linewidth=1.2, label=name)
        if profile.uncertainty is not None:
            _uncertain(ax, reference, profile.uncertainty[shown], edges, label=None)
        ax.stairs(reweighted, edges, color=VERMILION, linewidth=1.6, label="reference × learned ratio")
        # The ends of the interval are ratios to the reference; where that is empty, the square root has to do.
        known = reference > 0
        below = np.where(known, counts - low * np.where(known, reference, 1), np.sqrt(counts))
        above = np.where(known, high * np.where(known, reference, 1) - counts, np.sqrt(counts))
        with_events = counts > 0
        _points(ax, centers, counts, np.stack([below, above]), with_events)
        positive = np.concatenate([reference[reference > 0], counts[with_events]])
        scale_of_counts(ax, positive)
        flow(ax, profile, edges)
        ax.set_ylabel("events per bin")
        name_axis(ax, profile)
        legend_above(ax, columns=3)
    return ax


def plot_ratio(profile: RatioProfile, ax: Axes | None = None) -> Axes:
    """The learned ratio, the data over the reference, and what the learned ratio does in null toys."""
    with hep_style():
        ax = new_axes() if ax is None else ax
        edges, shown = _drawn(profile)
        centers = 0.5 * (edges[:-1] + edges[1:])
        learned = profile.learned_ratio[shown]
        ratio, low, high = (row[shown] for row in profile.data_ratio)
        band = None if profile.band is None else profile.band[:, shown]
        if band is not None:
            ax.stairs(band[4], edges, baseline=band[0], fill=True, color=BAND_95, label="null toys, 95 %")
            ax.stairs(band[3], edges, baseline=band[1], fill=True, color=BAND_68, label="68 %")
            ax.stairs(band[2], edges, baseline=None, color=BLUE, linewidth=0.9, linestyle=":", label="median")
        ax.axhline(1.0, color=BLACK, linewidth=0.8)
        error = None if profile.ratio_uncertainty is None else profile.ratio_uncertainty[shown]
        if error is not None:
            _uncertain(ax, np.ones(len(error)), np.nan_to_num(error), edges, label="uncertainties, ±1σ")
        bottom, top, scale = _limits(learned, ratio, low, band)
        ax.set_yscale(scale)
        ax.set_ylim(bottom, top)
        inside = np.isfinite(ratio) & (ratio <= top) & (ratio >= bottom)
        _points(ax, centers, ratio, np.stack([ratio - low, high - ratio]), inside, label=None)
        # Points beyond the axis are pointed at, never left out.
        for beyond, marker, place in ((ratio > top, "^", 0.97), (ratio < bottom, "v", 0.03)):
            if beyond.any():
                ax.plot(centers[beyond], np.full(beyond.sum(), place), marker, transform=ax.get_xaxis_transform(),
                        color=BLACK, markersize=4.5, markerfacecolor="white")  # fmt: skip
        ax.stairs(learned, edges, baseline=None, color=VERMILION, linewidth=1.8)
        flow(ax, profile, edges)
        ax.set_ylabel("ratio to reference")
        name_axis(ax, profile)
        if band is not None or error is not None:
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 0.99), ncols=4, borderaxespad=0.0, handlelength=1.4,
                      fontsize=8.5, columnspacing=1.0)  # fmt: skip
    return ax


def stacked(ax: Axes, parts: Sequence[tuple[str, Array]], edges: Array) -> None:
    """Processes one on top of another; what is negative in a bin takes away from what lies below."""
    below = np.zeros(len(edges) - 1)
    for (label, part), color in zip(parts, cycle(STACK), strict=False):
        ax.stairs(below + part, edges, baseline=below, fill=True, color=color, label=as_label(label, 24))
        below = below + part


def _uncertain(ax: Axes, middle: Array, error: Array, edges: Array, *, label: str | None) -> None:
    """The error of the reference from its systematic uncertainties."""
    band: Any = {"baseline": middle - error, "fill": True, "zorder": 2.2}
    ax.stairs(middle + error, edges, color=PURPLE, alpha=0.5, linewidth=0, label=label, **band)


def _points(
    ax: Axes, x: Array, y: Array, errors: Array, shown: NDArray[np.bool_], *, label: str | None = "data"
) -> None:
    look: Any = {"fmt": "o", "color": BLACK, "markersize": 3.5, "linewidth": 1}
    ax.errorbar(x[shown], y[shown], yerr=errors[:, shown], label=label, **look)


def _limits(learned: Array, ratio: Array, ratio_low: Array, band: Array | None) -> tuple[float, float, str]:
    """The axis of ratios: wide enough for what was learned, for the band, and for points that clearly stand out."""
    parts = [learned, np.ones(1)] + ([] if band is None else [band[0], band[4]])
    values = np.concatenate(parts)
    values = values[np.isfinite(values) & (values > 0)]
    low, high = float(values.min()), float(values.max())
    points = ratio[np.isfinite(ratio) & (ratio > 0)]
    if high > _TALL:
        reach = float(points.max()) if points.size else 1.0
        return max(0.7 * min(low, 0.5), 0.05), 1.6 * max(high, min(reach, 10 * high)), "log"
    reach = float(np.quantile(points, 0.9)) if points.size else 1.0
    # Points whose interval ends above everything else are a peak, not a fluctuation of a few events.
    peaks = ratio[np.isfinite(ratio) & (ratio_low > 1.15 * high)]
    top = max(1.15 * high, min(1.2 * reach, 2 * high), 1.3, 1.2 * float(peaks.max(initial=0.0)))
    # A flat learned ratio is shown flat: never zoom in on less than +-30 %.
    bottom = max(0.0, min(0.7, low - 0.2, 2 - top))
    return bottom, top, "linear"


def _drawn(profile: RatioProfile) -> tuple[Array, slice]:
    """Edges as drawn, with a bin for an open end where it holds events, and which bins those are."""
    edges = profile.edges
    content = [np.abs(contents(h)) for h in (profile.reference, profile.data)]
    under, over = (bool(any(c[i] > 0 for c in content)) for i in (0, -1))
    width = max(float(np.median(np.diff(edges))), 0.03 * float(edges[-1] - edges[0]))
    drawn = [[edges[0] - width]] * under + [edges] + [[edges[-1] + width]] * over
    return np.concatenate(drawn), slice(0 if under else 1, None if over else -1)


def scale_of_counts(ax: Axes, positive: Array) -> None:
    """Counts along a logarithmic axis where the largest is many times the smallest, otherwise from 0."""
    if positive.size and positive.max() > _WIDE * positive.min():
        ax.set_yscale("log")
        ax.set_ylim(max(0.4 * positive.min(), 1e-4 * positive.max()), 2.5 * positive.max())
    else:
        ax.set_ylim(0, None)


def flow(ax: Axes, profile: RatioProfile | ExpectedProfile, drawn: Array) -> None:
    """Mark the bins that are open ends, so that nobody takes their width for a bin's."""
    edges = profile.edges
    for start, stop, text in ((drawn[0], edges[0], "underflow"), (edges[-1], drawn[-1], "overflow")):
        if stop > start:
            ax.axvspan(start, stop, facecolor="none", edgecolor=GREY, hatch="///", linewidth=0, alpha=0.35, zorder=0.5)
            ax.axvline(edges[0] if text == "underflow" else edges[-1], color=GREY, linewidth=0.8, linestyle=":")
    ax.set_xlim(drawn[0], drawn[-1])


def name_axis(ax: Axes, profile: RatioProfile | ExpectedProfile) -> None:
    """What stands on the axis of a variable, and its ticks."""
    edges = profile.edges
    if np.all(edges % 1 == 0.5):  # bins of whole numbers: a tick for each, and none in the open ends
        # Of many only some: an event number has a thousand million, and no array should hold them.
        number = int(edges[-1] - edges[0])
        ax.set_xticks(edges[0] + 0.5 + np.arange(0, number, -(-number // _TICKS)))
        ax.set_xticks([], minor=True)
    notes = [] if profile.fitted else ["not used in the fit"]
    lost = sum(profile.without)
    if lost:
        notes.append(f"without {count(lost, 'event')} that lack it")
    ax.set_xlabel(as_axis(profile.name, profile.axis) + (f"  ({', '.join(notes)})" if notes else ""))
