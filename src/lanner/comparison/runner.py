"""`TestRunner`: the toys of one test, made by whoever is asked to, kept, timed and judged."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.files import write_atomically
from lanner._util.progress import named
from lanner.comparison.protocol import Prepared, Test
from lanner.comparison.toy_pool import ToyKind, ToyPool
from lanner.inference.resampling import ReferenceScheme
from lanner.model.objective import Solution
from lanner.run.execution.local import Executor, Local, Task, Told, Workers, executor_of
from lanner.run.toy_maker import ToyMaker, ToyRun, fair_share
from lanner.run.toy_store import Batch, ToyStore
from lanner.typing import Progress, ToysEnded


@dataclass(frozen=True, eq=False)
class ReadyTest:
    """A prepared test and the scheme by which it takes toys from the pool."""

    test: Prepared
    scheme: ReferenceScheme


@dataclass(frozen=True, eq=False)
class _TestRecipe:
    """All that a test is prepared from, wherever that happens."""

    test: Test
    pool: ToyPool
    folder: Path | None = None
    progress: Progress | None = None

    def prepare(self, memory: int, progress: Progress | None = None) -> ReadyTest:
        pool = replace(self.pool, memory=memory)
        return ReadyTest(self.test.prepare(pool, self.folder, self.progress), pool.scheme)


@dataclass
class _Clock:
    """What a test has cost so far."""

    seconds: float = 0.0
    toys: int = 0
    preparing: float = 0.0

    @classmethod
    def read(cls, folder: Path | None) -> _Clock:
        try:
            return cls() if folder is None else cls(**json.loads((folder / "timing.json").read_text()))
        except (OSError, ValueError, TypeError):
            return cls()

    def write(self, folder: Path | None) -> None:
        if folder is not None and self.toys:
            write_atomically(folder / "timing.json", json.dumps(vars(self)))


@dataclass(frozen=True, eq=False)
class _MakeToys:
    """Makes toys of one kind by their numbers, wherever it is sent."""

    kind: ToyKind
    folder: Path | None = None  # for checkpoints of toys that take long
    clock: _Clock | None = None  # only where toys are made in this process

    def __call__(self, ready: ReadyTest, numbers: Sequence[int], told: ToysEnded | None) -> list[Solution]:
        checkpoint = None if self.folder is None else self.folder / f"batch-{numbers[0]:08d}.training.npz"
        start = time.perf_counter()
        draws = [self.kind(ready.scheme, i) for i in numbers]
        made = ready.test.statistics(draws, progress=told, checkpoint=checkpoint)
        if self.clock is not None:
            self.clock.seconds += time.perf_counter() - start
            self.clock.toys += len(numbers)
        learned = np.empty((0, len(numbers))) if made.coefficients is None else made.coefficients
        rows = zip(made.values, made.converged, made.iterations, strict=True)
        return [Solution(learned, *row, np.zeros(len(numbers))) for row in rows]


@dataclass(eq=False)
class TestRunner:
    """A test and the pool it takes toys from. It is prepared when a toy is first needed that no folder holds.

    Used in a `with` block, at whose end the workers go. To the toy maker it is itself the workers.
    """

    __test__ = False  # not one of pytest's

    test: Test
    pool: ToyPool
    folder: Path | None = None
    executor: Executor | str = "local"
    progress: Progress | None = None

    def __post_init__(self) -> None:
        self._clock = _Clock.read(self.folder)
        self._open = ExitStack()
        self._executor = executor_of(self.executor)

    def __enter__(self) -> TestRunner:
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    @cached_property
    def _workers(self) -> Workers:
        start = time.perf_counter()
        recipe = _TestRecipe(self.test, self.pool)
        if self._is_local:  # a folder and a function could not be sent elsewhere
            told = named(self.progress, f"{self.test.name}, preparing")
            recipe = replace(recipe, folder=self.folder, progress=told)
        workers = self._open.enter_context(self._executor.start(recipe, memory=self.pool.memory))
        self._clock.preparing = self._clock.preparing or time.perf_counter() - start
        return workers

    @property
    def _is_local(self) -> bool:
        return isinstance(self._executor, Local)

    @property
    def prepared(self) -> ReadyTest:
        """The test, ready."""
        ready: ReadyTest = self._workers.prepared
        return ready

    @property
    def number(self) -> int:
        """How many batches are made at the same time."""
        return self._workers.number

    def batches(self, task: Task, firsts: Iterator[int], size: int, told: Told) -> Iterator[Batch]:
        """The batches, of which the first one that is needed prepares the test."""
        for first in firsts:
            yield from self._workers.batches(task, chain([first], firsts), size, told)

    @property
    def seconds_per_toy(self) -> float:
        """Measured over the toys that were made in this process, now or in an earlier run."""
        return self._clock.seconds / self._clock.toys if self._clock.toys else float("nan")

    @property
    def seconds_preparing(self) -> float:
        """The one-off cost."""
        return self._clock.preparing

    def toys(self, label: str, number: int, kind: ToyKind) -> ToyRun:
        """Toys of one kind by their numbers, from the folder where it has them."""
        folder = self.folder_of(label)
        # A store knows the size of its batches; without one the test says, which may take some work.
        kept = folder is not None and (folder / "store.json").exists()
        size = number if kept else self._batch_size(number)
        store = None if folder is None else self.open_store(folder, kind, size)
        task = _MakeToys(kind, folder, self._clock) if self._is_local else _MakeToys(kind)
        found = ToyMaker(self, task, store, size).first(number, named(self.progress, f"{self.test.name}, {label}"))
        self._clock.write(self.folder)
        return found

    def _batch_size(self, number: int) -> int:
        batch = self.prepared.test.batch
        return min(number, batch if self.number == 1 else fair_share(number, self.number, batch))

    def folder_of(self, label: str) -> Path | None:
        """Where toys of one kind are kept."""
        return None if self.folder is None else self.folder / label

    def open_store(self, folder: Path, kind: ToyKind, batch_size: int) -> ToyStore:
        """The store of toys of one kind."""
        own = {"test": self.test.name, "settings": self.test.settings(self.pool), "toys": kind.about(self.pool)}
        return ToyStore(folder, self.pool.description | own, batch_size=batch_size)
