"""An experiment judged by the likelihood ratio where the reference has uncertainties: f and nu are fitted together.

Toys are made at nu^, as those of the score are. Every fit, a toy's or the data's, has the reference at nu^ and beside
the features phi the slopes d of log r there, so that

    g(x) = f(x) + d(x) . (nu - nu^)         t = 2 max_{f, nu} log L(g) - 2 max_nu log L(d . (nu - nu^))

with |nu - a|^2 / 2 as the penalty of nu, a being the fit's own auxiliary measurement. Both maxima are found by the
same loss, whose curvature is a part kappa of the likelihood's (a half of it by the logistic loss): the penalty is
scaled alike. What the line d . (nu - nu^) leaves out of log r is of second order in how far a fit's nu is from nu^,
which is no further than data can tell (`tests/inference/test_varied_fit.py` compares with fits of all of it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lanner.events import Sample
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.analytic import FitOfLaw
from lanner.inference.experiment import Experiment, GeneratedToy, basis_of, candidates_of
from lanner.inference.plan import Plan
from lanner.inference.terms import ProfiledCountTerm, ReachTerm
from lanner.inference.varied_experiment import VariedScheme, count_term
from lanner.inference.varied_pool import NuisanceRows, VariedTaken
from lanner.model.backend import NUMPY, Arrays
from lanner.model.features import Features, FurtherColumns, StoredFeatures, make_features, residuals_of
from lanner.model.loss import loss_by_name, null_curvature
from lanner.model.moments import Factored, Moments, Spectrum
from lanner.model.nystrom import Basis
from lanner.model.objective import Problem, Solution
from lanner.model.pool import MAX_BATCH
from lanner.model.residuals import Residuals, ResidualSums
from lanner.model.solvers.batched_newton import MEMORY, minimise
from lanner.model.weightings import DATA, REFERENCE, UNUSED, Draw, Weightings
from lanner.typing import Array, ToysEnded
from lanner.uncertainties.toys import VariedReference


@dataclass(frozen=True, eq=False)
class VariedFitExperiment(Experiment):
    """Features of reference and data, the slopes of the nuisances beside them, and the moments under r(x; nu^)."""

    scheme: VariedScheme
    varied: VariedReference
    rows: NuisanceRows
    features: Features
    slopes: Array  # (events, K): d, of reference and data
    moments: Moments  # of features and slopes
    residuals: Array  # of each event
    memory: int

    @classmethod
    def at(
        cls,
        plan: Plan,
        reference: Sample,
        data: Sample,
        varied: VariedReference,
        scheme: VariedScheme,
        rows: NuisanceRows,
        *,
        memory: int,
        arrays: Arrays = NUMPY,
    ) -> VariedFitExperiment:
        """Choose pivots, compute features and their moments: the one-off cost."""
        events = ScaledRows((reference.features, data.features), plan.units)
        basis = basis_of(plan, candidates_of(plan, reference, events, None)[0], memory)
        features = make_features(events, basis, precision=plan.precision, memory=memory, arrays=arrays)
        slopes = np.concatenate([varied.slopes, varied.nuisances.of(data.features).at(varied.nu)[1]])
        if plan.fixed is not None:  # the number of events says nothing, so the slopes are those of the shape
            slopes = slopes - varied.varied @ varied.slopes / varied.varied.sum()
        both = FurtherColumns(features, arrays.put(slopes, features.dtype))
        moments = Moments.of(both, varied.varied, slice(0, len(reference)))
        return cls(
            plan,
            scheme,
            reference,
            data,
            None,
            varied,
            rows,
            features,
            slopes,
            moments,
            residuals_of(features),
            memory,
        )

    @property
    def basis(self) -> Basis:  # noqa: D102
        return self.features.basis

    @cached_property
    def spectrum(self) -> Spectrum:  # noqa: D102
        r, second = self.features.rank, self.moments.second
        with_d, of_d = second[:r, r:], second[r:, r:]
        known = np.linalg.solve(of_d + np.eye(len(of_d)) / self.predicted, with_d.T)
        mean = self.moments.mean[:r] if self.plan.fixed is not None else np.zeros(r)
        return Moments(mean, second[:r, :r] - with_d @ known).eigenbasis.spectrum

    @property
    def predicted(self) -> float:
        """How many data events the reference predicts at nu^."""
        return self.plan.expected * (1.0 if self.plan.fixed is not None else self.varied.growth)

    @property
    def held(self) -> int:  # noqa: D102
        n, r = len(self.features), self.features.rank
        return n * r * self.features.dtype.itemsize if self.features.storage == "stored" else 0

    def reach(self) -> ReachTerm:  # noqa: D102
        g, n, v = self.residuals, len(self.reference), self.varied.varied
        counted = np.where(self.varied.accepted, g[:n], 0.0)  # of the rows that a toy takes these are its data
        bunches = self.scheme.bunches
        by_row = np.add.reduceat(np.concatenate([counted, g[n:]])[bunches.events], bunches.starts[:-1])
        free = np.ones(n, dtype=bool)
        free[bunches.events_of(self.scheme.held_out)] = False
        null = ResidualSums.of(g[:n][free], v[free])
        return ReachTerm.of(self.plan.width, Residuals(by_row, g[n:], null), self.predicted)

    def at_penalty(self, plan: Plan) -> Self:  # noqa: D102
        return replace(self, plan=plan)

    def batch_size(self, toys: int) -> int:  # noqa: D102
        n, r = len(self.features), self.features.rank
        per_fit = 2 * n + 8 * r * (2 * MEMORY + 16 + 12)
        return int(max(1, min(toys, MAX_BATCH, (self.memory - self.held - 3 * 8 * r * r) // per_fit)))

    def data_draws(self, draws: int) -> list[Draw]:  # noqa: D102
        return [self.scheme.data(0)]

    def taken(self, draws: Sequence[Draw]) -> VariedTaken:
        """What draws take, and where their fits of the nuisances alone end."""
        shape_only = self.plan.fixed is not None
        return self.rows.taken(draws, expected=self.plan.expected, shape_only=shape_only)

    def count_term(self) -> ProfiledCountTerm:  # noqa: D102
        return count_term(self.varied, self.predicted)

    def roles(self, draws: Sequence[Draw]) -> NDArray[np.int8]:
        """What each event is to each draw, (events, draws)."""
        bunches, n = self.scheme.bunches, len(self.reference)
        accepted = np.concatenate([self.varied.accepted, np.ones(len(self.features) - n, dtype=bool)])
        roles = np.zeros((len(self.features), len(draws)), dtype=np.int8)
        roles[:n] = REFERENCE
        for k, draw in enumerate(draws):
            events = bunches.events_of(draw.data)
            roles[events, k] = np.where(accepted[events], DATA, UNUSED)
        return roles

    def fit(self, draws: Sequence[Draw], progress: ToysEnded | None = None) -> Solution:  # noqa: D102
        return self.fit_roles(self.roles(draws), draws, progress)

    def fit_roles(self, roles: NDArray[np.int8], draws: Sequence[Draw], progress: ToysEnded | None = None) -> Solution:
        """Fit what each event is to each draw: f and nu together, and nu alone."""
        weightings = self._weightings(roles)
        auxiliary = np.stack([d.auxiliary for d in draws if d.auxiliary is not None])
        alone = self._fitted(self._slopes_alone, weightings, auxiliary, None)
        both = self._fitted(self._both, weightings, auxiliary, progress)
        return replace(
            both,
            coefficients=both.coefficients[: self.features.rank],
            statistic=both.statistic - alone.statistic,
            converged=both.converged & alone.converged,
        )

    def delta(self, draws: Sequence[Draw]) -> Array:
        """Twice the largest log L of the nuisances alone, of each draw."""
        auxiliary = np.stack([d.auxiliary for d in draws if d.auxiliary is not None])
        return self._fitted(self._slopes_alone, self._weightings(self.roles(draws)), auxiliary, None).statistic

    @property
    def events(self) -> Array:
        """Reference and data in the plan's units, for tests that have features of their own."""
        assert self.data is not None
        return np.vstack([self.plan.units.apply(sample.features) for sample in (self.reference, self.data)])

    def reference_weights(self, roles: NDArray[np.int8]) -> Array:
        """What each event weighs where it is the reference of a fit, (events, fits)."""
        weightings = self._weightings(roles)
        assert weightings.weights is not None
        return weightings.weights[:, None] * weightings.scale

    def _fitted(
        self, features: Features, weightings: Weightings, auxiliary: Array, progress: ToysEnded | None
    ) -> Solution:
        """Fits of some features, of which the last are the slopes, with 2 log L in place of their t."""
        k, r = auxiliary.shape[1], features.rank
        center = np.zeros((r, len(auxiliary)))
        center[r - k :] = auxiliary.T / self._unit
        ridge = np.full(len(auxiliary), self._ridge)
        problem = Problem(features, weightings, loss_by_name(self.plan.loss), ridge, center=center)
        rows = slice(len(self.moments.mean) - r, None)
        curvature = self._scaled(self.moments.second)[rows, rows] * self.predicted * self._kappa
        shared = Factored(curvature, self._ridge, convex=True, arrays=features.arrays)
        found = minimise(problem, shared, self.plan, progress=progress)
        away = (found.coefficients[r - k :] - center[r - k :]) * self._unit
        return replace(found, statistic=found.statistic - np.einsum("kb,kb->b", away, away))

    def _weightings(self, roles: NDArray[np.int8]) -> Weightings:
        """The reference at nu^, normalised by what it weighs at the central values, or to the number of data."""
        n, v = len(self.reference), self.varied.varied
        weights = np.concatenate([v, np.ones(len(roles) - n)])
        unit = float(v.max())
        of_toy = v if self.plan.fixed is not None else self.varied.weights
        scale = self.plan.expected / (of_toy @ (roles[:n] == REFERENCE)) * unit
        return Weightings(roles, scale, weights / unit)

    @property
    def _kappa(self) -> float:
        return null_curvature(loss_by_name(self.plan.loss))

    @property
    def _ridge(self) -> float:
        """The penalty beside the curvature: the same for toys and data, whose numbers of events differ a little."""
        return self.plan.penalty * self.plan.events_per_fit

    @property
    def _unit(self) -> float:
        """The nuisances over their coefficients, in which the ridge is the penalty of the auxiliary measurement."""
        return float((self._ridge / self._kappa) ** 0.5)

    def _scaled(self, second: Array) -> Array:
        unit = np.ones(len(second))
        unit[self.features.rank :] = self._unit
        return second * np.outer(unit, unit)

    @cached_property
    def _both(self) -> FurtherColumns:
        columns = self.features.arrays.put(self.slopes * self._unit, self.features.dtype)
        return FurtherColumns(self.features, columns)

    @cached_property
    def _slopes_alone(self) -> StoredFeatures:
        features = self.features
        columns = features.arrays.put(self.slopes * self._unit, features.dtype)
        return StoredFeatures(features.basis, columns, features.dtype, features.arrays)

    def _law(self) -> FitOfLaw:
        return super()._law() | {"expected": self.predicted}

    def fit_generated(self, toy: GeneratedToy, progress: ToysEnded | None = None) -> Solution:  # noqa: D102
        raise NotImplementedError("a generator has no uncertainties")

    def features_of(self, toy: GeneratedToy) -> Features:  # noqa: D102
        raise NotImplementedError("a generator has no uncertainties")
