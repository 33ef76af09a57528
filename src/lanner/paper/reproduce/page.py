"""A page of results: our numbers beside the paper's, with every figure and the command that made them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lanner._util.files import write_atomically
from lanner._util.text import markdown_table
from lanner.paper.reproduce.cases import Case
from lanner.paper.reproduce.stages import Numbers
from lanner.paper.reproduce.summaries import LOWEST_Z, named, not_positive, quantiles, with_ideal

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
NONE = "–"


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
    every = f" ({case.width_all:g} with all features)" if case.width_all else ""
    auc = f", AUC {numbers['ideal']['auc']:.3f}" if "auc" in numbers["ideal"] else ""
    return (
        f"N(0) = {case.expected:g}, N₀ = {case.reference_size:g}, M = {case.centers}, width {case.width:g}{every}, "
        f"penalty {case.penalty:g}, one Newton step. "
        f"Training time per toy: {t['all_in']:.2g} s, of which {t['prepare']:.3g} s of preparation are shared by "
        f"{case.toys} toys{paper}. Rank {t['rank']} of M centres (trace error {t['trace_error']:.1e}). "
        f"Ideal significance: {numbers['ideal']['method']}{auc}."
    )


def _null_table(case: Case, numbers: Numbers) -> str:
    header = ["null toys", "number", "χ² dof", "goodness of fit p", "mean t", "spread"]
    lines = [[*header, "analytic mean", "analytic spread", "paper's dof"]]
    names = {
        "low": "low-level",
        "all": "all features",
        "logistic": f"logistic, converged, penalty {case.loss_penalty:g}" if case.loss_penalty else "",
        "extended": f"extended likelihood, converged, penalty {case.loss_penalty:g}" if case.loss_penalty else "",
    }
    for stage, words in names.items():
        if stage in numbers:
            null = numbers[stage]["null"]
            analytic = [f"{null[name]:.2f}" for name in ("analytic_mean", "analytic_std")]
            paper = str(case.paper.get("dof", NONE)) if stage == "low" else NONE
            lines.append([words, str(len(null["t"])), *_null_cells(null), *analytic, paper])
    return markdown_table(lines)


def _null_cells(null: Numbers) -> list[str]:
    """The degrees of freedom, the goodness of fit, the mean and the spread of null toys."""
    mean, spread = np.mean(null["t"]), np.std(null["t"], ddof=1)
    if null["goodness_of_fit"] is None:
        fit = [f"{null['dof']:.2f}, closest", f"none: {not_positive(null)}"]
    else:
        fit = [f"{null['dof']:.2f} ± {null['dof_error']:.2f}", f"{null['goodness_of_fit']:.3f}"]
    return [*fit, f"{mean:.2f}", f"{spread:.2f}"]


def _strength_table(case: Case, numbers: Numbers) -> str:
    header = ["signal", "N(S)", "ideal Z", "observed Z, χ² (68 %)", "error of the median", "analytic"]
    others = ["all features", "logistic, converged", "extended, converged", "paper's ideal, observed"]
    lines = [[*header, "P(2σ)", "P(3σ)", "P(5σ)", *others]]
    paper, ideals = case.paper.get("z", {}), case.paper.get("ideal", {})
    for row in with_ideal(numbers):
        signal, z = row["signal"], np.maximum(row["z_chi2"], LOWEST_Z)
        low, middle, high = quantiles(z)
        printed = signal in paper and row["number"] == case.shown[0][1]
        lines.append(
            [
                named(signal),
                f"{row['signal_events']:g}",
                f"{row['ideal']:.2f}",
                f"{middle:.2f} ({low:.2f}, {high:.2f})",
                f"{1.2533 * np.std(z, ddof=1) / len(z) ** 0.5:.2f}",  # of a Gaussian's median: sqrt(pi / 2)
                f"{np.median(row['z_analytic']):.2f}",
                *(f"{np.mean(z >= level):.2f}" for level in (2, 3, 5)),
                *(_median(numbers, stage, row) for stage in ("all", "logistic", "extended")),
                f"{ideals[signal]}, {paper[signal]}" if printed else NONE,
            ]
        )
    return markdown_table(lines)


def _median(numbers: Numbers, stage: str, row: Numbers) -> str:
    """The median significance of the same signal and strength in another stage."""
    wanted = row["signal"], row["signal_events"]
    rows = numbers[stage]["strengths"] if stage in numbers else []
    same = [s for s in rows if (s["signal"], s["signal_events"]) == wanted]
    return f"{np.median(same[0]['z_chi2']):.2f}" if same else NONE


def _size_table(numbers: Numbers) -> str:
    header = ["N₀/N(0)", "χ² dof", "goodness of fit p", "null mean", "spread", "observed Z, χ²", "analytic", "toys"]
    lines = [header]
    for row in numbers["sizes"]:
        strength = row["strengths"][0]
        medians = [f"{np.median(strength[f'z_{kind}']):.2f}" for kind in ("chi2", "analytic", "empirical")]
        lines.append([f"{row['ratio']:g}", *_null_cells(row["null"]), *medians])
    return markdown_table(lines)
