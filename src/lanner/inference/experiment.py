"""An experiment: a plan and its events, ready to fit toys and data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events import Sample
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.analytic import FitOfLaw, LawMoments, analytic_law, analytic_moments
from lanner.inference.plan import EventGenerator, Plan
from lanner.inference.resampling import PermutationScheme, ReferenceScheme, Scheme, WeightedReferenceScheme, draw_size
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.terms import BEYOND
from lanner.inference.weighted_chi2 import WeightedChi2
from lanner.model.backend import NUMPY, Arrays
from lanner.model.features import Features
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import loss_by_name, null_curvature
from lanner.model.nystrom import Basis, choose_pivots, trace_tolerance
from lanner.model.objective import Problem, Solution
from lanner.model.parallel import blocks
from lanner.model.pool import Pool
from lanner.model.ratio import LearnedRatio, settings_of_ratio
from lanner.model.score import Rotated, weighted_difference
from lanner.model.solvers.batched_newton import minimise
from lanner.model.splits import Splits
from lanner.model.weightings import DATA, REFERENCE, Draw, Weightings, roles_of
from lanner.typing import Array, ToysEnded

KEPT = 100  # score toys of a batch whose coefficients are computed
# Reference events out of reach become further pivots where they are few, and where it is cheap to look for them.
_MOST_ISOLATED, _CHEAP, _ROWS = 100, 10**8, 8192


@dataclass(frozen=True, eq=False)
class GeneratedToy:
    """Events of a generator, scaled: a reference, then data."""

    events: Array
    weightings: Weightings


@dataclass(frozen=True, eq=False)
class Experiment:
    """Features of reference and data, and how to turn them into fits."""

    plan: Plan
    pool: Pool
    scheme: Scheme
    reference: Sample
    data: Sample | None
    make_events: EventGenerator | None = None

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
    ) -> Experiment:
        """Choose pivots, compute features and curvature: the one-off cost."""
        units, loss = plan.units, loss_by_name(plan.loss)
        samples = [reference] if data is None else [reference, data]
        events = ScaledRows(tuple(s.features for s in samples), units)
        data_size = 0 if data is None else len(data)
        rng = rng_of(plan.seed, Stream.CENTERS)
        scheme: Scheme
        null_rows = len(reference)
        splits = None
        if plan.null == "permutation":
            null_rows = len(events)
            candidates = events[rng.choice(len(events), plan.centers, replace=False)]
            scheme = PermutationScheme(
                len(reference), data_size, plan.expected, plan.fixed, plan.reference_size, plan.seed
            )
        elif plan.null == "generator":
            if make_events is None:
                raise InputError("null='generator' needs generator=, a function (n, rng) -> events")
            if reference.weights is not None:
                raise InputError(
                    "null='generator' makes unweighted references for its toys: give an unweighted one for the data, "
                    "such as the generator's own events"
                )
            candidates = units.apply(_generated(make_events, plan, plan.centers, rng))
            scheme = _reference_scheme(plan, reference, data_size, np.empty(0, dtype=np.intp))
        else:
            scheme = reference_scheme(plan, reference, data_size)
            centers = centers_of(plan, reference)
            candidates, splits = events[centers], scheme.splits
        basis, pivot_rows = _basis(plan, candidates, memory), None
        if plan.null == "reference" and not plan.centers_barred:
            pivot_rows = centers[basis.chosen]
            if len(reference) * basis.rank <= _CHEAP:
                basis, isolated = _with_isolated(basis, events, len(reference), plan.max_rank)
                pivot_rows = np.concatenate([pivot_rows, isolated])
        weights = None
        if reference.weights is not None:
            weights = np.concatenate([reference.weights, np.ones(data_size)])
        pool = Pool.prepare(
            events,
            basis,
            loss=loss,
            penalty=plan.penalty,
            expected=plan.expected,
            events_per_fit=plan.events_per_fit,
            precision=plan.precision,
            memory=memory,
            weights=weights,
            null_rows=null_rows,
            splits=splits,
            pivot_rows=pivot_rows,
            arrays=arrays,
        )
        return cls(plan, pool, scheme, reference, data, make_events)

    def batch_size(self, toys: int) -> int:
        """How many toys to fit together within the memory budget."""
        return self.pool.batch_size(toys)

    def fit_toys(self, toys: Sequence[int], progress: ToysEnded | None = None) -> Solution:
        """Fit null toys by their numbers."""
        if self.make_events is not None:
            return Solution.joined([self.fit_generated(self.generate(i), progress) for i in toys])
        return self.fit([self.scheme.toy(i) for i in toys], progress)

    def data_draws(self, draws: int) -> list[Draw]:
        """What the data's fits take from the pool, with several draws of the reference (one if there is no choice)."""
        if self.data is None:
            raise InputError("this experiment has no data; give some")
        if self.plan.null == "generator" or self.plan.reference_size == len(self.reference):
            draws = 1  # nothing is left to choose
        return [self.scheme.data(i) for i in range(draws)]

    def fit(self, draws: Sequence[Draw], progress: ToysEnded | None = None) -> Solution:
        """Fit what the draws take from the pool."""
        if self.plan.statistic == "score":
            return self.score(self.pool.differences(draws), progress)
        return self.fit_roles(roles_of(draws), progress)

    def fit_roles(self, roles: NDArray[np.int8], progress: ToysEnded | None = None) -> Solution:
        """Fit what each event of the pool is to each fit."""
        return self.pool.fit(roles, self.plan, progress)

    def at_penalty(self, plan: Plan) -> Experiment:
        """The same events and features, by a plan that differs in its penalty."""
        if plan.statistic == "score":  # which takes its penalty from the plan
            return replace(self, plan=plan)
        return replace(self, plan=plan, pool=self.pool.at_penalty(plan.penalty, plan.events_per_fit))

    def score(self, rotated: Rotated, progress: ToysEnded | None = None) -> Solution:
        """The score statistic of the differences u that `Pool.differences` gives."""
        made = self.pool.scores.solution(rotated, self._rho(), kept=KEPT)
        if progress is not None:
            progress(len(made.statistic))
        return made

    def score_by_split(self, rotated: Rotated) -> Array:
        """The score statistic by each split of the reference, (splits, B)."""
        return self.pool.scores.by_split(rotated, self._rho())

    def generate(self, i: int) -> GeneratedToy:
        """A toy whose data and reference are both new."""
        assert self.make_events is not None
        plan, rng = self.plan, rng_of(self.plan.seed, Stream.TOYS, i)
        size = draw_size(plan.expected, plan.fixed, rng)
        events = _generated(self.make_events, plan, plan.reference_size + size, rng)
        roles = np.repeat(np.array([REFERENCE, DATA], dtype=np.int8), [plan.reference_size, size])[:, None]
        return GeneratedToy(plan.units.apply(events), Weightings.of(roles, expected=plan.expected))

    def fit_generated(
        self, toy: GeneratedToy, progress: ToysEnded | None = None, features: Features | None = None
    ) -> Solution:
        """Fit such a toy; its features may be there already."""
        plan = self.plan
        if features is None:
            features = self.features_of(toy)
        if plan.statistic == "score":
            return self.score(self.rotated(features, toy), progress)
        problem = Problem(features, toy.weightings, self.pool.loss, plan.penalty * toy.weightings.events)
        return minimise(problem, self.pool.shared, plan, progress=progress)

    def rotated(self, features: Features, toy: GeneratedToy) -> Rotated:
        """u of a generated toy along the eigenvectors."""
        return self.pool.scores.rotate(weighted_difference(features, toy.weightings), [None] * len(toy.weightings))

    def features_of(self, toy: GeneratedToy) -> Features:
        """The features of a generated toy's events."""
        return self.pool.features_of(toy.events, self.plan.precision)

    def _rho(self) -> float:
        """The penalty beside the eigenvalues."""
        plan = self.plan
        return plan.penalty * plan.events_per_fit / (plan.expected * null_curvature(self.pool.loss))

    def analytic_null(self) -> WeightedChi2:
        """The law of t from the eigenvalues, without a toy."""
        return analytic_law(self.pool.spectrum, **self._law())

    def analytic_moments(self) -> LawMoments:
        """Its mean, spread and skewness alone, which cost next to nothing."""
        return analytic_moments(self.pool.spectrum, **self._law())

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
        plan, basis = self.plan, self.pool.features.basis
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
            spectrum=self.pool.spectrum,
        )


