"""The paper's figures, drawn from the numbers of a reproduction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lanner.paper.reproduce.cases import Case
from lanner.paper.reproduce.drawing import draw_histogram, draw_null, draw_points, draw_ratio, draw_scan, panels
from lanner.paper.reproduce.stages import Numbers
from lanner.paper.reproduce.summaries import by_signal, named, quantiles, with_ideal
from lanner.report.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PALE, SKY, VERMILION, hep_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P")
LEVELS = ((2, BLUE), (3, GREEN), (5, VERMILION))
Bands = dict[str, list[tuple[float, float, float]]]
OBSERVED = "observed significance (median, 68 %)"


def write_figures(case: Case, numbers: Numbers, folder: Path) -> dict[str, Path]:
    """All figures that the numbers allow, as PNG files; returned by name."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, Callable[[], Figure]] = {
        "statistic": lambda: statistic(case, numbers),
        "observed": lambda: observed(numbers),
        "probability": lambda: probability(numbers),
        "sizes": lambda: sizes(case, numbers),
    }
    for found in numbers["learned"]:
        drawn[f"ratio-{found['signal']}"] = lambda found=found: ratios(found)  # type: ignore[misc]
    if "all" in numbers:
        drawn["all"] = lambda: _stages(numbers, "low", "all", ("low-level features", "all features"))
    if "extended" in numbers:
        drawn["losses"] = lambda: _stages(numbers, "logistic", "extended", ("logistic", "extended likelihood"))
    if "scan" in numbers:
        drawn |= {"tuning": lambda: tuning(case, numbers), "widths": lambda: widths(case, numbers)}
    written = {name: folder / f"{name}.png" for name in drawn}
    for name, draw in drawn.items():
        with hep_style():
            draw().savefig(written[name], dpi=110)
    return written


def statistic(case: Case, numbers: Numbers) -> Figure:
    """t under the null and with a signal."""
    figure, (ax,) = panels()
    signal, number = case.shown[0]
    chosen = by_signal(numbers["low"]["strengths"])[signal][number]
    draw_null(ax, numbers["low"]["null"], reach=max(chosen["t"]))
    draw_histogram(ax, np.array(chosen["t"]), VERMILION, _with_strength(signal, chosen["signal_events"]))
    ax.set_ylim(0, 1.4 * ax.get_ylim()[1])
    ax.legend(loc="upper right")
    return figure


def observed(numbers: Numbers) -> Figure:
    """Observed against ideal significance, with 68 % bars."""
    figure, (ax,) = panels()
    for (signal, rows), colour, marker in zip(by_signal(with_ideal(numbers)).items(), COLOURS, MARKERS, strict=False):
        ideal, bands = [r["ideal"] for r in rows], [quantiles(r["z_chi2"]) for r in rows]
        draw_points(ax, ideal, bands, colour, marker, named(signal))
    top = max(ax.get_xlim()[1], ax.get_ylim()[1])
    ax.plot([0, top], [0, top], color=GREY, linewidth=1, linestyle=":", label="observed = ideal")
    ax.set(xlim=(0, top), ylim=(min(0.0, ax.get_ylim()[0]), top), xlabel="ideal significance", ylabel=OBSERVED)
    ax.legend(loc="upper left")
    return figure


def probability(numbers: Numbers) -> Figure:
    """The chance of 2, 3 and 5 sigma against the ideal significance, for the first three signals."""
    several = [(signal, rows) for signal, rows in by_signal(with_ideal(numbers)).items() if len(rows) > 1][:3]
    figure, axes = panels(columns=max(1, len(several)))
    for ax, (signal, rows) in zip(axes, several, strict=False):
        rows = sorted(rows, key=lambda r: r["ideal"])
        for level, colour in LEVELS:
            chance = np.array([np.mean(np.array(r["z_chi2"]) >= level) for r in rows])
            error = np.sqrt(chance * (1 - chance) / len(rows[0]["t"]))
            ideal = [r["ideal"] for r in rows]
            ax.errorbar(ideal, chance, yerr=error, fmt="o-", color=colour, markersize=4, label=f"{level} σ")
        ax.set(ylim=(-0.03, 1.03), xlabel="ideal significance")
        ax.set_title(named(signal), fontsize=10)
    axes[0].set_ylabel("probability to observe")
    axes[0].legend(loc="upper left")
    return figure


def against(one: Bands, other: Bands, words: tuple[str, str]) -> Figure:
    """The same toys tested in two ways, in words: of each signal 16 %, 50 % and 84 % of Z at each strength."""
    figure, (ax,) = panels()
    for signal, colour, marker in zip(one, COLOURS, MARKERS, strict=False):
        draw_points(ax, one[signal], other[signal], colour, marker, named(signal))
    low, high = ax.get_xlim()
    line = np.array([min(low, 0.0), high])
    ax.fill_between(line, line - 1, line + 1, color=PALE, zorder=0, label="equal, ± 1 σ")
    ax.plot(line, line, color=GREY, linewidth=1, zorder=1)
    ax.set(xlim=line, xlabel=f"observed significance, {words[0]}", ylabel=f"observed significance, {words[1]}")
    ax.legend(loc="upper left")
    return figure


def _stages(numbers: Numbers, one: str, other: str, words: tuple[str, str]) -> Figure:
    return against(_bands(numbers, one), _bands(numbers, other), words)


def _bands(numbers: Numbers, stage: str) -> Bands:
    found = by_signal(numbers[stage]["strengths"])
    return {signal: [quantiles(r["z_chi2"]) for r in rows] for signal, rows in found.items()}


