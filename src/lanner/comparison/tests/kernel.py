"""Lanner's own tests under the same interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lanner.comparison.protocol import Prepared, Statistics
from lanner.comparison.toy_pool import ToyPool
from lanner.inference.combination import number_of_map_toys
from lanner.inference.multiscale import Ladder, Recipe
from lanner.inference.plan import Plan
from lanner.model.weightings import Draw
from lanner.run.evaluate import Combiner
from lanner.run.prepare import plan_search
from lanner.run.toy_maker import ToyRun, batch_size
from lanner.settings import FitKeywords, FitSettings
from lanner.typing import Progress, ToysEnded


@dataclass(frozen=True)
class Kernel:
    """`search` with some of its settings; by default as it is without any."""

    name: str = "score"
    keywords: FitKeywords = field(default_factory=FitKeywords, hash=False)

    def settings(self, pool: ToyPool) -> dict[str, Any]:  # noqa: D102
        return dict(self.keywords)

    def about(self) -> dict[str, str]:
        """What toys depend on besides their plans and events."""
        return {}

    def plans(self, pool: ToyPool, progress: Progress | None = None) -> tuple[Plan, ...]:
        """The plan of each scale, with the sizes and the centres of the pool."""
        plan = pool.plan
        # Centres are never a toy's data, so they must be those that the pool's toys hold out.
        shared: FitKeywords = {
            "null": plan.null,
            "seed": plan.seed,
            "reference_size": plan.reference_size,
            "centers": plan.centers,
        }
        units: FitKeywords = {"scaling": plan.scaling, "missing": plan.missing, "periodic": plan.periodic}
        settings = FitSettings(**units | self.keywords | shared)
        plans = plan_search(
            pool.reference,
            None if plan.fixed is None else pool.other,
            expected=plan.expected if plan.fixed is None else None,
            settings=settings,
            memory=pool.memory,
            progress=progress,
        )
        return tuple(replace(p, centers_barred=plan.centers_barred, bunch=plan.bunch) for p in plans)

    def prepare(  # noqa: D102
        self, pool: ToyPool, folder: Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        recipe = Recipe(self.plans(pool, progress), pool.reference, pool.other, device=pool.device, as_one=False)
        return PreparedKernel(recipe.prepare(pool.memory))


@dataclass(frozen=True, eq=False)
class PreparedKernel:
    """The scales of the test, each a row of the statistics."""

    ladder: Ladder

    @property
    def batch(self) -> int:  # noqa: D102
        return batch_size(self.ladder)

    def statistics(  # noqa: D102
        self, draws: Sequence[Draw], *, progress: ToysEnded | None = None, checkpoint: Path | None = None
    ) -> Statistics:
        fits = self.ladder.fit(draws, progress)
        return Statistics(
            np.stack([f.statistic for f in fits]),
            np.stack([f.converged for f in fits]),
            np.stack([f.iterations for f in fits]),
            fits[0].coefficients if len(fits) == 1 else None,
        )

    def combiner(self, null: ToyRun) -> Combiner:  # noqa: D102
        kind = self.ladder.first.plan.combination
        return Combiner.of(self.ladder, kind, null, number_of_map_toys(null.statistics.shape[1]))
