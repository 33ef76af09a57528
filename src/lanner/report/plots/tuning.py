"""The curves of a tuning: t against penalty and against the number of centres."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lanner.inference.tuning import Trial, Tuning


def plot_tuning(tuning: Tuning) -> Any:
    """A figure with t against the penalty and, where it was scanned, against the number of centres."""
    from matplotlib.figure import Figure

    panels = 2 if tuning.plateau else 1
    figure = Figure(figsize=(5.2 * panels, 3.8), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    _curve(axes[0], tuning.penalties, "penalty", "penalty", tuning.penalty)
    if panels == 2:
        # The scan ran on a part of the reference: its last entry stands for the full number.
        _curve(axes[1], tuning.plateau, "centers", f"centres (of {tuning.events} reference events)", None)
        axes[1].set_xticks([t.centers for t in tuning.plateau], [str(t.centers) for t in tuning.plateau])
        axes[1].minorticks_off()
    return figure


def _curve(ax: Any, trials: tuple[Trial, ...], attribute: str, label: str, chosen: float | None) -> None:
    x = [getattr(t, attribute) for t in trials]
    ax.errorbar(
        x,
        [t.mean for t in trials],
        yerr=[t.spread / t.toys**0.5 for t in trials],
        fmt="o",
        color="#0072B2",
        label=f"mean of {trials[0].toys} toys",
    )
    ax.plot(x, [t.analytic_mean for t in trials], color="#D55E00", label="analytic mean")
    unstable = [t for t in trials if not t.stable]
    if unstable and chosen is not None:  # stability is what the penalty is chosen by
        ax.plot(
            [getattr(t, attribute) for t in unstable],
            [t.mean for t in unstable],
            "x",
            color="black",
            markersize=10,
            label="unstable",
        )
    if chosen is not None:
        ax.axvline(chosen, color="0.5", linestyle="--", label="chosen")
    ax.set_xscale("log")
    ax.set_xlabel(label)
    ax.set_ylabel("t of null toys")
    ax.legend(frameon=False)


def write_tuning(tuning: Tuning, path: str | Path) -> Path:
    """Write the curves to a file whose suffix names the format."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    plot_tuning(tuning).savefig(path)
    return path
