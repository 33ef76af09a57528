"""Run null toys batch by batch, through a store if there is one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.inference.experiment import Experiment
from lanner.inference.plan import Plan
from lanner.model.problem import Solution
from lanner.run.store import Batch, StoreError, ToyStore

# Fits toys by their numbers, telling how many fits have ended.
Fit = Callable[[Sequence[int], Callable[[int], None] | None], Solution]

BATCH = 100  # toys lost at most by an interruption, and enough for matrix products to run at full speed
BAND_TOYS = 100  # toys whose ratio is kept for the bands of plots
_POLL = 0.5  # seconds between looks at batches that another run is making


@dataclass(frozen=True, eq=False)
class ToyRun:
    """The toys asked for."""

    statistics: NDArray[np.float64]
    converged: NDArray[np.bool_]
    iterations: NDArray[np.int64]
    coefficients: NDArray[np.float32]


def run_toys(
    experiment: Experiment,
    toys: int,
    *,
    folder: Path | None,
    events_digest: str,
    progress: Callable[[int, int], None] | None = None,
    fit: Fit | None = None,
    about: dict[str, Any] | None = None,
) -> ToyRun:
    """Make (or read) the first `toys` toys. Interrupted, what is stored stays.

    `fit` makes other toys than the null's by their numbers; `about` is what they depend on besides.
    """
    if toys < 1:
        raise InputError(f"toys={toys}: give a number of null toys, such as 300")
    fit = fit or experiment.fit_toys
    size = min(BATCH, toys, experiment.batch_size(BATCH))
    store = None if folder is None else open_store(folder, experiment.plan, events_digest, about, batch_size=size)
    if store is not None:
        size = store.batch_size
    done: dict[int, Batch] = {}
    waiting = list(range(0, toys, size))
    report = _Reporter(toys, progress)
    while waiting:
        before = len(waiting)
        for first in list(waiting):
            batch = _make(fit, store, first, size, report)
            if batch is not None:
                done[first] = batch
                waiting.remove(first)
                report.finished(min(first + size, toys) - first)
        if waiting and len(waiting) == before:
            time.sleep(_POLL)  # other runs hold all that is left
    return _joined([done[first] for first in sorted(done)], toys)


def open_store(
    folder: Path, plan: Plan, events_digest: str, about: dict[str, Any] | None = None, *, batch_size: int = BATCH
) -> ToyStore:
    """The store of a plan's toys."""
    return ToyStore(folder, {"events": events_digest} | plan.settings() | (about or {}), batch_size=batch_size)


def read_toys(store: ToyStore, toys: int) -> ToyRun:
    """Toys that are all there already."""
    batches = []
    for first in store.batches(toys):
        batch = store.read(first)
        if batch is None:
            raise StoreError(f"{store.folder} lacks toys {first} to {first + store.batch_size - 1}; calibrate again")
        batches.append(batch)
    return _joined(batches, toys)


def _joined(batches: list[Batch], toys: int) -> ToyRun:
    return ToyRun(
        np.concatenate([b.statistic for b in batches])[:toys],
        np.concatenate([b.converged for b in batches])[:toys],
        np.concatenate([b.iterations for b in batches])[:toys],
        np.hstack([b.coefficients for b in batches]),
    )


def _make(fit: Fit, store: ToyStore | None, first: int, size: int, report: _Reporter) -> Batch | None:
    """A batch from the store, or made here; None while another run is making it."""
    if store is None:
        return _fit(fit, first, size, report)
    found = store.read(first)
    if found is not None:
        return found
    with store.claim(first) as mine:
        if not mine:
            return None
        found = store.read(first)  # finished by another run between the look and the claim
        if found is None:
            found = _fit(fit, first, size, report)
            store.write(found)
        return found


def _fit(fit: Fit, first: int, size: int, report: _Reporter) -> Batch:
    solution = fit(range(first, first + size), report.fitted)
    kept = max(0, min(size, BAND_TOYS - first))
    return Batch(
        first,
        solution.statistic,
        solution.converged,
        solution.iterations,
        solution.coefficients[:, :kept].astype(np.float32),
    )


class _Reporter:
    """Counts toys for a progress bar: fits that end within a batch, then whole batches."""

    def __init__(self, toys: int, progress: Callable[[int, int], None] | None) -> None:
        self._toys, self._progress = toys, progress
        self._done = self._in_batch = 0

    def fitted(self, number: int) -> None:
        self._in_batch += number
        self._tell(self._done + self._in_batch)

    def finished(self, number: int) -> None:
        self._done, self._in_batch = self._done + number, 0
        self._tell(self._done)

    def _tell(self, done: int) -> None:
        if self._progress is not None:
            self._progress(min(done, self._toys), self._toys)
