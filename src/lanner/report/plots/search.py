"""Plots of a search. Each takes `ax=`, returns it, and leaves matplotlib's settings as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from lanner._util.text import count
from lanner.report.characterise import Characterisation
from lanner.report.maps import RatioMap
from lanner.report.plots.style import (
    BAND_68,
    BLACK,
    BLUE,
    GREEN,
    GREY,
    PALE,
    VERMILION,
    as_label,
    hep_style,
    legend_above,
    new_axes,
)
from lanner.report.text.summary import statistic
from lanner.report.text.verdict import law_z
from lanner.report.text.words import empirical_p, empirical_z, equation
from lanner.run.parts import Extrapolation
from lanner.run.result import SearchResult
from lanner.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_BARS = 15  # variables in a plot of importance
_FAR = 2.0  # ranges of the toys beyond which t is pointed at, not drawn to scale


def plot_null(result: SearchResult, ax: Axes | None = None) -> Axes:
    """The null toys, the laws that extrapolate beyond them, and the observed statistic."""
    t, null = result.statistic, result.null
    toys = null.statistics[np.isfinite(null.statistics)]
    with hep_style():
        ax = new_axes() if ax is None else ax
        low, high = (float(toys.min()), float(toys.max())) if toys.size else (0.0, max(t, 1.0))
        low = min(low, 0.0) if low > 0 and low < 0.3 * high else low - 0.05 * (high - low)
        reach = (high if null.analytic is None else max(high, null.analytic.isf(1e-3))) - low
        far = not np.isfinite(t) or t > high + _FAR * reach
        end = low + 1.25 * reach if far else max(low + 1.02 * reach, t + 0.06 * reach)
        if np.isfinite(t) and t < low:
            low = t - 0.05 * reach
        width = _bin_width(toys, high - low)
        edges = np.arange(low, high + width, width).tolist()
        end = max(end, edges[-1])
        label = f"{count(len(toys), 'null toy')} ({null.kind})"
        counts, _, _ = ax.hist(toys, bins=edges, color=PALE, edgecolor=GREY, linewidth=0.8, label=label)
        grid = np.linspace(max(low, 1e-3 * reach), end, 150)

        def draw(law: Extrapolation, name: str, x: Array, density: Array, look: str, color: str) -> None:
            label = f"{name}: {equation('Z', law_z(law))} (extrapolation)"
            ax.plot(x, density * width * toys.size, look, color=color, label=label)

        if null.analytic is not None and result.analytic is not None:
            name = "analytic null" if null.analytic_confirmed else "analytic null, NOT confirmed by the toys"
            draw(result.analytic, name, grid, null.analytic.pdf(grid), "-", BLUE)
        tail = null.trusted_tail
        if tail is not None and result.tail is not None and t > tail.threshold:
            beyond = grid[(grid > tail.threshold) & (grid < tail.limit)]
            draw(result.tail, "tail fitted to the toys", beyond, tail.pdf(beyond), "-", BLUE)
        if null.chi2 is not None and result.chi2 is not None:
            name = f"χ² fitted to the toys, {null.chi2.dof:.1f} dof"
            draw(result.chi2, name, grid, stats.chi2.pdf(grid, null.chi2.dof), "--", GREEN)
        p = result.empirical
        label = f"data: {statistic(result)}, {equation('p', empirical_p(p))}, {equation('Z', empirical_z(p))}"
        if far:
            ax.plot([], [], color=VERMILION, linewidth=2, label=label)
            ax.annotate(
                "",
                xy=(0.995, 0.5),
                xytext=(0.86, 0.5),
                xycoords="axes fraction",
                arrowprops={"arrowstyle": "-|>", "color": VERMILION, "linewidth": 2},
            )
            there = f"{statistic(result)}\n(off scale)"
            ax.text(0.985, 0.53, there, transform=ax.transAxes, ha="right", color=VERMILION)
        else:
            ax.axvline(t, color=VERMILION, linewidth=2, label=label)
        ax.set_xlim(low, end)
        ax.set_ylim(bottom=0)
        ax.set_xlabel("combined statistic −ln p" if result.combined else "test statistic t")
        ax.set_ylabel(f"toys per {width:.2g}")
        if result.combined:
            ax.set_yscale("log")
            ax.set_ylim(0.5, 2 * max(float(np.max(counts)), 1.0))
        legend_above(ax, columns=1)
    return ax


def plot_importance(characterisation: Characterisation, ax: Axes | None = None) -> Axes:
    """How much of the discrepancy each variable shows by itself, beside what it shows in null toys."""
    shown = characterisation.importance[:MAX_BARS][::-1]
    with hep_style():
        ax = new_axes(size=(7.0, 1.3 + 0.32 * len(shown))) if ax is None else ax
        places = list(range(len(shown)))
        null = [i.null_interval or (np.nan, np.nan) for i in shown]
        if any(i.null_interval for i in shown):
            ax.hlines(places, [n[0] for n in null], [n[1] for n in null], color=BAND_68, linewidth=9,
                      label="95 % of null toys")  # fmt: skip
            medians = [np.nan if i.null_median is None else i.null_median for i in shown]
            ax.plot(medians, places, "|", color=BLUE, markersize=10, markeredgewidth=1.5, label="their median")
        ax.plot([i.value for i in shown], places, "o", color=VERMILION, markersize=6, label="data")
        ax.set_yticks(places, [as_label(i.name, 30) + ("" if i.fitted else " *") for i in shown])
        ax.tick_params(axis="y", which="minor", left=False, right=False)
        ax.set_ylim(-0.6, len(shown) - 0.4)
        values = np.array([i.value for i in shown] + [x for pair in null for x in pair])
        values = values[np.isfinite(values) & (values > 0)]
        if values.size and values.max() > 30 * values.min():
            ax.set_xscale("log")
        else:
            ax.set_xlim(left=0)
        for place, i in zip(places, shown, strict=True):
            if i.z is not None:
                ax.text(1.015, place, f"{i.z:+.1f}", transform=ax.get_yaxis_transform(), va="center", fontsize=10)
        if any(i.z is not None for i in shown):
            ax.text(1.015, len(shown) - 0.4, "z", transform=ax.get_yaxis_transform(), va="bottom", fontsize=10)
        ax.set_xlabel("information in the variable's own distribution (units of t)")
        legend_above(ax, columns=3)
    return ax


def plot_map(ratio_map: RatioMap, ax: Axes | None = None) -> Axes:
    """The learned ratio over two variables; cells outside 95 % of the null toys carry a dot."""
    with hep_style():
        from matplotlib.colors import LogNorm
        from matplotlib.ticker import FuncFormatter, NullFormatter

        ax = new_axes(size=(7.0, 5.0)) if ax is None else ax
        x, y = ratio_map.edges
        values = ratio_map.ratio.T
        finite = np.abs(np.log(values[np.isfinite(values) & (values > 0)]))
        reach = float(np.clip(finite.max() if finite.size else 0.0, np.log(1.1), np.log(30.0)))
        clipped = finite.size > 0 and finite.max() > reach
        norm = LogNorm(np.exp(-reach), np.exp(reach))
        ax.set_facecolor("#eeeeee")
        mesh = ax.pcolormesh(x, y, np.ma.masked_invalid(values), cmap="PuOr_r", norm=norm, linewidth=0)
        if ratio_map.unusual is not None and ratio_map.unusual.any():
            i, j = np.nonzero(ratio_map.unusual)
            centers = [0.5 * (e[:-1] + e[1:]) for e in (x, y)]
            ax.plot(centers[0][i], centers[1][j], ".", color=BLACK, markersize=3)
        bar = ax.figure.colorbar(mesh, ax=ax, extend="both" if clipped else "neither", pad=0.02)
        ticks = _ratio_ticks(reach)
        bar.set_ticks(ticks)
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
        bar.ax.minorticks_off()
        bar.set_label("learned ratio, reweighted / reference")
        ax.set_xlabel(as_label(ratio_map.names[0]))
        ax.set_ylabel(as_label(ratio_map.names[1]))
    return ax


def _bin_width(toys: Array, reach: float) -> float:
    """Freedman and Diaconis' rule, which a single toy far away does not spoil; at most 100 bins."""
    if toys.size < 2 or reach <= 0:
        return 1.0
    quartiles = np.quantile(toys, (0.25, 0.75))
    return float(max(2 * (quartiles[1] - quartiles[0]) / np.cbrt(toys.size), reach / 100))


def _ratio_ticks(reach: float) -> list[float]:
    steps = [1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0]
    up = [s for s in steps if np.log(s) <= reach * 1.0001][-3:]
    return [*(round(1 / s, 3) for s in reversed(up)), 1.0, *up]
