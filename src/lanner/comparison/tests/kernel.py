"""Lanner's own tests under the same interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lanner.comparison.protocol import Arena, Prepared, Progress, Stage, Statistics
from lanner.inference.multiscale import Ladder
from lanner.model.weightings import Draw
from lanner.run.planning import FitOptions, plan_search
from lanner.run.toy_maker import batch_size


@dataclass(frozen=True)
class Kernel:
    """`search` with some of its options; by default as it is without any."""

    name: str = "score"
    options: dict[str, Any] = field(default_factory=dict, hash=False)

    def settings(self, arena: Arena) -> dict[str, Any]:  # noqa: D102
        return dict(self.options)

    def prepare(  # noqa: D102
        self, arena: Arena, folder: Path | None = None, progress: Stage | None = None
    ) -> Prepared:
        plan = arena.plan
        options = FitOptions(
            # Centres are never a toy's data, so they must be those that the toys keep apart.
            **{"scaling": plan.scaling.rule}
            | self.options
            | {"null": plan.null}
            | {"seed": plan.seed, "reference_size": plan.reference_size, "centers": plan.centers}
        )
        sample = None if plan.fixed is None else arena.other
        expected = plan.expected if plan.fixed is None else None
        plans = plan_search(arena.reference, sample, expected=expected, options=options, memory=arena.memory)
        ladder = Ladder.prepare(plans, arena.reference, arena.other, memory=arena.memory)
        return PreparedKernel(ladder, options.combination)


@dataclass(frozen=True, eq=False)
class PreparedKernel:
    """Its scales, each a row of the statistics."""

    ladder: Ladder
    combination: str

    @property
    def batch(self) -> int:  # noqa: D102
        return batch_size(self.ladder)

    def statistics(  # noqa: D102
        self, draws: Sequence[Draw], *, progress: Progress | None = None, checkpoint: Path | None = None
    ) -> Statistics:
        fits = self.ladder.fit(draws, progress)
        return Statistics(
            np.stack([f.statistic for f in fits]),
            np.all([f.converged for f in fits], axis=0),
            np.max([f.iterations for f in fits], axis=0),
        )
