"""The figure of a suite: median Z of each test for each signal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lanner.report.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, hep_style

if TYPE_CHECKING:
    from lanner.comparison.suite_power import SuiteResult

_LOOKS = ((GREY, "s"), (ORANGE, "^"), (BLUE, "o"), (GREEN, "D"))


def draw_suite(result: SuiteResult, path: Path) -> None:
    """One column per signal; the paper's test, the default combination of each of the others, and the ideal test."""
    from matplotlib.figure import Figure

    names = [s.name for s in result.signals]
    with hep_style():
        figure = Figure(figsize=(1.2 * len(names) + 2.5, 4.6), layout="constrained")
        ax = figure.subplots()
        places = np.arange(len(names))
        ax.plot(places, [s.ideal for s in result.signals], "_", color=BLACK, markersize=26, label="ideal")
        tests = list(dict.fromkeys(r.test for r in result.rows))
        for k, ((colour, marker), test) in enumerate(zip(_LOOKS, tests, strict=False)):
            rows = [r for r in result.rows if r.test == test and not r.statistic.startswith("width")]
            chosen = next((r for r in rows if r.statistic == "harmonic"), rows[0])
            label = test if chosen.statistic == "single" else f"{test}: {chosen.statistic}"
            x, z = places + 0.12 * (k - 1), np.array([chosen.z[n] for n in names])
            shown = np.array([not chosen.is_bound(n) for n in names])
            errors = np.array([chosen.error[n] for n in names])
            ax.errorbar(x[shown], z[shown], errors[shown], fmt=marker, color=colour, markersize=6, label=label)
            # More than the toys can show: an open marker and an arrow.
            ax.errorbar(x[~shown], z[~shown], yerr=0.4, lolims=True, fmt=marker, color=colour, markersize=6,
                        markerfacecolor="white")  # fmt: skip
        ax.set_xticks(places, [f"{s.name}\n({s.events:.0f} events)" for s in result.signals])
        ax.tick_params(axis="x", which="minor", bottom=False, top=False)
        ax.set_xlim(-0.6, len(names) - 0.4)
        ax.set_ylim(0, 1.45 * max(s.ideal for s in result.signals))
        ax.set_ylabel("median significance Z")
        ax.legend(loc="upper left", ncols=2)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=110)
