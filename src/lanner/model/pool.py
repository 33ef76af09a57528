"""A pool of events prepared for any number of fits: features and shared curvature, computed once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import require_memory
from lanner.events.scaled_rows import Rows
from lanner.model.backend import NUMPY, Arrays
from lanner.model.features import Features, make_features, residuals_of
from lanner.model.loss import Loss, null_curvature
from lanner.model.moments import Factored, Moments, Spectrum
from lanner.model.nystrom import Basis
from lanner.model.objective import Problem, Solution
from lanner.model.solvers.batched_newton import MEMORY, minimise
from lanner.model.weightings import Weightings
from lanner.settings import FitSettings
from lanner.typing import Array, ToysEnded

MAX_BATCH = 512


@dataclass(frozen=True, eq=False)
class Pool:
    """Features of n events, their second moments, and the curvature that all null toys share."""

    features: Features
    loss: Loss
    penalty: float
    expected: float
    weights: Array | None
    moments: Moments  # of the features under the null
    shared: Factored
    memory: int
    null_rows: int  # the first rows, which follow the null
    convex: bool  # whether no weight of the moments is negative

    @classmethod
    def prepare(
        cls,
        events: Rows,
        basis: Basis,
        *,
        loss: Loss,
        penalty: float,
        expected: float,
        events_per_fit: float,
        precision: str,
        memory: int,
        weights: Array | None = None,
        density: Array | None = None,
        null_rows: int | None = None,
        arrays: Arrays = NUMPY,
    ) -> Pool:
        """Compute features and curvature.

        `events_per_fit` is n = N0 + N1 of a typical fit. The first `null_rows` events (None: all) follow the null;
        their second moments are the ones that toys share. Where some weights are negative these may have a `density`,
        weights of the same law of which none is.
        """
        features = make_features(events, basis, precision=precision, memory=memory, arrays=arrays)
        rows = slice(0, len(events) if null_rows is None else null_rows)
        by = weights if density is None else density
        found = Moments.of(features, None if by is None else by[rows], rows)
        convex = by is None or bool((by >= 0).all())
        shared = _shared(found, loss, penalty * events_per_fit, expected, arrays, convex=convex)
        return cls(features, loss, penalty, expected, weights, found, shared, memory, rows.stop, convex)

    def at_penalty(self, penalty: float, events_per_fit: float) -> Pool:
        """The same features and moments with another penalty."""
        arrays = self.features.arrays
        shared = _shared(self.moments, self.loss, penalty * events_per_fit, self.expected, arrays, convex=self.convex)
        return replace(self, penalty=penalty, shared=shared)

    @property
    def basis(self) -> Basis:
        """The pivots behind the features."""
        return self.features.basis

    @property
    def spectrum(self) -> Spectrum:
        """The moments along the eigenvectors of the second."""
        return self.moments.eigenbasis.spectrum

    def features_of(self, events: Array, precision: str) -> Features:
        """The features of other events."""
        return make_features(
            events, self.features.basis, precision=precision, memory=self.memory, arrays=self.features.arrays
        )

    @cached_property
    def residuals(self) -> Array:
        """k(x, x) - |phi(x)|^2 of each event: what of it the basis cannot represent, from 0 to 1."""
        return residuals_of(self.features)

    @property
    def held(self) -> int:
        """Bytes of the features, where they are stored."""
        n, r = len(self.features), self.features.basis.rank
        return n * r * self.features.dtype.itemsize if self.features.storage == "stored" else 0

    def batch_size(self, toys: int) -> int:
        """How many fits to run together within the memory budget."""
        n, r = len(self.features), self.features.basis.rank
        # Roles twice (while some fits leave), gradients by segment, steps and gradient changes, work.
        per_fit = 2 * n + 8 * r * (2 * MEMORY + 16 + 12)
        free = self.memory - self.held - 3 * 8 * r * r
        require_memory(per_fit, max(free, 0) + 1, "one toy beside the features") if free < per_fit else None
        return max(1, min(toys, MAX_BATCH, free // per_fit))

    def fit(self, roles: NDArray[np.int8], settings: FitSettings, progress: ToysEnded | None = None) -> Solution:
        """Fit a batch of weightings, one column of `roles` each."""
        return minimise(self.problem(roles), self.shared, settings, progress=progress)

    def problem(self, roles: NDArray[np.int8]) -> Problem:
        """The objective of a batch."""
        weightings = Weightings.of(roles, expected=self.expected, weights=self.weights)
        return Problem(self.features, weightings, self.loss, self.penalty * weightings.events)


def _shared(found: Moments, loss: Loss, ridge: float, expected: float, arrays: Arrays, *, convex: bool) -> Factored:
    return Factored(null_curvature(loss) * expected * found.second, ridge, convex=convex, arrays=arrays)
