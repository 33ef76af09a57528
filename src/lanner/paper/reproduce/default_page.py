"""The page of the default test beside the paper's setting: one table, one figure, and the toys behind them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lanner._util.files import write_atomically
from lanner._util.text import markdown_table, text_table, three_digits
from lanner.comparison.table import Comparison, Row, chance, spread_of_z
from lanner.paper.reproduce.cases import Case
from lanner.paper.reproduce.figures import Bands, against
from lanner.paper.reproduce.stages import Numbers
from lanner.paper.reproduce.summaries import named
from lanner.report.plots.style import BLACK, hep_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = "The default test against the paper's setting on the same toys: median Z and 68 % of each strength."
_LEVEL = 1  # of the levels whose chance is shown: 3 sigma


def write_default_page(case: Case, found: Comparison, chi2: Numbers, path: Path, *, scale: str) -> Path:
    """Markdown with the table and the figure, which lies beside those of the other page."""
    figure = path.parent / "figures" / "default.png"
    figure.parent.mkdir(parents=True, exist_ok=True)
    with hep_style():
        _drawn(found).savefig(figure, dpi=110)
    parts = [
        f"# {case.title}: the default test beside the paper's setting",
        f"`lanner reproduce {case.name} --scale {scale} --default-test`",
        _settings(case, found, chi2),
        markdown_table(table(case, found, chi2)),
        f"![{CAPTION}](figures/default.png)\n\n{CAPTION}",
    ]
    return write_atomically(path, "\n\n".join(parts) + "\n")


def summary(case: Case, found: Comparison, chi2: Numbers) -> str:
    """The table for the terminal."""
    counted = ", ".join(f"{row.test} {row.toys}" for row in found.rows)
    return f"{case.title}: null toys {counted}\n{text_table(table(case, found, chi2))}"


def table(case: Case, found: Comparison, chi2: Numbers) -> list[list[str]]:
    """Header and a row for each strength of each signal."""
    paper, default = found.rows
    printed = case.paper.get("z", {})
    header = ["signal", "N(S)", "paper's setting: Z (68 %)", "error", "by its χ²"]
    header += ["default: Z (68 %)", "error", "P(3σ), paper's setting", "P(3σ), default"]
    lines = [header + (["Z that the paper prints"] if printed else [])]
    number: dict[str, int] = {}
    for one, other, z in zip(paper.found, default.found, chi2["median_z"], strict=True):
        k = number[one.signal] = number.get(one.signal, -1) + 1
        cells = [named(one.signal), f"{one.signal_events:g}", spread_of_z(one.z, paper.most), f"{one.error:.2f}"]
        cells += [f"{z:.2f}", spread_of_z(other.z, default.most), f"{other.error:.2f}"]
        cells += [chance(f.probability[_LEVEL], 3.0, row.most) for f, row in ((one, paper), (other, default))]
        if printed:
            cells.append(str(printed[one.signal]) if one.signal in printed and k == case.shown[0][1] else "–")
        lines.append(cells)
    return lines


def _settings(case: Case, found: Comparison, chi2: Numbers) -> str:
    paper, default = found.rows
    fit = f"{chi2['dof']:.1f} degrees of freedom, the closest to the toys, of which some have t ≤ 0"
    if chi2["dof_error"] is not None:
        fit = f"{chi2['dof']:.1f} ± {chi2['dof_error']:.1f} degrees of freedom, goodness of fit p = "
        fit += f"{chi2['goodness_of_fit']:.3f}"
    return (
        f"N(0) = {case.expected:g}, N₀ = {case.reference_size:g}, low-level features ({len(case.low_level)}). The "
        f"paper's setting: M = {case.centers}, width {case.width:g}, penalty {case.penalty:g}, one Newton step, "
        "likelihood ratio. The default test: score statistic at several scales, combined, with the same candidate "
        f"centres. Both take the same toys; {paper.toys} null toys of the paper's setting and {default.toys} of the "
        f"default are counted, and there are {found.experiments} data sets at each strength. Z is counted where ten "
        "null toys or more lie beyond, and further out that of a tail fitted to them; ≥ is the most that can be shown "
        "in this way. The error is that of the median over the data sets. χ² fitted to the null toys of the paper's "
        f"setting: {fit}. Time a toy: {_time(paper)} in the paper's setting, {_time(default)} in the default; "
        f"preparing: {three_digits(paper.seconds_preparing)} s and {three_digits(default.seconds_preparing)} s."
    )


def _time(row: Row) -> str:
    return f"{three_digits(1e3 * row.seconds_per_toy)} ms"


def _drawn(found: Comparison) -> Figure:
    """Each strength by both tests, with the most that the toys of each can show."""
    paper, default = found.rows
    figure = against(_bands(paper), _bands(default), ("the paper's setting", "the default test"))
    (ax,) = figure.axes
    for row, draw in ((paper, ax.axvline), (default, ax.axhline)):
        if np.isfinite(row.most):
            draw(row.most, color=BLACK, linestyle=":", linewidth=1, label="the most that can be shown")
    handles, labels = ax.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    # The default test finds more, so points lie above the line.
    ax.legend(once.values(), once.keys(), loc="lower right", fontsize=8.5)
    return figure


def _bands(row: Row) -> Bands:
    """16 %, 50 % and 84 % of Z at each strength, by signal."""
    found: Bands = {}
    for f in row.found:
        found.setdefault(f.signal, []).append(f.z)
    return found
