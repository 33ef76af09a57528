"""Toy data with a signal in them, beside null toys of the same reference: what `power` judges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanner._util.machine import memory_budget
from lanner.errors import InputError
from lanner.events import Sample, match_columns
from lanner.inference.multiscale import Ladder, Recipe
from lanner.inference.resampling import ReferenceScheme
from lanner.model.backend import arrays_on
from lanner.model.fit import MIN_REFERENCE
from lanner.model.objective import Solution
from lanner.run.execution.local import Workers
from lanner.run.planning import FitOptions, check_expected, check_sample, plan_search
from lanner.run.toy_maker import ToyRun, run_toys
from lanner.run.toy_store import array_digest

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Injection:
    """A reference and a signal, ready for toys with any number of signal events."""

    recipe: Recipe
    alone: bool
    folder: Path | None
    budget: int

    @classmethod
    def plan(
        cls,
        reference: Any,
        signal: Any,
        *,
        expected: float,
        options: FitOptions,
        alone: bool = False,
        output: str | Path | None = None,
        memory: float | str | None = None,
        device: str = "cpu",
    ) -> Injection:
        """Check the samples and plan."""
        check_expected(expected)
        arrays_on(device)
        if options.null not in (None, "reference"):
            raise InputError(f"null={options.null!r}: the power is that of null='reference'")
        reference = check_sample(reference, "reference", MIN_REFERENCE)
        signal = match_columns(reference, check_sample(signal, "signal", 1), labels=("reference", "signal"))
        budget = memory_budget(memory)
        plans = plan_search(reference, None, expected=expected, options=options, memory=budget)
        return cls(
            Recipe(plans, reference, signal, device=device), alone, None if output is None else Path(output), budget
        )

    @property
    def signal(self) -> Sample:
        """The signal events."""
        assert self.recipe.data is not None
        return self.recipe.data

    def null(self, workers: Workers, toys: int, progress: Progress | None = None) -> ToyRun:
        """Null toys."""
        reference = self.recipe.reference
        return run_toys(
            workers,
            toys,
            folder=None if self.folder is None else self.folder / "toys",
            events_digest=array_digest(reference.features, reference.weights),
            progress=progress,
        )

    def toys(
        self, workers: Workers, mean: float, experiments: int, *, label: str, progress: Progress | None = None
    ) -> ToyRun:
        """Toys with Poisson(mean) signal events, kept under the signal's label."""
        reference = self.recipe.reference
        return run_toys(
            workers,
            experiments,
            folder=None if self.folder is None else self.folder / f"{label}-{mean:g}",
            events_digest=array_digest(reference.features, reference.weights, self.signal.features),
            about={"signal_events": float(mean), "alone": self.alone},
            task=_WithSignal(mean, self.alone),
            progress=progress,
        )


@dataclass(frozen=True)
class _WithSignal:
    """Makes toys with a signal, wherever it is sent."""

    mean: float
    alone: bool

    def __call__(self, ladder: Ladder, numbers: Sequence[int], told: Callable[[int], None] | None) -> list[Solution]:
        scheme = ladder.first.scheme
        assert isinstance(scheme, ReferenceScheme)
        return ladder.fit([scheme.with_signal(i, self.mean, alone=self.alone) for i in numbers], told)
