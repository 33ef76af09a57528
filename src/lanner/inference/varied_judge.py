"""Many data sets against one reference with uncertainties: what does not depend on nu is computed once.

A search judges its data at the nu^ that fits them. Where many data sets are judged, or one at several nu, the pivots of
every width are chosen once, and the features of the reference's events are kept where they fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lanner.events import Sample
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.experiment import Experiment, basis_of, candidates_of
from lanner.inference.multiscale import Ladder, terms_of
from lanner.inference.plan import Plan
from lanner.inference.varied_experiment import VariedExperiment, VariedPlan, reference_at, varied_scheme
from lanner.inference.varied_fit import VariedFitExperiment
from lanner.inference.varied_sums import EventFeatures, StoredEventFeatures
from lanner.model.summing import Whitened
from lanner.typing import Array
from lanner.uncertainties.effects import Effects, Nuisances
from lanner.uncertainties.profile import Profile


@dataclass(frozen=True, eq=False)
class VariedJudge:
    """A reference with its uncertainties, ready for data sets at any values of the nuisance parameters."""

    plans: tuple[Plan, ...]
    reference: Sample
    nuisances: Nuisances
    effects: Effects  # of the nuisances on the reference
    sources: Mapping[float, EventFeatures]  # by width
    memory: int

    @classmethod
    def of(cls, plans: Sequence[Plan], reference: Sample, nuisances: Nuisances, *, memory: int) -> VariedJudge:
        """Choose the pivots of every width, and keep features within half of the memory, coarse widths first."""
        sources: dict[float, EventFeatures] = {}
        left = memory / 2
        for plan in sorted(plans, key=lambda p: (-p.width, p.penalty)):
            if plan.width in sources:  # the smallest penalty needs the most of the kernel, and comes first
                continue
            events = ScaledRows((reference.features,), plan.units)
            basis = basis_of(plan, candidates_of(plan, reference, events, None)[0], memory)
            size = 4 * len(reference) * basis.rank
            if plan.statistic == "score" and size <= left:
                left -= size
                sources[plan.width] = StoredEventFeatures.of(events, basis, len(reference))
            else:
                sources[plan.width] = EventFeatures(events, Whitened.of(basis))
        return cls(tuple(plans), reference, nuisances, nuisances.of(reference.features), sources, memory)

    def profile(self, data: Sample, auxiliary: Array | None = None) -> Profile:
        """The nuisances that fit a data set best, with what is known of them from elsewhere (nothing: 0)."""
        found = VariedPlan.of(self.nuisances, self.plans[0], self.reference, data, auxiliary, effects=self.effects)
        return found.profile

    def ladder(self, nu: Array, data: Sequence[Sample] = (), auxiliary: Array | None = None) -> Ladder:
        """Toys at nu, and data sets with their auxiliary measurements, (data sets, K), to be judged by them."""
        plan = self.plans[0]
        known = np.zeros((len(data), len(nu))) if auxiliary is None else auxiliary
        at_nu = reference_at(nu, self.nuisances, self.effects, plan, self.reference)
        scheme, rows = varied_scheme(plan, self.reference, data, at_nu, known)
        first: dict[float, Experiment] = {}
        for width, source in self.sources.items():
            at_width = next(p for p in self.plans if p.width == width)
            parts = (at_nu, scheme, rows)
            if plan.statistic == "score":
                first[width] = VariedExperiment.at(
                    at_width, self.reference, data, *parts, memory=self.memory, source=source
                )
            else:
                (only,) = data
                first[width] = VariedFitExperiment.at(at_width, self.reference, only, *parts, memory=self.memory)
        scales = tuple(first[p.width].at_penalty(p) for p in self.plans)
        return Ladder(scales, terms_of(scales) if len(scales) > 1 else ())
