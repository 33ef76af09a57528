"""The curves of a tuning: t against the penalty and against the number of centres."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lanner._util.text import count
from lanner.inference.tuning import Trial, Tuning
from lanner.report.plots.style import BLACK, BLUE, GREY, VERMILION, hep_style, legend_above, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_tuning(tuning: Tuning) -> Figure:
    """A figure with t against the penalty and, where it was scanned, against the number of centres."""
    panels = 2 if tuning.plateau else 1
    with hep_style():
        figure = new_figure((7.0 if panels == 2 else 5.0, 3.6))
        axes = figure.subplots(1, panels, squeeze=False)[0]
        _curve(axes[0], tuning.penalties, "penalty", "penalty", tuning.penalty)
        if panels == 2:
            # The scan ran on a part of the reference: its last entry stands for the full number.
            _curve(axes[1], tuning.plateau, "centers", f"centres (of {tuning.events} reference events)", None)
            scanned = [t.centers for t in tuning.plateau]
            axes[1].set_xticks(scanned, [str(n) for n in scanned], rotation=60)
            axes[1].minorticks_off()
    return figure


def write_tuning(tuning: Tuning, path: str | Path) -> Path:
    """Write the curves to a file whose suffix names the format."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with hep_style():
        plot_tuning(tuning).savefig(path)
    return path


def _curve(ax: Axes, trials: tuple[Trial, ...], attribute: str, label: str, chosen: float | None) -> None:
    x, t = [getattr(trial, attribute) for trial in trials], [trial.mean for trial in trials]
    ax.set_xscale("log")
    ax.set_xlim(min(x) / 2, 2 * max(x))  # a single setting has no extent of its own
    errors = [trial.spread / trial.toys**0.5 for trial in trials]
    ax.errorbar(x, t, yerr=errors, fmt="o", color=BLUE, label=f"mean of {count(trials[0].toys, 'toy')}")
    ax.plot(x, [trial.analytic_mean for trial in trials], color=VERMILION, label="analytic mean")
    unstable = [k for k, trial in enumerate(trials) if not trial.stable]
    if unstable and chosen is not None:  # stability is what the penalty is chosen by
        ax.plot([x[k] for k in unstable], [t[k] for k in unstable], "x", color=BLACK, markersize=10, label="unstable")
    if chosen is not None:
        ax.axvline(chosen, color=GREY, linestyle="--", label="chosen")
    ax.set_xlabel(label)
    ax.set_ylabel("t of null toys")
    legend_above(ax, columns=2)
