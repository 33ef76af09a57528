"""The paper's figures, drawn from the numbers of a reproduction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from lanner.inference.weighted_chi2 import WeightedChi2
from lanner.paper.reproduce.cases import Case
from lanner.paper.reproduce.stages import Numbers
from lanner.report.plots.style import (
    BAND_68,
    BAND_95,
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    SKY,
    VERMILION,
    as_label,
    hep_style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P")
LEVELS = ((2, BLUE), (3, GREEN), (5, VERMILION))
NAMES = (
    {
        "tail": "peak in the tail",
        "bulk": "peak in the bulk",
        "nonresonant": "non-resonant",
        "chargino": "charginos",
        "heavy-higgs": "heavy Higgs chain",
    }
    | {f"zprime-{m}": f"Z′ of {m} GeV" for m in (200, 300, 600)}
    | {f"contact-{c}": f"contact, c_W = {c} TeV⁻²" for c in ("1.0", "1.2", "1.5")}
)


def write_figures(case: Case, numbers: Numbers, folder: Path) -> dict[str, Path]:
    """All figures that the numbers allow, as PNG; returned by name."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, Callable[[], Figure]] = {
        "statistic": lambda: statistic(case, numbers),
        "observed": lambda: observed(numbers),
        "probability": lambda: probability(case, numbers),
        "sizes": lambda: sizes(case, numbers),
    }
    for found in numbers["learned"]:
        drawn[f"ratio-{found['signal']}"] = lambda found=found: ratios(found)  # type: ignore[misc]
    if "all" in numbers:
        drawn["all"] = lambda: against(numbers, ("low", "low-level features"), ("all", "all features"))
    if "extended" in numbers:
        drawn["losses"] = lambda: against(numbers, ("logistic", "logistic"), ("extended", "extended likelihood"))
    if "scan" in numbers:
        drawn |= {"tuning": lambda: tuning(case, numbers), "widths": lambda: widths(case, numbers)}
    written = {}
    for name, draw in drawn.items():
        with hep_style():
            path = folder / f"{name}.png"
            draw().savefig(path, dpi=110)
            written[name] = path
    return written


def quantiles(z: Any) -> tuple[float, float, float]:
    """16 %, 50 % and 84 %. A t <= 0 has Z = -inf, of which only the rank matters here."""
    low, middle, high = np.quantile(np.maximum(z, -9.0), (0.16, 0.5, 0.84))
    return float(low), float(middle), float(high)


def with_ideal(numbers: Numbers, stage: str = "low") -> list[Numbers]:
    """The strengths of a stage, each with its ideal significance."""
    seen: dict[str, int] = {}
    rows = []
    for strength in numbers[stage]["strengths"]:
        signal = strength["signal"]
        number = seen.setdefault(signal, 0)
        rows.append(strength | {"ideal": numbers["ideal"]["z"][signal][number]})
        seen[signal] += 1
    return rows


def statistic(case: Case, numbers: Numbers) -> Figure:
    """t under the null and with a signal."""
    figure, (ax,) = _figure(1)
    signal, number = case.shown[0]
    chosen = [s for s in numbers["low"]["strengths"] if s["signal"] == signal][number]
    _null(ax, numbers["low"]["null"], np.array(chosen["t"]))
    label = f"{NAMES.get(signal, signal)}, N(S) = {chosen['signal_events']:g}"
    _histogram(ax, np.array(chosen["t"]), VERMILION, label)
    ax.set_xlabel("test statistic t")
    ax.set_ylabel("density")
    ax.set_ylim(0, 1.4 * ax.get_ylim()[1])
    ax.legend(loc="upper right")
    return figure


def observed(numbers: Numbers) -> Figure:
    """Observed against ideal significance, with 68 % bars."""
    figure, (ax,) = _figure(1)
    for (signal, rows), colour, marker in zip(_by_signal(with_ideal(numbers)), COLOURS, MARKERS, strict=False):
        bands = np.array([quantiles(r["z_chi2"]) for r in rows])
        _points(ax, [r["ideal"] for r in rows], bands, colour, marker, NAMES.get(signal, signal))
    _diagonal(ax)
    ax.set_xlabel("ideal significance")
    ax.set_ylabel("observed significance (median, 68 %)")
    ax.legend(loc="upper left")
    return figure


