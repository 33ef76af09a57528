"""Toys batch by batch, through a store if there is one, whoever makes them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.progress import waiting
from lanner.errors import StoreError
from lanner.inference.multiscale import Ladder
from lanner.inference.plan import Plan
from lanner.run.execution.local import Task, Workers
from lanner.run.toy_store import Batch, ToyStore
from lanner.settings import checked
from lanner.typing import Progress

BATCH = 160  # toys lost at most by an interruption, and enough for matrix products to run at full speed
SCORE_BATCH = 1000  # the same where a toy needs no fit
_STEP = 16  # toys that a matrix product takes at a time
_FIXED = 34  # toys for whose work a batch of fits reads the events (measured in 8-D)
_POLL = 0.5  # seconds between looks at batches that another run is making


@dataclass(frozen=True, eq=False)
class ToyRun:
    """The toys asked for."""

    statistics: NDArray[np.float64]  # (scales, toys)
    converged: NDArray[np.bool_]
    iterations: NDArray[np.int64]
    coefficients: NDArray[np.float32]  # (rank, k) of the first k toys; none where there are several scales


def run_toys(
    workers: Workers,
    toys: int,
    *,
    folder: Path | None,
    events_digest: str,
    progress: Progress | None = None,
    task: Task = Ladder.fit_toys,
    about: dict[str, Any] | None = None,
) -> ToyRun:
    """Make (or read) the first `toys` toys. Interrupted, what is stored stays.

    `task` makes other toys than the null's by their numbers; `about` is what they depend on besides.
    """
    maker = ToyMaker.of(workers, folder=folder, events_digest=events_digest, toys=toys, task=task, about=about)
    return maker.first(toys, progress)


class ToyMaker:
    """Has toys made or reads them from a store; asked for more, it goes on where it was."""

    def __init__(self, workers: Workers, task: Task, store: ToyStore | None, size: int) -> None:
        self._workers, self._task, self._store = workers, task, store
        self._size = size if store is None else store.batch_size
        self._done: dict[int, Batch] = {}

    @classmethod
    def of(
        cls,
        workers: Workers,
        *,
        folder: Path | None,
        events_digest: str,
        toys: int,
        task: Task = Ladder.fit_toys,
        about: dict[str, Any] | None = None,
    ) -> ToyMaker:
        """A maker of a ladder's toys, kept in a folder if there is one; `toys` is how many are wanted at first."""
        toys = checked("toys", toys)
        size = batch_size(workers.prepared, toys, workers.number)
        store = None
        if folder is not None:
            store = open_store(folder, workers.prepared.plans, events_digest, about, batch_size=size)
        return cls(workers, task, store, size)

    def first(self, toys: int, progress: Progress | None = None) -> ToyRun:
        """The first `toys` toys."""
        firsts = range(0, toys, self._size)
        report = _Reporter(toys, self._size, progress)
        for first in firsts:
            if first in self._done:
                report.finished(first)
        with ExitStack() as idle:
            is_idle = False
            while missing := [first for first in firsts if first not in self._done]:
                with _Claims(self._store) as claims:
                    ours = self._ours(missing, claims, report)
                    for batch in self._workers.batches(self._task, ours, self._size, report.fitted):
                        if self._store is not None:
                            self._store.write(batch)
                        claims.release(batch.first)
                        self._keep(batch, report)
                if missing != [first for first in firsts if first not in self._done]:
                    idle.close()
                    is_idle = False
                    continue
                if not is_idle and self._store is not None:  # other runs hold all that is left
                    idle.enter_context(waiting(f"the last toys, which another run is making in {self._store.folder}"))
                    is_idle = True
                time.sleep(_POLL)
        return _joined([self._done[first] for first in firsts], toys)

    def _ours(self, missing: Sequence[int], claims: _Claims, report: _Reporter) -> Iterator[int]:
        """The batches that are for us to make: neither stored, nor being made by another run."""
        for first in missing:
            found = None if self._store is None else self._store.read(first)
            if found is None:
                if not claims.take(first):
                    continue
                # It may have been finished by another run between the look and the claim.
                found = None if self._store is None else self._store.read(first)
                if found is None:
                    yield first
                    continue
                claims.release(first)
            self._keep(found, report)

    def _keep(self, batch: Batch, report: _Reporter) -> None:
        self._done[batch.first] = batch
        report.finished(batch.first)


class _Claims:
    """The batches that this run has claimed and not yet finished."""

    def __init__(self, store: ToyStore | None) -> None:
        self._store = store
        self._held: dict[int, ExitStack] = {}

    def __enter__(self) -> _Claims:
        return self

    def __exit__(self, *_: object) -> None:
        for first in list(self._held):
            self.release(first)

    def take(self, first: int) -> bool:
        """Whether the batch is ours to make."""
        if self._store is None:
            return True
        held = ExitStack()
        if held.enter_context(self._store.claim(first)):
            self._held[first] = held
            return True
        held.close()
        return False

    def release(self, first: int) -> None:
        if first in self._held:
            self._held.pop(first).close()


def batch_size(ladder: Ladder, toys: int = SCORE_BATCH, workers: int = 1) -> int:
    """How many toys to make together: as many as memory allows, and as few as one would not mind to lose."""
    wanted = SCORE_BATCH if all(p.statistic == "score" for p in ladder.plans) else BATCH
    if workers > 1:
        wanted = fair_share(toys, workers, wanted)
    return min(toys, wanted, ladder.batch_size(wanted))


def fair_share(toys: int, workers: int, most: int) -> int:
    """The batch size with which several workers are done first: small ones keep none waiting, large ones cost less.

    >>> fair_share(300, 2, 100), fair_share(300, 8, 100), fair_share(10_000, 8, 100)
    (80, 48, 96)
    """

    def ends(size: int) -> int:
        rounds = -(-toys // (size * workers))
        return rounds * (size + _FIXED)

    return min(range(_STEP, max(most, _STEP) + 1, _STEP), key=ends)


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
    description = {"events": events_digest} | plans[0].toy_settings() | scales | (about or {})
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


class _Reporter:
    """Counts toys for a progress bar: those that end within a batch, then whole batches."""

    def __init__(self, toys: int, size: int, progress: Progress | None) -> None:
        self._toys, self._size, self._progress = toys, size, progress
        self._in_batch: dict[int, int] = {}
        self._lock = Lock()  # a cluster's messages come in a thread of their own

    def fitted(self, first: int, number: int) -> None:
        """Some more toys of a batch; one that is made a second time is not counted twice."""
        with self._lock:
            self._in_batch[first] = min(self._in_batch.get(first, 0) + number, self._size)
            self._tell()

    def finished(self, first: int) -> None:
        """A whole batch."""
        with self._lock:
            self._in_batch[first] = self._size
            self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress("toys", min(sum(self._in_batch.values()), self._toys), self._toys)
