"""Plots of nuisance parameters: pulls and constraints, and what looks like them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lanner.report.plots.style import (
    BLACK,
    GREY,
    VERMILION,
    as_label,
    hep_style,
    legend_above,
    new_axes,
    new_figure,
    visible,
)
from lanner.run.uncertain import Nuisance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PULL_68, PULL_95 = "#b5dfb0", "#fbeeb0"  # the green and yellow bands of pulls, pale enough to read points on
_ROW, _MARGIN = 0.27, 1.25  # inches for each nuisance, and for the rest
_REACH = 3.2  # of the axis of pulls at least, in uncertainties
_LINE = 27  # letters of a name


def by_pull(nuisances: Sequence[Nuisance]) -> list[Nuisance]:
    """Nuisances with the largest pull first."""
    return sorted(nuisances, key=lambda n: -abs(n.value))


def figure_of_nuisances(nuisances: Sequence[Nuisance]) -> Figure:
    """Pulls, and beside them how much the departure looks like each nuisance, where that is known."""
    with hep_style():
        figure = new_figure((7.0, height(len(nuisances))))
        if all(n.resemblance is None for n in nuisances):
            plot_pulls(nuisances, figure.add_subplot())
            return figure
        left, right = figure.subplots(1, 2, sharey=True, gridspec_kw={"width_ratios": (1.6, 1), "wspace": 0.04})
        plot_pulls(nuisances, left)
        plot_resemblances(nuisances, right)
        right.tick_params(labelleft=False)
        for ax in (left, right):  # beside each other they would collide: one for both
            ax.get_legend().remove()
        handles, labels = (
            [one for pair in pairs for one in pair]
            for pairs in zip(*(ax.get_legend_handles_labels() for ax in (left, right)), strict=True)
        )
        figure.legend(handles, labels, loc="outside upper right", ncols=5, handlelength=1.4, columnspacing=1.2)
    return figure


def plot_pulls(nuisances: Sequence[Nuisance], ax: Axes | None = None) -> Axes:
    """The fitted value and error of each nuisance over the bands of what was known before, the largest pull on top."""
    shown = by_pull(nuisances)[::-1]
    with hep_style():
        ax = new_axes(size=(7.0, height(len(shown)))) if ax is None else ax
        places = np.arange(len(shown))
        values, errors = np.array([n.value for n in shown]), np.array([n.error for n in shown])
        ax.axvspan(-2, 2, color=PULL_95, linewidth=0, label="±2", zorder=0.4)
        ax.axvspan(-1, 1, color=PULL_68, linewidth=0, label="±1 before the fit", zorder=0.5)
        ax.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":")
        ax.errorbar(values, places, xerr=errors, fmt="o", color=BLACK, markersize=4.5, linewidth=1.3, capsize=2.5,
                    label="fitted")  # fmt: skip
        reach = max(_REACH, 1.08 * float(np.max(np.abs(values) + errors, initial=0.0)))
        ax.set_xlim(-reach, reach)
        name_rows(ax, [n.name for n in shown])
        ax.set_xlabel("ν, in units of each uncertainty")
        legend_above(ax, columns=3)
    return ax


def plot_resemblances(nuisances: Sequence[Nuisance], ax: Axes | None = None) -> Axes:
    """The cosine of the learned departure with each nuisance, in the order of `plot_pulls`, beside null toys."""
    shown = by_pull(nuisances)[::-1]
    with hep_style():
        ax = new_axes(size=(7.0, height(len(shown)))) if ax is None else ax
        places = np.arange(len(shown))
        usual = np.array([np.nan if n.resemblance_of_toys is None else n.resemblance_of_toys for n in shown])
        if np.isfinite(usual).any():
            ax.barh(places, 2 * usual, left=-usual, height=0.62, color="#e6e6e6", label="95 % of null toys", zorder=1)
        values = np.array([np.nan if n.resemblance is None else n.resemblance for n in shown])
        ax.hlines(places, 0.0, values, color=VERMILION, linewidth=1.6, zorder=2)
        ax.plot(values, places, "o", color=VERMILION, markersize=5, label="resemblance", zorder=3)
        ax.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":")
        ax.set_xlim(-1.08, 1.08)
        ax.set_xticks([-1, -0.5, 0, 0.5, 1], ["-1", "-0.5", "0", "0.5", "1"])
        name_rows(ax, [n.name for n in shown])
        ax.set_xlabel("resemblance")
        legend_above(ax, columns=2)
    return ax


def height(rows: int) -> float:
    """Of a figure with a row for each of so many names, in inches."""
    return _MARGIN + _ROW * max(rows, 2)


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """A name for each row, from the lowest; long ones in two lines."""
    labels = [in_two_lines(name) for name in names]
    ax.set_yticks(range(len(names)), labels)
    for tick, label in zip(ax.get_yticklabels(), labels, strict=False):  # of shared axes only the first has labels
        tick.set_fontsize(7.5 if "\n" in label else 9.5)
        tick.set_linespacing(0.95)
    ax.tick_params(axis="y", which="both", left=False, right=False)
    ax.set_ylim(-0.7, len(names) - 0.3)


def in_two_lines(name: str) -> str:
    r"""A name of any length, in up to two lines; the beginning and the end of a very long one.

    >>> in_two_lines("b-tagging efficiency of light jets, bin 17")
    'b-tagging efficiency of\nlight jets, bin 17'
    """
    lines = textwrap.wrap(visible(name), _LINE)
    if len(name) <= _LINE or not lines:
        return as_label(name)
    last = lines[1] if len(lines) <= 2 else f"…{name[1 - _LINE :]}"
    return "\n".join(as_label(line) for line in (lines[0], last))
