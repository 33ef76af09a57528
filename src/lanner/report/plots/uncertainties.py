"""Plots of systematic uncertainties: pulls and constraints, what looks like them, and whether variations close."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lanner.report.plots.style import (
    BLACK,
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
from lanner.report.text.words import number, p_value
from lanner.run.uncertain import Nuisance
from lanner.uncertainties.closure import Closure
from lanner.uncertainties.pulls import FeaturePulls

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PULL_68, PULL_95 = "#b5dfb0", "#fbeeb0"  # the green and yellow bands of pulls, pale enough to read points on
_ROW, _MARGIN = 0.27, 1.25  # inches for each nuisance, and for the rest
_REACH = 3.2  # of the axis of pulls at least, in uncertainties
_LONGEST_NAME = 34
_LEAST_P = 1e-6  # below which p-values are pointed at
_COLUMNS = 3  # of features beside each other
_DIRECTIONS = {"up": ("^", BLUE), "down": ("v", ORANGE)}


def by_pull(nuisances: Sequence[Nuisance]) -> list[Nuisance]:
    """Nuisances with the largest pull first."""
    return sorted(nuisances, key=lambda n: -abs(n.value))


def figure_of_nuisances(nuisances: Sequence[Nuisance]) -> Figure:
    """Pulls, and beside them how much the departure looks like each nuisance, where that is known."""
    with hep_style():
        figure = new_figure((7.0, _height(len(nuisances))))
        if all(n.resemblance is None for n in nuisances):
            plot_pulls(nuisances, figure.add_subplot())
            return figure
        left, right = figure.subplots(1, 2, sharey=True, gridspec_kw={"width_ratios": (1.6, 1), "wspace": 0.04})
        plot_pulls(nuisances, left)
        plot_resemblances(nuisances, right)
        right.tick_params(labelleft=False)
    return figure


def plot_pulls(nuisances: Sequence[Nuisance], ax: Axes | None = None) -> Axes:
    """The fitted value and error of each nuisance over the bands of what was known before, the largest pull on top."""
    shown = by_pull(nuisances)[::-1]
    with hep_style():
        ax = new_axes(size=(7.0, _height(len(shown)))) if ax is None else ax
        places = np.arange(len(shown))
        values, errors = np.array([n.value for n in shown]), np.array([n.error for n in shown])
        ax.axvspan(-2, 2, color=PULL_95, linewidth=0, label="±2", zorder=0.4)
        ax.axvspan(-1, 1, color=PULL_68, linewidth=0, label="±1 before the fit", zorder=0.5)
        ax.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":")
        ax.errorbar(values, places, xerr=errors, fmt="o", color=BLACK, markersize=4.5, linewidth=1.3, capsize=2.5,
                    label="fitted to the data")  # fmt: skip
        reach = max(_REACH, 1.08 * float(np.max(np.abs(values) + errors, initial=0.0)))
        ax.set_xlim(-reach, reach)
        _name_rows(ax, [n.name for n in shown])
        ax.set_xlabel("nuisance parameter, in units of its uncertainty")
        legend_above(ax, columns=3)
    return ax


def plot_resemblances(nuisances: Sequence[Nuisance], ax: Axes | None = None) -> Axes:
    """The cosine of the learned departure with each nuisance, in the order of `plot_pulls`, beside null toys."""
    shown = by_pull(nuisances)[::-1]
    with hep_style():
        ax = new_axes(size=(7.0, _height(len(shown)))) if ax is None else ax
        places = np.arange(len(shown))
        usual = np.array([np.nan if n.resemblance_of_toys is None else n.resemblance_of_toys for n in shown])
        if np.isfinite(usual).any():
            ax.barh(places, 2 * usual, left=-usual, height=0.62, color="#e6e6e6", label="95 % of null toys", zorder=1)
        values = np.array([np.nan if n.resemblance is None else n.resemblance for n in shown])
        ax.hlines(places, 0.0, values, color=VERMILION, linewidth=1.6, zorder=2)
        ax.plot(values, places, "o", color=VERMILION, markersize=5, label="data", zorder=3)
        ax.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":")
        ax.set_xlim(-1.08, 1.08)
        ax.set_xticks([-1, -0.5, 0, 0.5, 1], ["−1", "−0.5", "0", "0.5", "1"])
        _name_rows(ax, [n.name for n in shown])
        ax.set_xlabel("resemblance of the departure")
        legend_above(ax, columns=2)
    return ax


def plot_closures(closures: Sequence[Closure], ax: Axes | None = None) -> Axes:
    """The p-value of each learned variation's closure, and the level below which it fails."""
    names = list(dict.fromkeys(closure.name for closure in closures))[::-1]
    with hep_style():
        ax = new_axes(size=(7.0, _height(len(names)))) if ax is None else ax
        for direction, (marker, colour) in _DIRECTIONS.items():
            shown = [c for c in closures if c.direction == direction]
            p = np.array([max(c.p_value, _LEAST_P) for c in shown])
            rows = np.array([names.index(c.name) for c in shown]) + (0.14 if direction == "up" else -0.14)
            ax.plot(p, rows, marker, color=colour, markersize=6, linestyle="none", label=direction)
        failing = [c for c in closures if not c.closes]
        rows = np.array([names.index(c.name) + (0.14 if c.direction == "up" else -0.14) for c in failing])
        ax.plot([max(c.p_value, _LEAST_P) for c in failing], rows, "o", color=VERMILION, markersize=12,
                markerfacecolor="none", markeredgewidth=1.6, label="does not close")  # fmt: skip
        level = min(c.level for c in closures)
        ax.axvspan(
            _LEAST_P / 3, level, color="#f9dccb", linewidth=0, zorder=0.4, label=f"below the level {number(level, 2)}"
        )
        ax.set_xscale("log")
        ax.set_xlim(_LEAST_P / 2, 1.6)
        _name_rows(ax, names)
        ax.set_xlabel(f"p-value of the closure (those below {number(_LEAST_P)} at the edge)")
        legend_above(ax, columns=4)
    return ax