def sizes(case: Case, numbers: Numbers) -> Figure:
    """Observed significance against the size of the reference, and the null where it is small."""
    figure, (left, right) = panels(columns=2)
    rows = numbers["sizes"]
    x = np.array([r["ratio"] for r in rows])
    strengths = [r["strengths"][0] for r in rows]
    for kind, colour, marker, shift, name in (
        ("chi2", BLUE, "o", 0.97, "χ² fitted to the toys (the paper's)"),
        ("analytic", ORANGE, "s", 1.03, "analytic null"),
    ):
        draw_points(left, x * shift, [quantiles(s[f"z_{kind}"]) for s in strengths], colour, marker, name)
    empirical = [quantiles(s["z_empirical"])[1] for s in strengths]
    left.plot(x, empirical, "_", color=BLACK, markersize=14, label="toys (bounded by their number)")
    left.set(xscale="log", xlabel="N₀ / N(0)", ylabel=OBSERVED)
    left.set_xticks(x, [f"{v:g}" for v in x])
    left.minorticks_off()
    signal, number = case.shown[0]
    left.set_title(_with_strength(signal, case.one(signal, number).strengths[0]), fontsize=10)
    left.set_ylim(top=left.get_ylim()[1] + 0.35 * np.ptp(left.get_ylim()))  # room for the legend
    left.legend(loc="upper left")
    draw_null(right, rows[0]["null"])
    right.set_title(f"null, N₀ / N(0) = {x[0]:g}", fontsize=10)
    right.set_ylim(0, 1.3 * right.get_ylim()[1])
    right.legend(loc="upper right")
    return figure


def ratios(found: Numbers) -> Figure:
    """Learned, toy and ideal density ratio against each high-level feature."""
    profiles = found["profiles"]
    columns = min(3, len(profiles))
    lines = -(-len(profiles) // columns)
    figure, axes = panels(lines, columns, width=6.4 if columns == 1 else 4.4, height=4.2 if lines == 1 else 3.3)
    for ax, profile in zip(axes, profiles, strict=False):
        draw_ratio(ax, profile)
    for ax in axes[len(profiles) :]:
        ax.axis("off")
    axes[0].set_ylabel("density ratio to the reference")
    axes[0].legend(fontsize=8 if columns > 1 else 9.5)
    words = _with_strength(found["signal"], found["signal_events"])
    figure.suptitle(f"{words}: t = {found['statistic']:.1f}, Z = {found['z_analytic']:.1f} (analytic)", fontsize=11)
    return figure


def tuning(case: Case, numbers: Numbers) -> Figure:
    """Pairwise distances; t and time against M; t against width and penalty."""
    figure, (distances, centres, times, grid) = panels(2, 2)
    found, scan = numbers["distances"], numbers["scan"]
    distances.stairs(found["counts"], found["edges"], color=BLUE, fill=True, alpha=0.4)
    percentile = found["percentile_90"]
    distances.axvline(percentile, color=VERMILION, label=f"90th percentile: {percentile:.2f}")
    distances.set(xlabel="distance between reference events", ylabel="pairs")

    draw_scan(centres, scan["centers"], "centers", BLUE, f"width {case.width:g}, penalty {case.penalty:g}")
    centres.set(xscale="log", xlabel="centres M", ylabel="mean t of 20 null toys")

    for solver, colour, name in (("newton", BLUE, "this engine"), ("falkon", VERMILION, "the paper's algorithm")):
        timed = [(r["centers"], r[solver]) for r in numbers["times"]["rows"] if solver in r]
        times.plot(*zip(*timed, strict=True), "o-", color=colour, markersize=4, label=name)
    times.set(xscale="log", yscale="log", xlabel="centres M", ylabel="seconds for one fit on its own")

    for penalty, colour in zip(sorted({r["penalty"] for r in scan["grid"]}), COLOURS, strict=False):
        line = [r for r in scan["grid"] if r["penalty"] == penalty]
        draw_scan(grid, line, "width", colour, f"penalty {penalty:g}")
    far = [f"penalty {r['penalty']:g}, width {r['width']:g}: {r['mean']:.0f}" for r in scan["grid"] if r["mean"] < 0]
    if far:  # a toy with a large negative t
        grid.set_ylim(0, 1.1 * max(r["mean"] + r["error"] for r in scan["grid"]))
        grid.text(0.03, 0.03, "below the axis: " + "; ".join(far), transform=grid.transAxes, fontsize=8)
    grid.set(xlabel="kernel width", ylabel="mean t of 20 null toys")
    for ax in (distances, centres, times, grid):
        ax.legend(fontsize=8.5)
    return figure


def widths(case: Case, numbers: Numbers) -> Figure:
    """Observed significance against the kernel width."""
    figure, (ax,) = panels()
    rows = numbers["widths"]
    width = np.array([r["width"] for r in rows])
    for number, (signal, colour, marker) in enumerate(zip(case.signals, COLOURS, MARKERS, strict=False)):
        found = [by_signal(r["strengths"])[signal.name][0] for r in rows]
        place = width * (0.98 + 0.02 * number)  # side by side
        bands = [quantiles(s["z_chi2"]) for s in found]
        draw_points(ax, place, bands, colour, marker, named(signal.name))
    ax.axvline(case.width, color=GREY, linestyle=":", label="the paper's width")
    ax.set(xlabel="kernel width", ylabel=OBSERVED)
    ax.legend()
    return figure


def _with_strength(signal: str, events: float) -> str:
    return f"{named(signal)}, N(S) = {events:g}"
