"""An experiment: a plan and its events, ready to judge toys and data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events import Sample
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.analytic import FitOfLaw, LawMoments, analytic_law, analytic_moments
from lanner.inference.layout import centers_of
from lanner.inference.plan import EventGenerator, Plan
from lanner.inference.resampling import Scheme, draw_size
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.terms import CountTerm, ProfiledCountTerm, ReachTerm
from lanner.inference.weighted_chi2 import WeightedChi2
from lanner.model.features import Features
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import Loss, loss_by_name, null_curvature
from lanner.model.moments import Spectrum
from lanner.model.nystrom import Basis, choose_pivots, trace_tolerance
from lanner.model.objective import Solution
from lanner.model.ratio import LearnedRatio, settings_of_ratio
from lanner.model.weightings import DATA, REFERENCE, Draw, Weightings
from lanner.typing import Array, ToysEnded


@dataclass(frozen=True, eq=False)
class GeneratedToy:
    """Events of a generator, scaled: a reference, then data."""

    events: Array
    weightings: Weightings


@dataclass(frozen=True, eq=False)
class Experiment(ABC):
    """Reference and data at one scale, and how to turn draws of them into statistics."""

    plan: Plan
    scheme: Scheme
    reference: Sample
    data: Sample | None
    make_events: EventGenerator | None

    @property
    @abstractmethod
    def basis(self) -> Basis:
        """The pivots behind the features."""

    @property
    @abstractmethod
    def spectrum(self) -> Spectrum:
        """The moments of the features along the eigenvectors of the second."""

    @property
    @abstractmethod
    def held(self) -> int:
        """Bytes that it keeps."""

    @abstractmethod
    def reach(self) -> ReachTerm:
        """How far the centres reach."""

    def count_term(self) -> CountTerm | ProfiledCountTerm:
        """The number of events."""
        return CountTerm(self.plan.expected, self.plan.expected_error)

    @property
    def loss(self) -> Loss:
        """The loss of a fit."""
        return loss_by_name(self.plan.loss)

    @abstractmethod
    def at_penalty(self, plan: Plan) -> Self:
        """The same events and features, by a plan that differs in its penalty."""

    @abstractmethod
    def batch_size(self, toys: int) -> int:
        """How many toys to take together within the memory budget."""

    @abstractmethod
    def fit(self, draws: Sequence[Draw], progress: ToysEnded | None = None) -> Solution:
        """Judge what the draws take from the pool."""

    @abstractmethod
    def fit_generated(self, toy: GeneratedToy, progress: ToysEnded | None = None) -> Solution:
        """Judge a generated toy."""

    @abstractmethod
    def features_of(self, toy: GeneratedToy) -> Features:
        """The features of a generated toy's events."""

    def fit_toys(self, toys: Sequence[int], progress: ToysEnded | None = None) -> Solution:
        """Judge null toys by their numbers."""
        if self.make_events is not None:
            return Solution.joined([self.fit_generated(self.generate(i), progress) for i in toys])
        return self.fit([self.scheme.toy(i) for i in toys], progress)

    def band(self, toys: int) -> Array:
        """Coefficients of the first toys' ratios, for the bands of plots."""
        return self.fit_toys(range(toys)).coefficients

    def data_draws(self, draws: int) -> list[Draw]:
        """What the data's fits take from the pool, with several draws of the reference (one if there is no choice)."""
        if self.data is None:
            raise InputError("this experiment has no data; give some")
        if self.plan.null == "generator" or self.plan.reference_size == len(self.reference):
            draws = 1  # nothing is left to choose
        return [self.scheme.data(i) for i in range(draws)]

    def generate(self, i: int) -> GeneratedToy:
        """A toy whose data and reference are both new."""
        assert self.make_events is not None
        plan, rng = self.plan, rng_of(self.plan.seed, Stream.TOYS, i)
        size = draw_size(plan.expected, plan.fixed, rng)
        events = _generated(self.make_events, plan, plan.reference_size + size, rng)
        roles = np.repeat(np.array([REFERENCE, DATA], dtype=np.int8), [plan.reference_size, size])[:, None]
        return GeneratedToy(plan.units.apply(events), Weightings.of(roles, expected=plan.expected))

    def analytic_null(self) -> WeightedChi2:
        """The law of t from the eigenvalues, without a toy."""
        return analytic_law(self.spectrum, **self._law())

    def analytic_moments(self) -> LawMoments:
        """Its mean, spread and skewness alone, which cost next to nothing."""
        return analytic_moments(self.spectrum, **self._law())

    def _law(self) -> FitOfLaw:
        plan = self.plan
        return {
            "expected": plan.expected,
            "shape_only": plan.fixed is not None,
            "reference_size": self._worth(),
            "events": plan.events_per_fit,
            "penalty": plan.penalty,
            "loss": plan.loss,
        }

    def _worth(self) -> float:
        """What a fit's reference events are worth, in events without weights."""
        return self.plan.reference_size * self.reference.worth / len(self.reference)

    def ratio(self, solution: Solution, fit: int = 0) -> LearnedRatio:
        """The learned ratio of one of the data's fits."""
        plan, basis = self.plan, self.basis
        return LearnedRatio(
            statistic=float(solution.statistic[fit]),
            converged=bool(solution.converged[fit]),
            iterations=int(solution.iterations[fit]),
            rank=basis.rank,
            trace_error=basis.trace_error,
            decrement=float(solution.decrement[fit]),
            names=plan.names,
            expected=plan.expected,
            reference_size=plan.reference_size,
            reference_worth=self._worth(),
            data_size=0 if self.data is None else len(self.data),
            shape_only=plan.fixed is not None,
            width=plan.width,
            **settings_of_ratio(plan),
            scaling=plan.units,
            centers=basis.pivots,
            coefficients=basis.coefficients(solution.coefficients[:, fit]),
            spectrum=self.spectrum,
        )


