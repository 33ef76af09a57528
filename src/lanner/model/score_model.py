"""All that judges data by the score at one width: little beside the events that it was made of, so it can be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lanner._util.machine import blas_threads_for
from lanner.model.backend import NUMPY, Arrays, Values
from lanner.model.local_excess import LocalExcess
from lanner.model.moments import Eigenbasis, Moments, Spectrum
from lanner.model.nystrom import Basis
from lanner.model.score import Rotated, Score, Scores
from lanner.typing import Array


@dataclass(frozen=True, eq=False)
class ScoreModel:
    """The basis, the moments of the reference by each split, and the windows around the pivots."""

    basis: Basis
    bases: tuple[Eigenbasis, ...]  # eigenvectors of the moments that judge, one of each split of the reference
    local_excess: LocalExcess
    total: Array  # the sum of the features over the whole reference, with its weights
    mass: float  # the sum of those weights
    expected: float  # N(0)
    arrays: Arrays = NUMPY

    @classmethod
    def of(
        cls,
        basis: Basis,
        moments: Sequence[Moments],
        *,
        total: Array,
        mass: float,
        worth: float,
        expected: float,
        arrays: Arrays = NUMPY,
    ) -> ScoreModel:
        """From the moments by each split; the reference is worth so many events without weights."""
        with blas_threads_for(basis.rank):
            # Splits come with their complements: together they have the moments of the whole reference.
            second = sum((m.second for m in moments), np.zeros_like(moments[0].second)) / len(moments)
            local = LocalExcess.of(basis, total / mass, second, expected=expected, worth=worth)
            bases = tuple(m.eigenbasis for m in moments)
        return cls(basis, bases, local, total, mass, expected, arrays)

    @property
    def spectrum(self) -> Spectrum:
        """The moments along the eigenvectors of the second."""
        return self.bases[0].spectrum

    @cached_property
    def scores(self) -> Scores:
        """The score statistic by each split."""
        return Scores(tuple(Score(basis, self.expected, self.arrays) for basis in self.bases))

    @cached_property
    def own_parts(self) -> Array:
        """What each pivot alone adds to its own features."""
        return self.basis.own_parts()

    def rotated(
        self, u: Values, splits: Sequence[int | None], pivots: Array | None = None, inside: Array | None = None
    ) -> Rotated:
        """u of some draws along the eigenvectors, and their largest local excess.

        `pivots` is 1 where one is among a draw's data, (r, B), `inside` the part of a draw's data, in units of N(0),
        that was taken from the reference.
        """
        local = self.local_excess.statistic(self.arrays.get(u), pivots, inside)
        return replace(self.scores.rotate(self.without_own(u, pivots), splits), local=local)

    def without_own(self, u: Values, pivots: Array | None) -> Values:
        """u less what pivots among the data add to their own features."""
        return u if pivots is None else u - self.arrays.put(self.own_parts) @ self.arrays.put(pivots)

    @property
    def held(self) -> int:
        """Bytes, of which eigenvectors are the most."""
        return 8 * self.basis.rank**2 * (2 + len(self.bases))
