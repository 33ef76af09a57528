"""How many batches pass until a monitor calls, against the size of what happens.

    python benchmarks/monitor_delay.py

Four things happen to a stream of batches of 500 events after eight good ones: a peak appears, the mean of a column
drifts slowly, a region is lost, or the efficiency tilts along a column. For each size and each decision (a single
batch, windows of 2 to 8 batches, accumulated evidence) the median delay of twenty streams is found, in batches from the
first one that departs, where each decision has a false alarm once in 200 batches. Writes a page to
docs/monitor-delay.md and a figure to docs/figures.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

import lanner
from command_line import parse, study_parser
from internals import BLUE, GREEN, VERMILION, FitSettings, Judge, MonitorCalibration, Rules, hep_style, markdown_table
from kept import Kept

BATCH, RATIO, GOOD, MOST, STREAMS, RUN_LENGTH = 500, 100, 8, 60, 20, 200.0
RULES: dict[str, Any] = {"toys": 8000, "streams": 150, "length": 200}
SMOKE: dict[str, Any] = {"toys": 300, "streams": 4, "length": 20}
KINDS = {"batch": BLUE, "windows": VERMILION, "drift": GREEN}
NAMES = {"batch": "single batches", "windows": "windows", "drift": "evidence"}
Events = NDArray[np.float64]


def events(n: int, rng: np.random.Generator) -> Events:
    """An exponential and a normal column."""
    return np.column_stack([rng.exponential(size=n), rng.standard_normal(n)])


def peak(share: float, t: int, rng: np.random.Generator) -> Events:
    """A share of all events lies in one place."""
    x = events(BATCH, rng)
    here = rng.random(BATCH) < share
    x[here] = np.array([2.0, 1.0]) + 0.1 * rng.standard_normal((int(here.sum()), 2))
    return x


def drift(step: float, t: int, rng: np.random.Generator) -> Events:
    """The mean of a column moves by so many standard deviations with every batch."""
    return np.asarray(events(BATCH, rng) + np.array([0.0, step * (t + 1)]))


def dead_region(share: float, t: int, rng: np.random.Generator) -> Events:
    """A region around the median of the first column holds no events any more, which are a share of all."""
    x = events(2 * BATCH, rng)
    low, high = -np.log(0.5 + share), -np.log(0.5 - share)
    dead = (x[:, 0] > low) & (x[:, 0] < high) & (x[:, 1] > 0)
    return np.asarray(x[~dead][:BATCH])


def efficiency(slope: float, t: int, rng: np.random.Generator) -> Events:
    """Events are lost the more the larger the second column is: none at its lower end, a share at its upper one."""
    x = events(4 * BATCH, rng)
    return np.asarray(x[rng.random(len(x)) > slope * ndtr(x[:, 1])][:BATCH])


@dataclass(frozen=True)
class Case:
    """Something that happens, and its sizes."""

    make: Callable[[float, int, np.random.Generator], Events]
    sizes: tuple[float, ...]
    unit: str


CASES = {
    "a peak": Case(peak, (0.005, 0.01, 0.015, 0.02, 0.03, 0.05), "share of the events"),
    "a slow drift": Case(drift, (0.005, 0.01, 0.02, 0.04, 0.08), "standard deviations a batch"),
    "a dead region": Case(dead_region, (0.01, 0.02, 0.03, 0.05, 0.1), "share of the events lost"),
    "a changed efficiency": Case(efficiency, (0.1, 0.15, 0.2, 0.3, 0.5), "loss at the upper end"),
}


def delays(judge: Judge, case: Case, size: float, seed: int) -> dict[str, int]:
    """Batches until the first alarm of each kind after the change; one more than the longest where there is none."""
    rng, state = np.random.default_rng([21, seed]), judge.start()
    found = dict.fromkeys(KINDS, MOST + 1)
    for t in range(-GOOD, MOST):
        batch = events(BATCH, rng) if t < 0 else case.make(size, t, rng)
        state, verdict = judge.after(state, judge.sums(batch), "", details=False)
        for alarm in verdict.alarms if t >= 0 else ():
            found[alarm.kind] = min(found[alarm.kind], t + 1)
        if max(found.values()) <= MOST:
            break
    return found


def draw(found: dict[str, Any], path: Path) -> None:
    """Delays against sizes, one panel for each thing that happens."""
    import matplotlib.pyplot as plt

    with hep_style():
        figure, axes = plt.subplots(2, 2, figsize=(9, 7), sharey=True)
        for ax, (name, case) in zip(axes.ravel(), CASES.items(), strict=True):
            for kind, colour in KINDS.items():
                of_sizes = np.array([[d[kind] for d in found[f"{name} {size:g}"]] for size in case.sizes])
                low, middle, high = np.quantile(of_sizes, [0.16, 0.5, 0.84], axis=1)
                ax.plot(case.sizes, middle, "o-", color=colour, label=NAMES[kind])
                ax.fill_between(case.sizes, low, high, color=colour, alpha=0.15, lw=0)
            ax.axhline(MOST, color="0.6", ls=":")
            ax.set(xscale="log", yscale="log", title=name, xlabel=case.unit)
            ax.set_xticks(case.sizes, [f"{size:g}" for size in case.sizes])
            ax.minorticks_off()
        for ax in axes[:, 0]:
            ax.set_ylabel("batches until the alarm")
        axes[0, 0].legend()
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=110)
        plt.close(figure)


def main() -> None:
    """Run the study, write its page and draw its figure."""
    parser = study_parser(__doc__, writes="docs/monitor-delay.md", flag="--write", keeps=True)
    arguments = parse(parser)
    rules, streams = (SMOKE, 2) if arguments.smoke else (RULES, STREAMS)
    kept = Kept.at(arguments.kept, rules=rules, streams=streams)
    reference = lanner.Sample.of(events((30 if arguments.smoke else RATIO) * BATCH, np.random.default_rng(20)))
    asked = Rules(batch=BATCH, run_length=RUN_LENGTH, windows=(2,) if arguments.smoke else (2, 4, 8), **rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge = Judge(MonitorCalibration.make(reference, asked, FitSettings()))
    lines = [["what happens", "size", *NAMES.values()]]
    for name, case in CASES.items():
        for size in case.sizes:
            key = f"{name} {size:g}"
            if key not in kept.found:
                kept.found[key] = [delays(judge, case, size, seed) for seed in range(streams)]
                kept.save()
            medians = (np.median([d[kind] for d in kept.found[key]]) for kind in KINDS)
            shown = [f"{m:g}" if m <= MOST else f"> {MOST}" for m in medians]
            lines.append([name, f"{size:g} {case.unit}", *shown])
            print(*lines[-1], sep=" | ", flush=True)
    figure = arguments.output.parent / "figures" / "monitor_delay.png"
    draw(kept.found, figure)
    about = (
        "# How soon does a monitor call?\n\nMade by `python benchmarks/monitor_delay.py`: the median number of batches "
        f"until an alarm, of {streams} streams each, from the first batch of {BATCH} events that departs, with a "
        f"reference of {RATIO * BATCH} events and a false alarm of each kind once in {RUN_LENGTH:g} batches.\n\n"
        f"![Delays against sizes](figures/{figure.name})\n\n"
    )
    arguments.output.write_text(about + markdown_table(lines) + "\n")


if __name__ == "__main__":
    main()
