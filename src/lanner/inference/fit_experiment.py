"""An experiment judged by the likelihood ratio: every toy is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lanner.events import Sample
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.experiment import Experiment, GeneratedToy, basis_of, candidates_of
from lanner.inference.layout import single_scheme
from lanner.inference.plan import EventGenerator, Plan
from lanner.inference.resampling import ReferenceScheme
from lanner.inference.terms import ReachTerm
from lanner.model.backend import NUMPY, Arrays
from lanner.model.features import Features
from lanner.model.loss import loss_by_name
from lanner.model.moments import Spectrum
from lanner.model.nystrom import Basis
from lanner.model.objective import Problem, Solution
from lanner.model.pool import Pool
from lanner.model.residuals import Residuals, ResidualSums
from lanner.model.solvers.batched_newton import minimise
from lanner.model.weightings import Draw, roles_of
from lanner.typing import ToysEnded


@dataclass(frozen=True, eq=False)
class FitExperiment(Experiment):
    """Features of reference and data, and the curvature that all fits share."""

    pool: Pool

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
    ) -> FitExperiment:
        """Choose pivots, compute features and curvature: the one-off cost."""
        samples = [reference] if data is None else [reference, data]
        events = ScaledRows(tuple(s.features for s in samples), plan.units)
        data_size = 0 if data is None else len(data)
        candidates, _ = candidates_of(plan, reference, events, make_events)
        both = (reference.weights, reference.toy_weights)
        weights, density = (None if w is None else np.concatenate([w, np.ones(data_size)]) for w in both)
        pool = Pool.prepare(
            events,
            basis_of(plan, candidates, memory),
            loss=loss_by_name(plan.loss),
            penalty=plan.penalty,
            expected=plan.expected,
            events_per_fit=plan.events_per_fit,
            precision=plan.precision,
            memory=memory,
            weights=weights,
            density=density,
            null_rows=len(events) if plan.null == "permutation" else len(reference),
            arrays=arrays,
        )
        return cls(plan, single_scheme(plan, reference, data_size), reference, data, make_events, pool)

    @property
    def basis(self) -> Basis:  # noqa: D102
        return self.pool.basis

    @property
    def spectrum(self) -> Spectrum:  # noqa: D102
        return self.pool.spectrum

    @property
    def held(self) -> int:  # noqa: D102
        return self.pool.held

    def reach(self) -> ReachTerm:  # noqa: D102
        pool, null = self.pool, np.arange(self.pool.null_rows)
        if isinstance(self.scheme, ReferenceScheme):  # whose centres are never a toy's data
            null = np.setdiff1d(null, self.scheme.held_out, assume_unique=True)
        by = self.reference.draws_by
        weights = None if by is None else by[null]
        g, first = pool.residuals, len(self.reference)
        residuals = Residuals(g, g[first:], ResidualSums.of(g[null], weights))
        return ReachTerm.of(self.plan.width, residuals, self.plan.expected)

    def at_penalty(self, plan: Plan) -> Self:  # noqa: D102
        return replace(self, plan=plan, pool=self.pool.at_penalty(plan.penalty, plan.events_per_fit))

    def batch_size(self, toys: int) -> int:  # noqa: D102
        return self.pool.batch_size(toys)

    def fit(self, draws: Sequence[Draw], progress: ToysEnded | None = None) -> Solution:  # noqa: D102
        return self.fit_roles(roles_of(draws), progress)

    def fit_roles(self, roles: NDArray[np.int8], progress: ToysEnded | None = None) -> Solution:
        """Fit what each event of the pool is to each fit."""
        return self.pool.fit(roles, self.plan, progress)

    def fit_generated(  # noqa: D102
        self, toy: GeneratedToy, progress: ToysEnded | None = None, features: Features | None = None
    ) -> Solution:
        features = self.features_of(toy) if features is None else features
        problem = Problem(features, toy.weightings, self.pool.loss, self.plan.penalty * toy.weightings.events)
        return minimise(problem, self.pool.shared, self.plan, progress=progress)

    def features_of(self, toy: GeneratedToy) -> Features:  # noqa: D102
        return self.pool.features_of(toy.events, self.plan.precision)
