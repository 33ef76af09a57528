"""The parts that the figures of a reproduction have in common: panels, null distributions, points with bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from lanner.inference.weighted_chi2 import WeightedChi2
from lanner.paper.reproduce.stages import Numbers
from lanner.paper.reproduce.summaries import not_positive
from lanner.report.plots.style import BAND_68, BAND_95, BLACK, BLUE, GREEN, GREY, PALE, VERMILION, as_label
from lanner.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def panels(
    lines: int = 1, columns: int = 1, *, width: float | None = None, height: float | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure and its panels, line by line; their size in inches is smaller where there are several."""
    from matplotlib.figure import Figure

    width = width or (6.4 if lines * columns == 1 else 4.9)
    height = height or (4.2 if lines == 1 else 3.6)
    figure = Figure(figsize=(width * columns, height * lines), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(lines, columns)).ravel())


def draw_null(ax: Axes, null: Numbers, *, reach: float = 0.0) -> None:
    """Null toys with the fitted chi2 and the analytic law, which are drawn up to `reach` at least."""
    t = np.array(null["t"])
    # Single toys far away, as there are where N0 is small, must not hide the others.
    first, median, third = np.quantile(t, (0.25, 0.5, 0.75))
    shown = t[np.abs(t - median) < 8 * (third - first)]
    beyond = f", {len(t) - len(shown)} beyond the axis" if len(shown) < len(t) else ""
    draw_histogram(ax, shown, GREY, f"{len(t)} null toys{beyond}", fill=True)
    grid = np.linspace(max(1e-3, shown.min()), max(shown.max(), reach), 300)
    fit = null["goodness_of_fit"]
    words = f"goodness of fit p = {fit:.2g}" if fit is not None else f"closest; {not_positive(null)}"
    label = f"χ², {null['dof']:.1f} dof ({words})"
    ax.plot(grid, stats.chi2.pdf(grid, null["dof"]), color=GREEN, linestyle="--", label=label)
    law = WeightedChi2(np.array(null["analytic_weights"]))
    ax.plot(grid, law.pdf(grid), color=BLUE, label="analytic null")
    ax.set(xlabel="test statistic t", ylabel="density")


def draw_histogram(ax: Axes, t: Array, colour: str, label: str, *, fill: bool = False) -> None:
    """A histogram of unit area."""
    edges = np.histogram_bin_edges(t, bins="fd" if len(t) > 50 else 10)
    counts = np.histogram(t, edges, density=True)[0]
    ax.stairs(counts, edges, color=PALE if fill else colour, fill=fill, label=label, linewidth=1.5)
    if fill:
        ax.stairs(counts, edges, color=colour, linewidth=0.8)


def draw_points(ax: Axes, x: Any, y: Any, colour: str, marker: str, label: str) -> None:
    """Points with 68 % bars: y, and x if it has them too, are rows of low, middle and high."""
    (x, x_bars), (y, y_bars) = (_middle_and_bars(np.asarray(values)) for values in (x, y))
    ax.errorbar(x, y, xerr=x_bars, yerr=y_bars, fmt=marker, color=colour, markersize=5, linewidth=1, label=label)


def _middle_and_bars(values: Array) -> tuple[Array, Array | None]:
    if values.ndim == 1:
        return values, None
    return values[:, 1], np.abs(values[:, [0, 2]] - values[:, [1]]).T


def draw_scan(ax: Axes, rows: list[Numbers], variable: str, colour: str, label: str) -> None:
    """The mean t of null toys against a setting of the fit."""
    x, mean, error = (np.array([row[name] for row in rows]) for name in (variable, "mean", "error"))
    ax.errorbar(x, mean, yerr=error, fmt="o-", color=colour, markersize=4, label=label)


def draw_ratio(ax: Axes, profile: Numbers) -> None:
    """The learned density ratio, the toy's and the ideal one against a variable, with the bands of null toys."""
    edges = np.array(profile["edges"])

    def inner(name: str) -> Array:
        return np.array([np.nan if v is None else v for v in profile[name]], dtype=np.float64)[1:-1]

    if "null_0.025" in profile:
        ax.stairs(inner("null_0.975"), edges, baseline=inner("null_0.025"), fill=True, color=BAND_95)
        ax.stairs(inner("null_0.84"), edges, baseline=inner("null_0.16"), fill=True, color=BAND_68, label="null toys")
    middle = 0.5 * (edges[1:] + edges[:-1])
    toy, low, high = inner("data_ratio"), inner("data_ratio_low"), inner("data_ratio_high")
    ideal, learned = inner("ideal_ratio"), inner("learned_ratio")
    top = np.nanmax(np.concatenate([ideal, learned, [1.06]]))
    bottom = np.nanmin(np.concatenate([ideal, learned, [0.96]]))
    ax.errorbar(middle, toy, yerr=[toy - low, high - toy], fmt=".", color=GREY, linewidth=0.8, label="toy")
    ax.stairs(ideal, edges, baseline=None, color=BLACK, linestyle="--", linewidth=1.3, label="ideal")
    ax.stairs(learned, edges, baseline=None, color=VERMILION, linewidth=1.6, label="learned")
    if top > 5:
        ax.set(yscale="log", ylim=(0.5 * max(bottom, 0.1), 2.5 * top))
    else:
        ax.set_ylim(max(0.0, 1 - 1.6 * (1 - bottom)), 1 + 1.6 * (top - 1))
    ax.axhline(1.0, color=GREY, linewidth=0.6)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_xlabel(as_label(profile["name"]) + ("" if profile["fitted"] else " (not given to the fit)"))
