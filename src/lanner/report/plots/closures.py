"""Plots of whether learned variations close."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lanner.report.plots.style import (
    BLUE,
    GREY,
    ORANGE,
    VERMILION,
    as_label,
    hep_style,
    legend_above,
    new_axes,
    new_figure,
)
from lanner.report.plots.uncertainties import height, name_rows
from lanner.report.text.words import number, p_value
from lanner.typing import Array
from lanner.uncertainties.closure import Closure
from lanner.uncertainties.pulls import FeaturePulls

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ABREAST = 8  # features beside each other in a map of biases
_LEAST_P = 1e-6  # below which p-values are pointed at
_LEAST_REACH = 1.4  # of the axis of biases
_COLUMNS = 3  # of features beside each other
_DIRECTIONS = {"up": ("^", BLUE), "down": ("v", ORANGE)}
_STRONG = 1.5  # biases with the strongest colour, in standard deviations of the data
_MANY_CELLS = 2000  # that are drawn as one image


def plot_closures(closures: Sequence[Closure], ax: Axes | None = None) -> Axes:
    """The p-value of each learned variation's closure and the level below which it fails, the smallest on top."""
    ranked = sorted(closures, key=lambda c: c.p_value)
    names = list(dict.fromkeys(closure.name for closure in ranked))[::-1]
    with hep_style():
        ax = new_axes(size=(7.0, height(len(names)))) if ax is None else ax
        for direction, (marker, colour) in _DIRECTIONS.items():
            shown = [c for c in closures if c.direction == direction]
            p = np.array([max(c.p_value, _LEAST_P) for c in shown])
            rows = np.array([names.index(c.name) for c in shown]) + (0.14 if direction == "up" else -0.14)
            ax.plot(p, rows, marker, color=colour, markersize=6, linestyle="none", label=direction)
        failing = [c for c in closures if not c.closes]
        rows = np.array([names.index(c.name) + (0.14 if c.direction == "up" else -0.14) for c in failing])
        if failing:
            ax.plot([max(c.p_value, _LEAST_P) for c in failing], rows, "o", color=VERMILION, markersize=12,
                    markerfacecolor="none", markeredgewidth=1.6, label="does not close")  # fmt: skip
        level = min(c.level for c in closures)
        left = max(min(level / 30, 0.3 * min(c.p_value for c in closures)), _LEAST_P / 2)
        ax.axvspan(
            _LEAST_P / 3, level, color="#f9dccb", linewidth=0, zorder=0.4, label=f"below the level {number(level, 2)}"
        )
        ax.set_xscale("log")
        ax.set_xlim(left, 1.6)
        name_rows(ax, names)
        beyond = any(c.p_value < _LEAST_P for c in closures)
        ax.set_xlabel("p-value of the closure" + (f" (those below {number(_LEAST_P)} at the edge)" if beyond else ""))
        legend_above(ax, columns=4)
    return ax


def figure_of_closure(closures: Sequence[Closure]) -> Figure:
    """Varied events less the reweighted reference in bins of every feature, up and down.

    In standard deviations of the data expected in a bin, which is what closure is judged by; the bars are the
    statistical error of the events that were compared, so that points over bars are the pulls.
    """
    features = [pulls.feature for pulls in closures[0].pulls]
    columns = min(_COLUMNS, len(features))
    rows = -(-len(features) // columns)
    with hep_style():
        figure = new_figure((7.0 if columns > 1 else 4.6, 1.0 + 1.9 * rows))
        panels = np.atleast_1d(figure.subplots(rows, columns, sharey=True, squeeze=False)).ravel()
        largest = max(float((np.abs(p.bias) + _errors(p)).max(initial=0.0)) for c in closures for p in c.pulls)
        reach = max(_LEAST_REACH, 1.1 * largest)
        for j, (ax, feature) in enumerate(zip(panels, features, strict=False)):
            _plot_pulls_of_feature([(c, c.pulls[j]) for c in closures], ax)
            ax.set_ylim(-reach, reach)
            ax.set_xlabel(as_label(feature, 26))
            if j % columns == 0:
                ax.set_ylabel("bias / σ of the data")
        for ax in panels[len(features) :]:
            ax.set_visible(False)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2, handlelength=1.6)
    return figure


def figure_of_biases(closures: Sequence[Closure], features: slice = slice(0, ABREAST)) -> Figure:
    """The bias of every variation in bins of some features, by colour: one row for each, the smallest p on top."""
    ranked = sorted(closures, key=lambda c: c.p_value)[::-1]
    chosen = ranked[0].pulls[features]
    with hep_style():
        figure = new_figure((7.0, 1.1 + 0.19 * max(len(ranked), 5)))
        panels = figure.subplots(1, len(chosen), sharey=True, squeeze=False)[0]
        for j, (ax, pulls) in enumerate(zip(panels, chosen, strict=True)):
            values = np.stack([closure.pulls[features][j].bias for closure in ranked])
            rows, columns = values.shape
            mesh = ax.pcolormesh(np.arange(columns + 1), np.arange(rows + 1) - 0.5, values, cmap="PuOr_r",
                                 vmin=-_STRONG, vmax=_STRONG, rasterized=rows * columns > _MANY_CELLS)  # fmt: skip
            ax.set_xlabel(as_label(pulls.feature, max(8, 60 // len(chosen))), fontsize=9)
            ax.set_xticks([])
            ax.tick_params(axis="both", which="both", length=0)
        labels = [f"{as_label(c.name, 30)} {c.direction}" for c in ranked]
        panels[0].set_yticks(range(len(ranked)), labels, fontsize=7.5)
        panels[0].set_yticks([], minor=True)
        for tick, closure in zip(panels[0].get_yticklabels(), ranked, strict=True):
            tick.set_color("black" if closure.closes else VERMILION)
        bar = figure.colorbar(mesh, ax=list(panels), extend="both", pad=0.02, fraction=0.04)
        bar.set_label("bias / σ of the data", fontsize=9)
    return figure


def _plot_pulls_of_feature(closures: Sequence[tuple[Closure, FeaturePulls]], ax: Axes) -> None:
    """Bins hold as many events each, so they are drawn as wide as each other."""
    ax.axhspan(-1, 1, color="#e6e6e6", linewidth=0, zorder=0.5)
    ax.axhline(0.0, color=GREY, linewidth=0.8, linestyle=":")
    for closure, pulls in closures:
        marker, colour = _DIRECTIONS[closure.direction]
        bins = np.arange(len(pulls.pulls)) + 0.5 + (-0.1 if closure.direction == "up" else 0.1)
        ok = "" if closure.closes else ", DOES NOT CLOSE"
        label = f"{closure.direction}: p = {p_value(closure.p_value)}{ok}"
        ax.errorbar(bins, pulls.bias, yerr=_errors(pulls), fmt=marker, color=colour, markersize=4, linewidth=1,
                    label=label)  # fmt: skip
    edges = closures[0][1].edges
    ticks = sorted({round(k) for k in np.linspace(0, len(edges) - 1, min(len(edges), 3)).tolist()})
    ax.set_xticks([k + 1 for k in ticks], [number(float(edges[k]), 3) for k in ticks])
    ax.set_xticks(np.arange(1, len(edges) + 1), minor=True)
    ax.set_xlim(0, len(edges) + 1)


def _errors(pulls: FeaturePulls) -> Array:
    """The statistical error of each bin's bias: the bias over its pull."""
    size = np.abs(pulls.bias)
    return np.asarray(np.divide(size, np.abs(pulls.pulls), out=np.zeros(len(size)), where=pulls.pulls != 0))