def probability(case: Case, numbers: Numbers) -> Figure:
    """The chance of 2, 3 and 5 sigma against the ideal significance."""
    signals = [s for s, rows in _by_signal(with_ideal(numbers)) if len(rows) > 1][:3]
    figure, axes = _figure(max(1, len(signals)))
    for ax, signal in zip(axes, signals, strict=False):
        rows = sorted((r for r in with_ideal(numbers) if r["signal"] == signal), key=lambda r: r["ideal"])
        for level, colour in LEVELS:
            chance = np.array([np.mean(np.array(r["z_chi2"]) >= level) for r in rows])
            error = np.sqrt(chance * (1 - chance) / len(rows[0]["t"]))
            ax.errorbar(
                [r["ideal"] for r in rows], chance, yerr=error, fmt="o-", color=colour, markersize=4, label=f"{level} σ"
            )
        ax.set_ylim(-0.03, 1.03)
        ax.set_xlabel("ideal significance")
        ax.set_title(NAMES.get(signal, signal), fontsize=10)
    axes[0].set_ylabel("probability to observe")
    axes[0].legend(loc="upper left")
    return figure


def against(numbers: Numbers, one: tuple[str, str], other: tuple[str, str]) -> Figure:
    """The same toys judged in two ways: each a stage and what it is called."""
    figure, (ax,) = _figure(1)
    here, there = numbers[one[0]]["strengths"], numbers[other[0]]["strengths"]
    for (signal, rows), colour, marker in zip(_by_signal(here), COLOURS, MARKERS, strict=False):
        others = [t for t in there if t["signal"] == signal]
        x = np.array([quantiles(r["z_chi2"]) for r in rows])
        y = np.array([quantiles(r["z_chi2"]) for r in others])
        ax.errorbar(
            x[:, 1],
            y[:, 1],
            xerr=np.abs(x[:, [0, 2]] - x[:, [1]]).T,
            yerr=np.abs(y[:, [0, 2]] - y[:, [1]]).T,
            fmt=marker,
            color=colour,
            markersize=5,
            linewidth=1,
            label=NAMES.get(signal, signal),
        )
    low, high = ax.get_xlim()
    line = np.array([min(low, 0.0), high])
    ax.fill_between(line, line - 1, line + 1, color=PALE, zorder=0, label="equal, ± 1 σ")
    ax.plot(line, line, color=GREY, linewidth=1, zorder=1)
    ax.set_xlim(*line)
    ax.set_xlabel(f"observed significance, {one[1]}")
    ax.set_ylabel(f"observed significance, {other[1]}")
    ax.legend(loc="upper left")
    return figure


def sizes(case: Case, numbers: Numbers) -> Figure:
    """Observed significance against the size of the reference, and the null where it is small."""
    figure, (left, right) = _figure(2)
    rows = numbers["sizes"]
    x = [r["ratio"] for r in rows]
    for kind, colour, marker, shift in (("chi2", BLUE, "o", 0.97), ("analytic", ORANGE, "s", 1.03)):
        bands = np.array([quantiles(r["strengths"][0][f"z_{kind}"]) for r in rows])
        name = "χ² fitted to the toys (the paper's)" if kind == "chi2" else "analytic null"
        _points(left, np.array(x) * shift, bands, colour, marker, name)
    empirical = [quantiles(r["strengths"][0]["z_empirical"])[1] for r in rows]
    left.plot(x, empirical, "_", color=BLACK, markersize=14, label="toys (bounded by their number)")
    left.set_xscale("log")
    left.set_xticks(x, [f"{v:g}" for v in x])
    left.minorticks_off()
    left.set_xlabel("N₀ / N(0)")
    left.set_ylabel("observed significance (median, 68 %)")
    signal, number = case.shown[0]
    left.set_title(f"{NAMES.get(signal, signal)}, N(S) = {case.one(signal, number).strengths[0]:g}", fontsize=10)
    left.set_ylim(top=left.get_ylim()[1] + 0.35 * np.ptp(left.get_ylim()))  # room for the legend
    left.legend(loc="upper left")
    small = rows[0]
    _null(right, small["null"], np.array([]))
    right.set_title(f"null, N₀ / N(0) = {small['ratio']:g}", fontsize=10)
    right.set_xlabel("test statistic t")
    right.set_ylabel("density")
    right.set_ylim(0, 1.3 * right.get_ylim()[1])
    right.legend(loc="upper right")
    return figure


