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
from lanner.inference.ladder import Ladder
from lanner.inference.plan import Plan
from lanner.model.problem import Solution
from lanner.run.store import Batch, StoreError, ToyStore

# Fits toys by their numbers at every scale, telling how many fits have ended.
Fit = Callable[[Sequence[int], Callable[[int], None] | None], list[Solution]]

BATCH = 100  # toys lost at most by an interruption, and enough for matrix products to run at full speed
SCORE_BATCH = 1000  # the same where a toy needs no fit
BAND_TOYS = 100  # toys whose ratio is kept for the bands of plots
_POLL = 0.5  # seconds between looks at batches that another run is making


@dataclass(frozen=True, eq=False)
class ToyRun:
    """The toys asked for."""

    statistics: NDArray[np.float64]  # (scales, toys)
    converged: NDArray[np.bool_]
    iterations: NDArray[np.int64]
    coefficients: NDArray[np.float32]  # (rank, k) of the first k toys; none where there are several scales


def run_toys(
    ladder: Ladder,
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
    maker = ToyMaker.of(ladder, folder=folder, events_digest=events_digest, toys=toys, fit=fit, about=about)
    return maker.first(toys, progress)


class ToyMaker:
    """Makes toys or reads them from a store; asked for more, it goes on where it was."""

    def __init__(self, fit: Fit, store: ToyStore | None, size: int) -> None:
        self._fit, self._store = fit, store
        self._size = size if store is None else store.batch_size
        self._done: dict[int, Batch] = {}

    @classmethod
    def of(
        cls,
        ladder: Ladder,
        *,
        folder: Path | None,
        events_digest: str,
        toys: int,
        fit: Fit | None = None,
        about: dict[str, Any] | None = None,
    ) -> ToyMaker:
        """A maker of a ladder's toys, kept in a folder if there is one; `toys` is how many are wanted at first."""
        if toys < 1:
            raise InputError(f"toys={toys}: give a number of null toys, such as 300")
        size = min(toys, batch_size(ladder))
        store = None if folder is None else open_store(folder, ladder.plans, events_digest, about, batch_size=size)
        return cls(fit or ladder.fit_toys, store, size)

    def first(self, toys: int, progress: Callable[[int, int], None] | None = None) -> ToyRun:
        """The first `toys` toys."""
        size = self._size
        waiting = [first for first in range(0, toys, size) if first not in self._done]
        report = _Reporter(toys, progress, done=min(len(self._done) * size, toys))
        while waiting:
            before = len(waiting)
            for first in list(waiting):
                batch = _make(self._fit, self._store, first, size, report)
                if batch is not None:
                    self._done[first] = batch
                    waiting.remove(first)
                    report.finished(min(first + size, toys) - first)
            if waiting and len(waiting) == before:
                time.sleep(_POLL)  # other runs hold all that is left
        return _joined([self._done[first] for first in range(0, toys, size)], toys)


def batch_size(ladder: Ladder) -> int:
    """How many toys to make together: as many as memory allows, and as few as one would not mind to lose."""
    wanted = SCORE_BATCH if all(p.statistic == "score" for p in ladder.plans) else BATCH
    return min(wanted, ladder.batch_size(wanted))


def open_store(
    folder: Path,
    plans: Sequence[Plan],
    events_digest: str,
    about: dict[str, Any] | None = None,
    *,
    batch_size: int = BATCH,
) -> ToyStore:
    """The store of the toys of some scales."""
    scales = {} if len(plans) == 1 else {"scales": [[p.width, p.penalty] for p in plans]}
    description = {"events": events_digest} | plans[0].settings() | scales | (about or {})
    return ToyStore(folder, description, batch_size=batch_size)


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
        np.hstack([b.statistic for b in batches])[:, :toys],
        np.hstack([b.converged for b in batches])[:, :toys],
        np.hstack([b.iterations for b in batches])[:, :toys],
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
    solutions = fit(range(first, first + size), report.fitted)
    kept = max(0, min(size, BAND_TOYS - first))
    # Which of several scales will be shown is not known before the data are.
    coefficients = solutions[0].coefficients[:, :kept] if len(solutions) == 1 else np.empty((0, 0))
    return Batch(
        first,
        np.stack([s.statistic for s in solutions]),
        np.stack([s.converged for s in solutions]),
        np.stack([s.iterations for s in solutions]),
        coefficients.astype(np.float32),
    )


def stage(progress: Callable[[str, int, int], None] | None, what: str) -> Callable[[int, int], None] | None:
    """Progress of one stage among several."""
    return None if progress is None else lambda done, total: progress(what, done, total)


class _Reporter:
    """Counts toys for a progress bar: fits that end within a batch, then whole batches."""

    def __init__(self, toys: int, progress: Callable[[int, int], None] | None, *, done: int = 0) -> None:
        self._toys, self._progress = toys, progress
        self._done, self._in_batch = done, 0

    def fitted(self, number: int) -> None:
        self._in_batch += number
        self._tell(self._done + self._in_batch)

    def finished(self, number: int) -> None:
        self._done, self._in_batch = self._done + number, 0
        self._tell(self._done)

    def _tell(self, done: int) -> None:
        if self._progress is not None:
            self._progress(min(done, self._toys), self._toys)
