"""Who makes the toys: this process, or the workers of a cluster (`lanner.run.execution.dask`).

Either way toys are known by their numbers alone, and this process alone writes them down: a run that was begun by one
executor is finished by any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np

from lanner.errors import InputError
from lanner.events.spread import InTurn, RowMapper
from lanner.inference.kept import BAND_TOYS
from lanner.model.objective import Solution
from lanner.run.toy_store import Batch
from lanner.typing import Progress, ToysEnded

# Makes toys by their numbers with what the recipe was prepared to, telling how many have ended.
Task = Callable[[Any, Sequence[int], ToysEnded | None], list[Solution]]
Told = Callable[[int, int], None]  # of a batch's first toy, and how many more of the batch have ended


class Workers(Protocol):
    """Those who make toys, ready for it."""

    @property
    def prepared(self) -> Any:
        """What the recipe was prepared to, as this process has it."""

    @property
    def number(self) -> int:
        """How many batches are made at the same time."""

    def batches(self, task: Task, firsts: Iterator[int], size: int, told: Told) -> Iterator[Batch]:
        """The batches that begin with these toys, in any order. A first toy is taken when somebody is free for it."""


class Preparable(Protocol):
    """Anything that toys are made with, before any feature is computed: little enough to be sent elsewhere."""

    def prepare(self, memory: int, progress: Progress | None = None) -> Any:
        """Do the one-off work within so many bytes."""


class Executor(Protocol):
    """Where toys are made."""

    def start(
        self, recipe: Preparable, *, memory: int, progress: Progress | None = None
    ) -> AbstractContextManager[Workers]:
        """Workers for one search, who go when it ends; all on this machine share the memory."""

    def rows(self) -> AbstractContextManager[RowMapper]:
        """Those who read a reference that is left in its files."""


class InProcess:
    """This process: one batch after another, each on all cores."""

    number = 1

    def __init__(self, prepared: Any) -> None:
        self.prepared = prepared

    def batches(self, task: Task, firsts: Iterator[int], size: int, told: Told) -> Iterator[Batch]:
        """The batches, in order."""
        for first in firsts:
            yield make_batch(task, self.prepared, first, size, lambda n, first=first: told(first, n))  # type: ignore[misc]


class Local:
    """The executor that needs nothing else."""

    def start(
        self, recipe: Preparable, *, memory: int, progress: Progress | None = None
    ) -> AbstractContextManager[Workers]:
        """This process."""
        return nullcontext(InProcess(recipe.prepare(memory, progress)))

    def rows(self) -> AbstractContextManager[RowMapper]:
        """This process."""
        return nullcontext(InTurn())


def executor_of(executor: Executor | str) -> Executor:
    """The executor that is meant: "local", "dask" (as many workers as cores on this machine), or one itself."""
    if not isinstance(executor, str):
        if not callable(getattr(executor, "start", None)):
            raise InputError(f"executor={executor!r}: give 'local', 'dask', or lanner.Dask(...)")
        return executor
    if executor == "local":
        return Local()
    if executor == "dask":
        from lanner.run.execution.dask import Dask

        return Dask()
    raise InputError(f"executor={executor!r} is not known; choose 'local' or 'dask', or give lanner.Dask(...)")


def make_batch(task: Task, prepared: Any, first: int, size: int, told: ToysEnded | None) -> Batch:
    """Toys `first` and following."""
    solutions = task(prepared, range(first, first + size), told)
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
