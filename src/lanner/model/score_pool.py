"""A pool for the score: features of bunches of events, and all that judges the sums which toys and data take of them.

A toy costs one sum over the rows in which it differs from the whole reference (`model/taken.py`). Where these rows are
few they are gathered; where they are many, a product of the features with a matrix is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import require_memory
from lanner.events.scaled_rows import Rows, ScaledRows
from lanner.model.backend import NUMPY, Arrays, Values
from lanner.model.bunches import Bunches
from lanner.model.features import Features, StoredFeatures, make_features, residuals_of
from lanner.model.moments import Moments, feature_sum
from lanner.model.nystrom import Basis
from lanner.model.parallel import for_rows, sum_over_rows
from lanner.model.residuals import Residuals, ResidualSums
from lanner.model.score import Rotated
from lanner.model.score_model import ScoreModel
from lanner.model.splits import Splits
from lanner.model.spread_sums import Summed, summed_where_they_are
from lanner.model.summing import Whitened, moments_of_events, reach_columns, summed_features
from lanner.model.taken import Taken
from lanner.model.weightings import Draw
from lanner.typing import Array

MAX_BATCH = 1000
# Bytes that toys made together may take beside the features: more is not faster (18 900 rows of rank 1000, relabelled).
BATCH_MEMORY = 64_000_000
# Below this share of the pool's rows they are gathered one by one, above it all are multiplied (measured).
GATHER = 0.03
_TOGETHER = 16  # toys gathered together by a thread


@dataclass(frozen=True, eq=False)
class ScorePool:
    """Features of each row of the bunches, and the model that judges their sums."""

    model: ScoreModel
    features: Features
    bunches: Bunches
    residuals: Residuals  # what of the events the basis cannot represent
    memory: int
    # Rows of the pivots, where they may be a toy's data: they then count as if they were no pivots.
    pivot_rows: NDArray[np.intp] | None = None

    @classmethod
    def prepare(
        cls,
        events: Rows,
        basis: Basis,
        bunches: Bunches,
        *,
        expected: float,
        precision: str,
        memory: int,
        splits: Splits | None = None,
        pivots: NDArray[np.intp] | None = None,
        others: int = 0,
        held_out: NDArray[np.intp] | None = None,
        arrays: Arrays = NUMPY,
        told: Callable[[float], None] | None = None,
    ) -> ScorePool:
        """Sum features and moments.

        `pivots` are the events of the pivots, where they may be a toy's data, `held_out` those that never are; the last
        events, so many, are `others`, beside the reference.
        """
        if isinstance(events, ScaledRows) and events.spread is not None:
            made = summed_where_they_are(
                events,
                basis,
                bunches,
                splits=splits,
                pivots=pivots,
                precision=precision,
                others=others,
                arrays=arrays,
                told=_within(told, 0.1, 0.9),
            )
        else:
            made = _summed_here(
                events, basis, bunches, splits, pivots, precision, memory, others, held_out, arrays, told
            )
        null = slice(0, bunches.drawn)
        mass = float(bunches.mass[null].sum())
        model = ScoreModel.of(
            basis,
            made.moments,
            total=feature_sum(made.features, None if bunches.weights is None else bunches.weights[null], null),
            mass=mass,
            worth=bunches.total if bunches.weights is None else mass**2 / float(np.square(bunches.mass[null]).sum()),
            expected=expected,
            arrays=arrays,
        )
        rows = None if pivots is None else bunches.rows_of(pivots)
        return cls(model, made.features, bunches, made.residuals, memory, rows)

    def toy_bias(self) -> float:
        """How far toys are off the weights that they stand for, in any leading direction, in units of N(0)^(1/2).

        Toys are drawn by the local mean of the weights where some of these are negative; sums of features with the one
        and the other should agree.
        """
        if self.bunches.toy_weights is None:
            return 0.0
        null = slice(0, self.bunches.drawn)
        found = feature_sum(self.features, self.bunches.toy_weights[null], null)
        away = self.model.bases[0].vectors.T @ (found - self.model.total)
        return float(np.abs(away).max() * self.model.expected**0.5 / self.model.mass)

    @property
    def basis(self) -> Basis:
        """The pivots behind the features."""
        return self.model.basis

    def taken(self, draws: Sequence[Draw]) -> Taken:
        """What draws take from the rows: the same at every width."""
        return Taken.of(self.bunches, draws, expected=self.model.expected, mass=self.model.mass)

    def differences(self, taken: Taken) -> Rotated:
        """u of each draw along the eigenvectors, all that a score needs to know."""
        return self.model.rotated(self.sums(taken), taken.splits, self.pivots_among(taken), taken.inside)

    def sums(self, taken: Taken) -> Values:
        """u of each draw, (r, B)."""
        if isinstance(self.features, StoredFeatures) and self.model.expected < GATHER * self.model.mass:
            return self._gathered(self.features, taken)
        return self._multiplied(taken)

    def pivots_among(self, taken: Taken) -> Array | None:
        """Which pivots are data of a draw, (r, B); None where none ever is."""
        return None if self.pivot_rows is None else taken.among(self.pivot_rows)

    def _gathered(self, features: StoredFeatures, taken: Taken) -> Values:
        phi, arrays = features.phi, features.arrays
        u = np.empty((len(taken), features.basis.rank))

        def fill(part: slice) -> None:
            matrix = taken.part(part, features.dtype)
            if arrays.xp is np:
                u[part] = matrix @ phi
            else:
                for k, (first, last) in enumerate(pairwise(matrix.indptr)):
                    rows = arrays.take(phi, matrix.indices[first:last].astype(np.intp), axis=0)
                    u[part.start + k] = arrays.get(arrays.put(matrix.data[first:last]) @ rows)
            u[part] -= self._background(taken, part).T

        for_rows(len(taken), _TOGETHER, fill, arrays)
        return arrays.put(u.T)

    def _multiplied(self, taken: Taken) -> Values:
        features, arrays = self.features, self.features.arrays
        by_row = taken.part(slice(0, len(taken)), features.dtype).T.tocsr()

        def block_sums(part: slice) -> tuple[Values]:
            return (features.block(part).T @ arrays.put(by_row[part].toarray()),)

        size = min(4096, features.max_rows)
        u = features.lower(sum_over_rows(len(features), size, block_sums, arrays=arrays)[0])
        return u - arrays.put(self._background(taken, slice(0, len(taken))))

    def _background(self, taken: Taken, part: slice) -> Array:
        """What the whole reference predicts for some draws, (r, B)."""
        return np.outer(self.model.total, taken.scale[part])

    def features_of(self, events: Array, precision: str) -> Features:
        """The features of other events."""
        return make_features(events, self.basis, precision=precision, memory=self.memory, arrays=self.model.arrays)

    @property
    def held(self) -> int:
        """Bytes of the features, where they are stored, and of the eigenvectors of each split."""
        stored = self.features.storage == "stored"
        return self.model.held + (len(self.features) * self.basis.rank * self.features.dtype.itemsize if stored else 0)

    def batch_size(self, toys: int) -> int:
        """How many toys to make together within the memory budget."""
        per_toy = 16 * len(self.features) * self._share() + 8 * self.basis.rank * 8
        free = self.memory - self.held - 3 * 8 * self.basis.rank**2
        if free < per_toy:
            require_memory(per_toy, max(free, 0) + 1, "one toy beside the features")
        return int(max(1, min(toys, MAX_BATCH, min(free, BATCH_MEMORY) // per_toy)))

    def _share(self) -> float:
        """The part of the pool's rows that a toy takes, about."""
        return min(1.0, 2 * self.model.expected / self.model.mass)


