"""An experiment judged by the score: a toy is a sum over its events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from lanner.events import Sample
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.experiment import Experiment, GeneratedToy, basis_of, candidates_of
from lanner.inference.layout import dealt_scheme, single_scheme
from lanner.inference.plan import EventGenerator, Plan
from lanner.inference.regions import RegionScheme
from lanner.inference.resampling import PermutationScheme, ReferenceScheme, Scheme
from lanner.inference.terms import ReachTerm
from lanner.model.backend import NUMPY, Arrays
from lanner.model.features import Features
from lanner.model.isolated import with_company
from lanner.model.loss import null_curvature
from lanner.model.moments import Spectrum
from lanner.model.nystrom import Basis
from lanner.model.objective import Solution
from lanner.model.score import Rotated, weighted_difference
from lanner.model.score_pool import ScorePool
from lanner.model.weightings import Draw
from lanner.typing import Array, ToysEnded

KEPT = 100  # toys of a batch whose coefficients are computed, at most
_CHEAP = 10**8  # features, of which it is cheap to look for lonely events


@dataclass(frozen=True, eq=False)
class ScoreExperiment(Experiment):
    """Features of bunches of events, and the model that judges their sums."""

    pool: ScorePool

    @classmethod
    def prepare(
        cls,
        plan: Plan,
        reference: Sample,
        data: Sample | None,
        *,
        memory: int,
        make_events: EventGenerator | None = None,
        arrays: Arrays = NUMPY,
        scheme: Scheme | None = None,
        told: Callable[[float], None] | None = None,
    ) -> ScoreExperiment:
        """Choose pivots, sum features and moments: the one-off cost, of which the part done is told.

        Scales of one ladder may share their scheme.
        """
        samples = [reference] if data is None else [reference, data]
        events = ScaledRows(tuple(s.features for s in samples), plan.units)
        scheme = scheme_of(plan, reference, data) if scheme is None else scheme
        assert isinstance(scheme, ReferenceScheme | PermutationScheme | RegionScheme)
        candidates, centers = candidates_of(plan, reference, events, make_events)
        basis, pivots = basis_of(plan, candidates, memory), None
        if plan.null == "reference" and not plan.centers_barred:
            assert centers is not None
            pivots = centers[basis.chosen]
            if len(reference) * basis.rank <= _CHEAP:
                basis, pivots = with_company(basis, pivots, events, len(reference), plan.chosen_max_rank)
        pool = ScorePool.prepare(
            events,
            basis,
            scheme.bunches,
            expected=plan.expected,
            precision=plan.precision,
            memory=memory,
            splits=None if isinstance(scheme, PermutationScheme) else scheme.splits,
            pivots=pivots,
            others=0 if data is None else len(data),
            held_out=None if isinstance(scheme, PermutationScheme) else scheme.held_out,
            arrays=arrays,
            told=told,
        )
        return cls(plan, scheme, reference, data, make_events, pool)

    @property
    def basis(self) -> Basis:  # noqa: D102
        return self.pool.basis

    @property
    def spectrum(self) -> Spectrum:  # noqa: D102
        return self.pool.model.spectrum

    @property
    def held(self) -> int:  # noqa: D102
        return self.pool.held

    def reach(self) -> ReachTerm:  # noqa: D102
        return ReachTerm.of(self.plan.width, self.pool.residuals, self.plan.expected)

    def at_penalty(self, plan: Plan) -> Self:  # noqa: D102
        return replace(self, plan=plan)  # the score takes its penalty from the plan

    def batch_size(self, toys: int) -> int:  # noqa: D102
        return self.pool.batch_size(toys)

    def fit(self, draws: Sequence[Draw], progress: ToysEnded | None = None) -> Solution:  # noqa: D102
        return self.score(self.pool.differences(self.pool.taken(draws)), progress)

    def score(self, rotated: Rotated, progress: ToysEnded | None = None, *, kept: int = KEPT) -> Solution:
        """The score statistic of the differences u that `ScorePool.differences` gives, and some coefficients."""
        made = self.pool.model.scores.solution(rotated, self._rho(), kept=kept)
        if progress is not None:
            progress(len(made.statistic))
        return made

    def score_by_split(self, rotated: Rotated) -> Array:
        """The score statistic by each split of the reference, (splits, B)."""
        return self.pool.model.scores.by_split(rotated, self._rho())

    def fit_generated(self, toy: GeneratedToy, progress: ToysEnded | None = None) -> Solution:  # noqa: D102
        return self.score(self.rotated(self.features_of(toy), toy), progress)

    def rotated(self, features: Features, toy: GeneratedToy) -> Rotated:
        """u of a generated toy along the eigenvectors."""
        return self.pool.model.rotated(weighted_difference(features, toy.weightings), [None] * len(toy.weightings))

    def features_of(self, toy: GeneratedToy) -> Features:  # noqa: D102
        return self.pool.features_of(toy.events, self.plan.precision)

    def _rho(self) -> float:
        """The penalty beside the eigenvalues."""
        plan = self.plan
        return plan.penalty * plan.events_per_fit / (plan.expected * null_curvature(self.loss))


def scheme_of(plan: Plan, reference: Sample, data: Sample | None, *, as_one: bool = True) -> Scheme:
    """How toys are drawn: in bunches, or one by one where events have weights, are generated, or centres are barred."""
    others = 0 if data is None else len(data)
    one_by_one = reference.weights is not None or plan.null == "generator"
    if one_by_one or (plan.null == "reference" and plan.centers_barred):
        return single_scheme(plan, reference, others)
    return dealt_scheme(plan, len(reference), others, as_one=as_one)