def figure_of_closure(closures: Sequence[Closure]) -> Figure:
    """Pulls of varied events against the reweighted reference in bins of every feature, up and down."""
    features = [pulls.feature for pulls in closures[0].pulls]
    columns = min(_COLUMNS, len(features))
    rows = -(-len(features) // columns)
    with hep_style():
        figure = new_figure((7.0 if columns > 1 else 4.6, 1.0 + 1.9 * rows))
        panels = np.atleast_1d(figure.subplots(rows, columns, sharey=True, squeeze=False)).ravel()
        reach = max(3.5, 1.1 * max(float(np.abs(p.pulls).max(initial=0.0)) for c in closures for p in c.pulls))
        for j, (ax, feature) in enumerate(zip(panels, features, strict=False)):
            _plot_pulls_of_feature([(c, c.pulls[j]) for c in closures], ax)
            ax.set_ylim(-reach, reach)
            ax.set_xlabel(as_label(feature, 26))
            if j % columns == 0:
                ax.set_ylabel("pull")
        for ax in panels[len(features) :]:
            ax.set_visible(False)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2, handlelength=1.6)
    return figure


def _plot_pulls_of_feature(closures: Sequence[tuple[Closure, FeaturePulls]], ax: Axes) -> None:
    """Bins hold as many events each, so they are drawn as wide as each other."""
    ax.axhspan(-2, 2, color="#f0f0f0", linewidth=0, zorder=0.4)
    ax.axhspan(-1, 1, color="#dedede", linewidth=0, zorder=0.5)
    for closure, pulls in closures:
        marker, colour = _DIRECTIONS[closure.direction]
        bins = np.arange(len(pulls.pulls)) + 0.5 + (-0.1 if closure.direction == "up" else 0.1)
        ok = "" if closure.closes else ", DOES NOT CLOSE"
        label = f"{closure.direction}: p = {p_value(closure.p_value)}{ok}"
        ax.plot(bins, pulls.pulls, marker, color=colour, markersize=4, linestyle="none", label=label)
    edges = closures[0][1].edges
    ticks = sorted({round(k) for k in np.linspace(0, len(edges) - 1, min(len(edges), 3)).tolist()})
    ax.set_xticks([k + 1 for k in ticks], [number(float(edges[k]), 3) for k in ticks])
    ax.set_xticks(np.arange(1, len(edges) + 1), minor=True)
    ax.set_xlim(0, len(edges) + 1)


def _height(rows: int) -> float:
    return _MARGIN + _ROW * max(rows, 2)


def _name_rows(ax: Axes, names: Sequence[str]) -> None:
    ax.set_yticks(range(len(names)), [as_label(name, _LONGEST_NAME) for name in names])
    ax.tick_params(axis="y", which="both", left=False, right=False)
    ax.set_ylim(-0.7, len(names) - 0.3)