def basis_of(plan: Plan, candidates: Array, memory: int) -> Basis:
    """The pivots of a plan, of some candidates."""
    trace_error = plan.trace_error
    if trace_error is None:
        trace_error = trace_tolerance(
            penalty=plan.penalty,
            events=plan.events_per_fit,
            expected=plan.expected,
            curvature=null_curvature(loss_by_name(plan.loss)),
        )
    return choose_pivots(
        candidates,
        GaussianKernel(plan.width),
        trace_error=trace_error,
        max_rank=min(len(candidates), plan.chosen_max_rank),
        rng=rng_of(plan.seed, Stream.PIVOTS),
        memory=memory,
    )


def candidates_of(
    plan: Plan, reference: Sample, events: ScaledRows, make_events: EventGenerator | None
) -> tuple[Array, NDArray[np.intp] | None]:
    """The candidate centres, and which events of the pool they are, if any."""
    if plan.null == "permutation":
        rows = rng_of(plan.seed, Stream.CENTERS).choice(len(events), plan.centers, replace=False)
        return events[rows], rows
    if plan.null == "generator":
        if make_events is None:
            raise InputError("null='generator' needs generator=, a function (n, rng) -> events")
        if reference.weights is not None:
            raise InputError(
                "null='generator' makes unweighted references for its toys: give an unweighted one for the data, "
                "such as the generator's own events"
            )
        rng = rng_of(plan.seed, Stream.CENTERS)
        return plan.units.apply(_generated(make_events, plan, plan.centers, rng)), None
    rows = centers_of(plan, reference)
    return events[rows], rows


def _generated(make_events: EventGenerator, plan: Plan, n: int, rng: np.random.Generator) -> Array:
    events = Sample.of(make_events(n, rng), label="generator")
    if len(events) != n or events.dimensions != len(plan.names):
        raise InputError(
            f"the generator returned {len(events)} events of {events.dimensions} features where {n} of "
            f"{len(plan.names)} were asked for"
        )
    return events.features
