"""A pool of events prepared for any number of fits: features and shared curvature, computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanner.machine import require_memory
from lanner.model.centers import Basis
from lanner.model.curvature import Factored, Spectrum, moments
from lanner.model.features import Features, make_features
from lanner.model.kernel import Array
from lanner.model.loss import Loss, null_curvature
from lanner.model.problem import Problem, Solution
from lanner.model.solver import MEMORY, minimise
from lanner.model.weightings import Weightings

MAX_BATCH = 512


@dataclass(frozen=True, eq=False)
class Pool:
    """Features of n events, their second moments, and the curvature that all null toys share."""

    features: Features
    loss: Loss
    penalty: float
    expected: float
    weights: Array | None
    mean: Array  # of the features under the null
    moment: Array  # their second-moment matrix
    shared: Factored
    memory: int

    @classmethod
    def prepare(
        cls,
        events: Array,
        basis: Basis,
        *,
        loss: Loss,
        penalty: float,
        expected: float,
        events_per_fit: float,
        precision: str,
        memory: int,
        weights: Array | None = None,
        null_rows: int | None = None,
    ) -> Pool:
        """Compute features and curvature.

        `events_per_fit` is n = N0 + N1 of a typical fit. The first `null_rows` events (None: all) follow the null;
        their second moments are the ones that toys share.
        """
        features = make_features(events, basis, precision=precision, memory=memory)
        rows = slice(0, len(events) if null_rows is None else null_rows)
        weights_of_null = None if weights is None else weights[rows]
        total = rows.stop if weights_of_null is None else float(weights_of_null.sum())
        first, second = moments(features, weights_of_null, rows)
        mean, moment = first / total, second / total
        convex = weights is None or bool((weights >= 0).all())
        shared = Factored(null_curvature(loss) * expected * moment, penalty * events_per_fit, convex=convex)
        return cls(features, loss, penalty, expected, weights, mean, moment, shared, memory)

    @cached_property
    def spectrum(self) -> Spectrum:
        """The moments in the eigenbasis of the second."""
        return Spectrum.of(self.mean, self.moment)

    def batch_size(self, toys: int) -> int:
        """How many fits to run together within the memory budget."""
        n, r = len(self.features), self.features.basis.rank
        held = n * r * self.features.dtype.itemsize if self.features.storage == "stored" else 0
        # Roles twice (while some fits leave), gradients by segment, steps and gradient changes, work.
        per_fit = 2 * n + 8 * r * (2 * MEMORY + 16 + 12)
        free = self.memory - held - 3 * 8 * r * r
        require_memory(per_fit, max(free, 0) + 1, "one toy beside the features") if free < per_fit else None
        return max(1, min(toys, MAX_BATCH, free // per_fit))

    def fit(
        self,
        roles: NDArray[np.int8],
        *,
        newton_steps: int | None,
        tolerance: float,
        progress: Callable[[int], None] | None = None,
    ) -> Solution:
        """Fit a batch of weightings, one column of `roles` each."""
        return minimise(
            self.problem(roles),
            self.shared,
            newton_steps=newton_steps,
            tolerance=tolerance,
            progress=progress,
        )

    def problem(self, roles: NDArray[np.int8]) -> Problem:
        """The objective of a batch."""
        weightings = Weightings.of(roles, expected=self.expected, weights=self.weights)
        return Problem(self.features, weightings, self.loss, self.penalty * weightings.events)
