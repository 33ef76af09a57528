"""Lanner's own test where the reference has uncertainties: toys at their central values, each with its own fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lanner.comparison.protocol import Prepared
from lanner.comparison.tests.kernel import Kernel, PreparedKernel
from lanner.comparison.toy_pool import ToyPool
from lanner.inference.multiscale import Recipe
from lanner.inference.varied_experiment import VariedPlan, varied_scheme
from lanner.run.fingerprint import array_digest
from lanner.run.uncertain import learned_for
from lanner.typing import Progress
from lanner.uncertainties.declared import Uncertainty
from lanner.uncertainties.profile import Profile


@dataclass(frozen=True)
class UncertainKernel(Kernel):
    """`search` with uncertainties, whose truth is at their central values."""

    varied: VariedPlan | None = None
    digest: str = ""

    def prepare(  # noqa: D102
        self, pool: ToyPool, folder: Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        recipe = Recipe(self.plans(pool, progress), pool.reference, pool.other, device=pool.device, as_one=False)
        return PreparedKernel(replace(recipe, varied=self.varied).prepare(pool.memory))

    def about(self) -> dict[str, str]:  # noqa: D102
        return {"uncertainties": self.digest}


def uncertain_pool(kernel: Kernel, pool: ToyPool, uncertainties: Sequence[Uncertainty]) -> tuple[Kernel, ToyPool]:
    """The test and its toys with uncertainties that are learned from the pool's reference; the same if none is left."""
    plan, reference = pool.plan, pool.reference
    learned = learned_for(Recipe((plan,), reference), uncertainties, memory=pool.memory)
    if not len(learned.nuisances):
        return kernel, pool
    none = np.zeros(len(learned.nuisances))
    effects = learned.nuisances.of(reference.features)
    varied = VariedPlan(learned.nuisances, Profile(none, np.eye(len(none)), 0.0, plan.expected), none, effects)
    beside = [] if pool.other is None else [pool.other]
    at_nu = varied.reference(plan, reference)
    scheme, _ = varied_scheme(plan, reference, beside, at_nu, none[None], as_one=False)
    digest = array_digest(*(effects.at(none + nu)[0] for nu in (-1.0, 1.0)), np.array(learned.nuisances.names))
    return UncertainKernel(kernel.name, kernel.keywords, varied, digest), replace(pool, scheme=scheme)