def ratios(found: Numbers) -> Figure:
    """Learned, toy and ideal density ratio against each high-level feature."""
    from matplotlib.figure import Figure

    profiles = found["profiles"]
    columns = min(3, len(profiles))
    lines = -(-len(profiles) // columns)
    wide = 6.4 if columns == 1 else 4.4
    figure = Figure(figsize=(wide * columns, (4.2 if lines == 1 else 3.3) * lines), layout="constrained")
    axes = np.atleast_1d(figure.subplots(lines, columns)).ravel()
    for ax, profile in zip(axes, profiles, strict=False):
        _ratio(ax, profile)
    for ax in axes[len(profiles) :]:
        ax.axis("off")
    axes[0].set_ylabel("density ratio to the reference")
    axes[0].legend(fontsize=8 if columns > 1 else 9.5)
    words = f"{NAMES.get(found['signal'], found['signal'])}, N(S) = {found['signal_events']:g}"
    figure.suptitle(f"{words}: t = {found['statistic']:.1f}, Z = {found['z_analytic']:.1f} (analytic)", fontsize=11)
    return figure


def tuning(case: Case, numbers: Numbers) -> Figure:
    """Pairwise distances; t and time against M; t against width and penalty."""
    figure, axes = _figure(4)
    d = numbers["distances"]
    axes[0].stairs(d["counts"], d["edges"], color=BLUE, fill=True, alpha=0.4)
    axes[0].axvline(d["percentile_90"], color=VERMILION, label=f"90th percentile: {d['percentile_90']:.2f}")
    axes[0].set_xlabel("distance between reference events")
    axes[0].set_ylabel("pairs")
    rows = numbers["scan"]["centers"]
    axes[1].errorbar(
        [r["centers"] for r in rows], [r["mean"] for r in rows], yerr=[r["error"] for r in rows], fmt="o-", color=BLUE,
        markersize=4, label=f"width {case.width:g}, penalty {case.penalty:g}",
    )  # fmt: skip
    axes[1].set_xscale("log")
    axes[1].set_xlabel("centres M")
    axes[1].set_ylabel("mean t of 20 null toys")
    times = numbers["times"]["rows"]
    for solver, colour, name in (("newton", BLUE, "this engine"), ("falkon", VERMILION, "the paper's algorithm")):
        timed = [(r["centers"], r[solver]) for r in times if solver in r]
        axes[2].plot(*zip(*timed, strict=True), "o-", color=colour, markersize=4, label=name)
    axes[2].set_xscale("log")
    axes[2].set_yscale("log")
    axes[2].set_xlabel("centres M")
    axes[2].set_ylabel("seconds for one fit on its own")
    grid = numbers["scan"]["grid"]
    for penalty, colour in zip(sorted({r["penalty"] for r in grid}), COLOURS, strict=False):
        line = [r for r in grid if r["penalty"] == penalty]
        axes[3].errorbar(
            [r["width"] for r in line], [r["mean"] for r in line], yerr=[r["error"] for r in line], fmt="o-",
            color=colour, markersize=4, label=f"penalty {penalty:g}",
        )  # fmt: skip
    far = [f"penalty {r['penalty']:g}, width {r['width']:g}: {r['mean']:.0f}" for r in grid if r["mean"] < 0]
    if far:  # a toy with a large negative t
        axes[3].set_ylim(0, 1.1 * max(r["mean"] + r["error"] for r in grid))
        axes[3].text(0.03, 0.03, "below the axis: " + "; ".join(far), transform=axes[3].transAxes, fontsize=8)
    axes[3].set_xlabel("kernel width")
    axes[3].set_ylabel("mean t of 20 null toys")
    for ax in axes:
        ax.legend(fontsize=8.5)
    return figure


def widths(case: Case, numbers: Numbers) -> Figure:
    """Observed significance against the kernel width."""
    figure, (ax,) = _figure(1)
    rows = numbers["widths"]
    for number, (signal, colour, marker) in enumerate(
        zip((s.name for s in case.signals), COLOURS, MARKERS, strict=False)
    ):
        found = [next(s for s in r["strengths"] if s["signal"] == signal) for r in rows]
        bands = np.array([quantiles(s["z_chi2"]) for s in found])
        place = np.array([r["width"] for r in rows]) * (0.98 + 0.02 * number)
        _points(ax, place, bands, colour, marker, NAMES.get(signal, signal))
    ax.axvline(case.width, color=GREY, linestyle=":", label="the paper's width")
    ax.set_xlabel("kernel width")
    ax.set_ylabel("observed significance (median, 68 %)")
    ax.legend()
    return figure


def _ratio(ax: Axes, profile: Numbers) -> None:
    edges = np.array(profile["edges"])

    def inner(name: str) -> np.ndarray:
        return np.array([np.nan if v is None else v for v in profile[name]], dtype=float)[1:-1]

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
        ax.set_yscale("log")
        ax.set_ylim(0.5 * max(bottom, 0.1), 2.5 * top)
    else:
        ax.set_ylim(max(0.0, 1 - 1.6 * (1 - bottom)), 1 + 1.6 * (top - 1))
    ax.axhline(1.0, color=GREY, linewidth=0.6)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_xlabel(as_label(profile["name"]) + ("" if profile["fitted"] else " (not given to the fit)"))


def _figure(panels: int) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    columns = min(panels, 2) if panels == 4 else panels
    lines = -(-panels // columns)
    wide = 6.4 if panels == 1 else 4.9
    figure = Figure(figsize=(wide * columns, 4.2 * lines if lines == 1 else 3.6 * lines), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(lines, columns)).ravel())


def _null(ax: Axes, null: Numbers, others: np.ndarray) -> None:
    """Null toys with the fitted chi2 and the analytic law."""
    t = np.array(null["t"])
    # Single toys far away, as there are where N0 is small, must not hide the others.
    quartiles = np.quantile(t, (0.25, 0.5, 0.75))
    reach = 8 * (quartiles[2] - quartiles[0])
    shown = t[np.abs(t - quartiles[1]) < reach]
    beyond = f", {len(t) - len(shown)} beyond the axis" if len(shown) < len(t) else ""
    _histogram(ax, shown, GREY, f"{len(t)} null toys{beyond}", fill=True)
    grid = np.linspace(max(1e-3, shown.min()), max(shown.max(), others.max() if others.size else 0.0), 300)
    fit = null["goodness_of_fit"]
    words = f"goodness of fit p = {fit:.2g}" if fit is not None else f"closest; {not_positive(null)}"
    label = f"χ², {null['dof']:.1f} dof ({words})"
    ax.plot(grid, stats.chi2.pdf(grid, null["dof"]), color=GREEN, linestyle="--", label=label)
    law = WeightedChi2(np.array(null["analytic_weights"]))
    ax.plot(grid, law.pdf(grid), color=BLUE, label="analytic null")


def not_positive(null: Numbers) -> str:
    """How many toys no chi2 can have."""
    n = null["not_positive"]
    return f"{n} of {len(null['t'])} toys {'has' if n == 1 else 'have'} t ≤ 0"


def _histogram(ax: Axes, t: np.ndarray, colour: str, label: str, *, fill: bool = False) -> None:
    edges = np.histogram_bin_edges(t, bins="fd" if len(t) > 50 else 10)
    counts = np.histogram(t, edges, density=True)[0]
    ax.stairs(counts, edges, color=PALE if fill else colour, fill=fill, label=label, linewidth=1.5)
    if fill:
        ax.stairs(counts, edges, color=colour, linewidth=0.8)


def _points(ax: Axes, x: Any, bands: np.ndarray, colour: str, marker: str, label: str) -> None:
    error = np.abs(bands[:, [0, 2]] - bands[:, [1]]).T
    ax.errorbar(x, bands[:, 1], yerr=error, fmt=marker, color=colour, markersize=5, linewidth=1, label=label)


def _diagonal(ax: Axes) -> None:
    top = max(ax.get_xlim()[1], ax.get_ylim()[1])
    ax.plot([0, top], [0, top], color=GREY, linewidth=1, linestyle=":", label="observed = ideal")
    ax.set_xlim(0, top)
    ax.set_ylim(min(0.0, ax.get_ylim()[0]), top)


def _by_signal(rows: Iterable[Numbers]) -> list[tuple[str, list[Numbers]]]:
    found: dict[str, list[Numbers]] = {}
    for row in rows:
        found.setdefault(row["signal"], []).append(row)
    return list(found.items())