def _basis(plan: Plan, candidates: Array, memory: int) -> Basis:
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
        max_rank=min(len(candidates), plan.max_rank),
        rng=rng_of(plan.seed, Stream.PIVOTS),
        memory=memory,
    )


def _with_isolated(basis: Basis, events: ScaledRows, reference: int, max_rank: int) -> tuple[Basis, NDArray[np.intp]]:
    """The basis with the few reference events as further pivots that it does not reach, such as rare categories.

    Whether such an event is among the centres would otherwise be a matter of the seed. A toy that has it among its data
    is not helped: it then counts as if it were no pivot.
    """
    residuals = np.empty(reference)
    for rows in blocks(reference, _ROWS):
        phi = basis.features(events[rows])
        residuals[rows] = 1.0 - np.einsum("ij,ij->i", phi, phi)
    isolated = np.flatnonzero(residuals > BEYOND)
    if not 0 < len(isolated) <= min(_MOST_ISOLATED, max_rank - basis.rank):
        return basis, np.empty(0, dtype=np.intp)
    extended, chosen = basis.extended(events[isolated], least=BEYOND)
    return extended, isolated[chosen]


def centers_of(plan: Plan, reference: Sample) -> NDArray[np.intp]:
    """The reference events that are candidate centres, in random order."""
    return _in_random_order(plan, reference)[: plan.centers]


