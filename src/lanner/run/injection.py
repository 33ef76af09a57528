"""Toy data with a signal in them, beside null toys of the same reference: what `power` judges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanner.errors import InputError
from lanner.events import Sample, match_columns
from lanner.inference.ladder import Ladder
from lanner.inference.toys import ReferenceScheme
from lanner.machine import memory_budget
from lanner.model.fit import MIN_REFERENCE
from lanner.model.problem import Solution
from lanner.run.planning import FitOptions, check_expected, check_sample, plan_search
from lanner.run.store import array_digest
from lanner.run.toys import ToyRun, run_toys

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Injection:
    """A reference and a signal, ready for toys with any number of signal events."""

    ladder: Ladder
    reference: Sample
    signal: Sample
    alone: bool
    folder: Path | None

    @classmethod
    def prepare(
        cls,
        reference: Any,
        signal: Any,
        *,
        expected: float,
        options: FitOptions,
        alone: bool = False,
        output: str | Path | None = None,
        memory: float | str | None = None,
    ) -> Injection:
        """Check the samples, plan, and compute features."""
        check_expected(expected)
        if options.null != "reference":
            raise InputError(f"null={options.null!r}: the power is that of null='reference'")
        reference = check_sample(reference, "reference", MIN_REFERENCE)
        signal = match_columns(reference, check_sample(signal, "signal", 1), labels=("reference", "signal"))
        budget = memory_budget(memory)
        plans = plan_search(reference, None, expected=expected, options=options, memory=budget)
        ladder = Ladder.prepare(plans, reference, signal, memory=budget)
        return cls(ladder, reference, signal, alone, None if output is None else Path(output))

    def null(self, toys: int, progress: Progress | None = None) -> ToyRun:
        """Null toys."""
        return run_toys(
            self.ladder,
            toys,
            folder=None if self.folder is None else self.folder / "toys",
            events_digest=array_digest(self.reference.features, self.reference.weights),
            progress=progress,
        )

    def toys(self, mean: float, experiments: int, *, label: str, progress: Progress | None = None) -> ToyRun:
        """Toys with Poisson(mean) signal events, kept under the signal's label."""

        scheme = self.ladder.first.scheme
        assert isinstance(scheme, ReferenceScheme)

        def fit(numbers: Sequence[int], told: Callable[[int], None] | None) -> list[Solution]:
            return self.ladder.fit([scheme.with_signal(i, mean, alone=self.alone) for i in numbers], told)

        return run_toys(
            self.ladder,
            experiments,
            folder=None if self.folder is None else self.folder / f"{label}-{mean:g}",
            events_digest=array_digest(self.reference.features, self.reference.weights, self.signal.features),
            about={"signal_events": float(mean), "alone": self.alone},
            fit=fit,
            progress=progress,
        )