def _summed_here(
    events: Rows,
    basis: Basis,
    bunches: Bunches,
    splits: Splits | None,
    pivots: NDArray[np.intp] | None,
    precision: str,
    memory: int,
    others: int,
    held_out: NDArray[np.intp] | None,
    arrays: Arrays,
    told: Callable[[float], None] | None,
) -> Summed:
    """Features by row, residuals and moments of events that are here, stored one by one or summed by bunch."""
    features: Features
    columns, weights = basis.rank, bunches.density
    if bunches.are_events:
        matrices = 0 if splits is None else splits.blocks + splits.number  # of the rank, beside those of every fit
        features = make_features(
            events, basis, precision=precision, memory=memory, arrays=arrays, further_matrices=matrices
        )
        g = residuals_of(features)
        if splits is None:
            null = slice(0, bunches.drawn)
            moments = [Moments.of(features, None if weights is None else weights[null], null)]
        else:
            moments = Moments.by_split(features, splits, weights)
    else:
        columns = reach_columns(bunches.total, basis.rank)
        whitened = Whitened.of(basis, arrays)
        features, g = summed_features(
            events, whitened, bunches, precision=precision, memory=memory, columns=columns, told=_within(told, 0.1, 0.5)
        )
        moments = moments_of_events(events, whitened, bunches, features, splits, told=_within(told, 0.5, 0.9))
    if pivots is not None:
        g[bunches.places_of(pivots)] = basis.residuals_of_pivots(columns)
    free = np.arange(bunches.total)
    if held_out is not None:
        free = np.setdiff1d(free, held_out, assume_unique=True)
    residuals = Residuals(
        np.add.reduceat(g, bunches.starts[:-1]),
        g[len(g) - others :],
        ResidualSums.of(g[free], None if weights is None else weights[free]),
    )
    return Summed(features, residuals, moments)


def _within(told: Callable[[float], None] | None, start: float, end: float) -> Callable[[float], None]:
    """Tells how much of a step is done, as a part of all of them."""
    return lambda done: None if told is None else told(start + (end - start) * done)