def _in_random_order(plan: Plan, reference: Sample) -> NDArray[np.intp]:
    """The rows of the reference: the candidate centres first, then those that only moments and toys take."""
    return rng_of(plan.seed, Stream.CENTERS).permutation(len(reference))


def reference_scheme(plan: Plan, reference: Sample, data_size: int) -> ReferenceScheme:
    """The toys of the paper's null: the centres are held out where they are barred, the rest is split for moments."""
    rows = _in_random_order(plan, reference)
    barred = plan.centers if plan.centers_barred else 0
    splits = None
    if plan.moment_blocks is not None:
        splits = Splits.of(rows[barred:], rows[:barred], len(reference), plan.moment_blocks)
    return _reference_scheme(plan, reference, data_size, rows[:barred], splits)


def _reference_scheme(
    plan: Plan, reference: Sample, data_size: int, held_out: NDArray[np.intp], splits: Splits | None = None
) -> ReferenceScheme:
    sizes = (len(reference), data_size, plan.expected, plan.fixed, plan.reference_size, held_out, plan.seed, splits)
    if reference.weights is None or plan.null == "generator":
        return ReferenceScheme(*sizes)
    assert plan.n_hit_or_miss is not None
    return WeightedReferenceScheme(*sizes, weights=reference.weights, n_hit_or_miss=plan.n_hit_or_miss)


def _generated(make_events: EventGenerator, plan: Plan, n: int, rng: np.random.Generator) -> Array:
    events = Sample.of(make_events(n, rng), label="generator")
    if len(events) != n or events.dimensions != len(plan.names):
        raise InputError(
            f"the generator returned {len(events)} events of {events.dimensions} features where {n} of "
            f"{len(plan.names)} were asked for"
        )
    return events.features
