"""The choice of width, centres and penalty in the 1-D example (App. C)."""

from __future__ import annotations

import time

import numpy as np

from lanner.model.fit import fit_ratio
from lanner.paper.reproduce.cases import Case
from lanner.paper.reproduce.measure import Events, Setting, prepared_experiment, sample_of
from lanner.paper.reproduce.stages import Numbers
from lanner.paper.settings import ONE_STEP
from lanner.settings import FitSettings
from lanner.typing import Progress

CENTERS = (10, 30, 100, 300, 500, 1000, 3000)
WIDTHS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
PENALTIES = (1e-6, 1e-8, 1e-10)
TOYS = 20  # as in the paper
SLOW = 1000  # centres up to which the paper's own algorithm is timed too


def distances(events: Events, seed: int, pairs: int = 100_000) -> Numbers:
    """Distances between reference events and their 90th percentile."""
    x = events.background(events.case.reference_size)[events.case.low_level[0]]
    rng = np.random.default_rng(seed)
    d = np.abs(rng.choice(x, pairs) - rng.choice(x, pairs))
    counts, edges = np.histogram(d, 80)
    return {"edges": edges.tolist(), "counts": counts.tolist(), "percentile_90": float(np.quantile(d, 0.9))}


def scan(events: Events, *, memory: str | None, seed: int, progress: Progress | None) -> Numbers:
    """The mean t of null toys against the number of centres, and against width and penalty."""
    case = events.case
    work = [(m, case.width, case.penalty) for m in CENTERS if m <= case.centers]
    grid = [(case.centers, w, p) for p in PENALTIES for w in WIDTHS]
    rows = []
    for number, (centers, width, penalty) in enumerate(work + grid):
        rows.append(_mean(events, centers, width, penalty, memory, seed))
        if progress is not None:
            progress("scan", number + 1, len(work) + len(grid))
    return {"centers": rows[: len(work)], "grid": rows[len(work) :]}


def _mean(events: Events, centers: int, width: float, penalty: float, memory: str | None, seed: int) -> Numbers:
    case = events.case
    setting = Setting(case.low_level, width, penalty=penalty, centers=centers)
    reference = sample_of(events.background(case.reference_size), case.low_level)
    settings = FitSettings(**setting.options(case, seed=seed))
    t = prepared_experiment(reference, case, settings, memory).fit_toys(range(TOYS)).statistic
    return {
        "centers": centers,
        "width": width,
        "penalty": penalty,
        "mean": float(t.mean()),
        "error": float(t.std(ddof=1) / TOYS**0.5),
    }


def times(events: Events, *, memory: str | None, seed: int, progress: Progress | None) -> Numbers:
    """Seconds of one fit on its own, for our solver and the paper's algorithm, against the number of centres."""
    case = events.case
    background = sample_of(events.background(case.reference_size), case.low_level).features
    size = case.reference_size
    reference, data = background[:size], background[size : size + int(case.expected)]
    rows = []
    for number, centers in enumerate(CENTERS):
        row: Numbers = {"centers": centers}
        for solver in ("newton", "falkon"):
            if centers > case.centers or (solver == "falkon" and centers > SLOW):
                continue
            start = time.perf_counter()
            _fit(case, reference, data, centers, solver, memory, seed)
            row[solver] = time.perf_counter() - start
        rows.append(row)
        if progress is not None:
            progress("times", number + 1, len(CENTERS))
    return {"rows": rows}


def _fit(
    case: Case,
    reference: np.ndarray,
    data: np.ndarray,
    centers: int,
    solver: str,
    memory: str | None,
    seed: int,
) -> None:
    fit_ratio(
        reference,
        data,
        expected=case.expected,
        width=case.width,
        penalty=case.penalty,
        centers=centers,
        solver=solver,
        memory=memory,
        rng=seed,
        **ONE_STEP,
    )
