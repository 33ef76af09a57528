"""A pool of events prepared for any number of fits: features and shared curvature, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import require_memory
from lanner.events.scaled_rows import Rows
from lanner.model.backend import NUMPY, Arrays, Values
from lanner.model.features import Features, make_features, residuals_of
from lanner.model.loss import Loss, null_curvature
from lanner.model.moments import Eigenbasis, Factored, Moments, Spectrum, feature_sum
from lanner.model.nystrom import Basis
from lanner.model.objective import Problem, Solution
from lanner.model.score import Rotated, Score, Scores, differences
from lanner.model.solvers.batched_newton import MEMORY, minimise
from lanner.model.splits import Splits
from lanner.model.weightings import Draw, Weightings
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
    split_bases: tuple[Eigenbasis, ...] | None  # of the moments that judge a score, by each split of the reference
    shared: Factored
    memory: int
    null_rows: int  # the first rows, which follow the null
    # Rows of the pivots, where they may be a toy's data: they then count as if they were no pivots.
    pivot_rows: NDArray[np.intp] | None = None

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
        null_rows: int | None = None,
        splits: Splits | None = None,
        pivot_rows: NDArray[np.intp] | None = None,
        arrays: Arrays = NUMPY,
    ) -> Pool:
        """Compute features and curvature.

        `events_per_fit` is n = N0 + N1 of a typical fit. The first `null_rows` events (None: all) follow the null;
        their second moments are the ones that toys share, and by those of the `splits` scores are judged.
        """
        matrices = 0 if splits is None else splits.blocks + splits.number  # of the rank, beside those of every fit
        features = make_features(
            events, basis, precision=precision, memory=memory, arrays=arrays, further_matrices=matrices
        )
        rows = slice(0, len(events) if null_rows is None else null_rows)
        bases = None
        if splits is None:
            found = Moments.of(features, None if weights is None else weights[rows], rows)
        else:
            bases = tuple(m.eigenbasis for m in Moments.by_split(features, splits, weights))
            found = bases[0].moments
        shared = _shared(found, loss, penalty * events_per_fit, expected, weights, arrays)
        return cls(features, loss, penalty, expected, weights, found, bases, shared, memory, rows.stop, pivot_rows)

    def at_penalty(self, penalty: float, events_per_fit: float) -> Pool:
        """The same features and moments with another penalty."""
        shared = _shared(
            self.moments, self.loss, penalty * events_per_fit, self.expected, self.weights, self.features.arrays
        )
        return replace(self, penalty=penalty, shared=shared)

    @property
    def spectrum(self) -> Spectrum:
        """The moments along the eigenvectors of the second."""
        return (self.moments.eigenbasis if self.split_bases is None else self.split_bases[0]).spectrum

    def features_of(self, events: Array, precision: str) -> Features:
        """The features of other events."""
        return make_features(
            events, self.features.basis, precision=precision, memory=self.memory, arrays=self.features.arrays
        )

    @cached_property
    def scores(self) -> Scores:
        """The score statistic of these features."""
        bases = self.split_bases or (self.moments.eigenbasis,)
        return Scores(tuple(Score(basis, self.expected, self.features.arrays) for basis in bases))

    def differences(self, draws: Sequence[Draw]) -> Rotated:
        """u of each draw along the eigenvectors, all that a score needs to know."""
        u = differences(self.features, draws, expected=self.expected, weights=self.weights, total=lambda: self._total)
        if self.pivot_rows is not None:
            u = u - self._of_pivots(draws)
        return self.scores.rotate(u, [d.split for d in draws])

    def _of_pivots(self, draws: Sequence[Draw]) -> Values:
        """What pivots among the data of each draw add to their own features, (r, B)."""
        place = np.full(len(self.features), -1)
        place[self.pivot_rows] = np.arange(self.features.basis.rank)
        among = np.zeros((self.features.basis.rank, len(draws)))
        for k, draw in enumerate(draws):
            found = place[draw.data]
            among[found[found >= 0], k] = 1.0
        arrays = self.features.arrays
        return arrays.put(self._own_parts) @ arrays.put(among)

    @cached_property
    def _own_parts(self) -> Array:
        return self.features.basis.own_parts()

    @cached_property
    def residuals(self) -> Array:
        """k(x, x) - |phi(x)|^2 of each event: what of it the basis cannot represent, from 0 to 1.

        That of a pivot which may be a toy's data is what the other pivots cannot represent.
        """
        found = residuals_of(self.features)
        if self.pivot_rows is not None:
            found[self.pivot_rows] = np.einsum("ij,ij->j", self._own_parts, self._own_parts)
        return found

    @cached_property
    def _total(self) -> Array:
        """The sum of the features over all rows that follow the null."""
        rows = slice(0, self.null_rows)
        return feature_sum(self.features, None if self.weights is None else self.weights[rows], rows)

    @property
    def held(self) -> int:
        """Bytes of the features, where they are stored, and of the eigenvectors of each split."""
        n, r = len(self.features), self.features.basis.rank
        stored = n * r * self.features.dtype.itemsize if self.features.storage == "stored" else 0
        return stored + 8 * r * r * len(self.split_bases or ())

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


def _shared(
    found: Moments, loss: Loss, ridge: float, expected: float, weights: Array | None, arrays: Arrays
) -> Factored:
    convex = weights is None or bool((weights >= 0).all())
    return Factored(null_curvature(loss) * expected * found.second, ridge, convex=convex, arrays=arrays)
