"""A page of results: our numbers beside the paper's, with every figure and the command that made them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lanner._util.files import write_atomically
from lanner.paper.reproduce.cases import Case
from lanner.paper.reproduce.figures import NAMES, not_positive, quantiles, with_ideal
from lanner.paper.reproduce.stages import Numbers

CAPTIONS = {
    "statistic": "The test statistic under the null and with a signal.",
    "observed": "Observed against ideal significance.",
    "probability": "Probability of 2, 3 and 5 sigma against the ideal significance.",
    "all": "Low-level features only against all features.",
    "losses": "The logistic loss against the extended likelihood, both converged, on the same toys.",
    "sizes": "Observed significance against the size of the reference; the null where it is small.",
    "tuning": "How width, centres and penalty are chosen.",
    "widths": "Observed significance against the kernel width.",
}


def write_page(case: Case, numbers: Numbers, figures: dict[str, Path], path: Path, *, scale: str) -> Path:
    """Markdown with tables and figures."""
    parts = [
        f"# {case.title}",
        f"`lanner reproduce {case.name} --scale {scale}`",
        _settings(case, numbers),
        _null_table(case, numbers),
        _strength_table(case, numbers),
        _size_table(numbers),
    ]
    for name, figure in figures.items():
        caption = CAPTIONS.get(name, "The learned density ratio, the toy's and the ideal one.")
        parts.append(f"![{caption}]({figure.relative_to(path.parent)})\n\n{caption}")
    return write_atomically(path, "\n\n".join(parts) + "\n")


def summary(case: Case, numbers: Numbers) -> str:
    """A few lines for the terminal."""
    null = numbers["low"]["null"]
    dof = f"closest chi2 {null['dof']:.2f} dof ({not_positive(null)})"
    if null["dof_error"] is not None:
        dof = f"chi2 dof {null['dof']:.2f} +- {null['dof_error']:.2f}"
    lines = [
        f"{case.title}: {len(null['t'])} null toys, {dof}",
        "signal                N(S)   ideal Z   observed Z (68 %)",
    ]
    for row in with_ideal(numbers):
        low, middle, high = quantiles(row["z_chi2"])
        lines.append(
            f"{row['signal']:<18}{row['signal_events']:>8g}{row['ideal']:>10.2f}{middle:>10.2f} ({low:.2f}, {high:.2f})"
        )
    t = numbers["time"]
    lines.append(f"{t['per_toy']:.2g} s a toy after {t['prepare']:.2g} s of preparation, rank {t['rank']}")
    return "\n".join(lines)


def _settings(case: Case, numbers: Numbers) -> str:
    t = numbers["time"]
    paper = f"; the paper's GPUs: {case.paper['seconds']} s" if "seconds" in case.paper else ""
    return (
        f"N(0) = {case.expected:g}, N₀ = {case.reference_size:g}, M = {case.centers}, width {case.width:g}"
        + (f" ({case.width_all:g} with all features)" if case.width_all else "")
        + f", penalty {case.penalty:g}, one Newton step. "
        f"Training time per toy: {t['all_in']:.2g} s, of which {t['prepare']:.3g} s of preparation are shared by "
        f"{case.toys} toys{paper}. Rank {t['rank']} of M centres (trace error {t['trace_error']:.1e}). "
        f"Ideal significance: {numbers['ideal']['method']}"
        + (f", AUC {numbers['ideal']['auc']:.3f}" if "auc" in numbers["ideal"] else "")
        + "."
    )


def _null_table(case: Case, numbers: Numbers) -> str:
    lines = [
        "| null toys | number | χ² dof | goodness of fit p | mean t | spread | analytic mean | analytic spread | "
        "paper's dof |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    names = {
        "low": "low-level",
        "all": "all features",
        "logistic": f"logistic, converged, penalty {case.loss_penalty:g}" if case.loss_penalty else "",
        "extended": f"extended likelihood, converged, penalty {case.loss_penalty:g}" if case.loss_penalty else "",
    }
    for stage, words in names.items():
        if stage in numbers:
            null, t = numbers[stage]["null"], np.array(numbers[stage]["null"]["t"])
            paper = case.paper.get("dof", "–") if stage == "low" else "–"
            lines.append(
                f"| {words} | {len(t)} | {_dof(null)} | {t.mean():.2f} | {t.std(ddof=1):.2f} | "
                f"{null['analytic_mean']:.2f} | {null['analytic_std']:.2f} | {paper} |"
            )
    return "\n".join(lines)


def _dof(null: Numbers) -> str:
    if null["goodness_of_fit"] is None:
        return f"{null['dof']:.2f}, closest | none: {not_positive(null)}"
    return f"{null['dof']:.2f} ± {null['dof_error']:.2f} | {null['goodness_of_fit']:.3f}"


def _strength_table(case: Case, numbers: Numbers) -> str:
    paper = case.paper.get("z", {})
    ideals = case.paper.get("ideal", {})
    lines = [
        "| signal | N(S) | ideal Z | observed Z, χ² (68 %) | error of the median | analytic | P(2σ) | P(3σ) | P(5σ) | "
        "all features | logistic, converged | extended, converged | paper's ideal, observed |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    nominal = case.shown[0][1]
    seen: dict[str, int] = {}
    for row in with_ideal(numbers):
        signal, z = row["signal"], np.maximum(row["z_chi2"], -9.0)
        number = seen[signal] = seen.get(signal, -1) + 1
        low, middle, high = quantiles(z)
        chances = " | ".join(f"{np.mean(z >= level):.2f}" for level in (2, 3, 5))
        others = [_median(numbers, stage, row) for stage in ("all", "logistic", "extended")]
        printed = f"{ideals[signal]}, {paper[signal]}" if signal in paper and number == nominal else "–"
        lines.append(
            f"| {NAMES.get(signal, signal)} | {row['signal_events']:g} | {row['ideal']:.2f} | "
            f"{middle:.2f} ({low:.2f}, {high:.2f}) | {1.2533 * np.std(z, ddof=1) / len(z) ** 0.5:.2f} | "
            f"{np.median(row['z_analytic']):.2f} | {chances} | {' | '.join(others)} | {printed} |"
        )
    return "\n".join(lines)


def _median(numbers: Numbers, stage: str, row: Numbers) -> str:
    if stage not in numbers:
        return "–"
    same = [
        s
        for s in numbers[stage]["strengths"]
        if s["signal"] == row["signal"] and s["signal_events"] == row["signal_events"]
    ]
    return f"{np.median(same[0]['z_chi2']):.2f}" if same else "–"


def _size_table(numbers: Numbers) -> str:
    lines = [
        "| N₀/N(0) | χ² dof | goodness of fit p | null mean | spread | observed Z, χ² | analytic | toys |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in numbers["sizes"]:
        null, s = row["null"], row["strengths"][0]
        t = np.array(null["t"])
        lines.append(
            f"| {row['ratio']:g} | {_dof(null)} | {t.mean():.2f} | {t.std(ddof=1):.2f} | "
            f"{np.median(s['z_chi2']):.2f} | "
            f"{np.median(s['z_analytic']):.2f} | {np.median(s['z_empirical']):.2f} |"
        )
    return "\n".join(lines)
