"""Null toys and the data's own fits as weightings of one pool: who is data, who is reference.

Toys and the data go through the same door. Every fit uses the same number of reference events, drawn anew; a
toy's data and its reference never share an event; the candidate centres are reference in every fit, the data's
included (a centre among a fit's own data would follow its fluctuations, and barring only some of them would
make toys and data differ).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.inference.seeds import Stream, generator
from lanner.model.weightings import DATA, REFERENCE

Roles = NDArray[np.int8]

# Room that the reference keeps for a toy's data, in standard deviations of its Poisson number: never exceeded.
_ROOM = 8.0


class Scheme(Protocol):
    """How the events of a pool (the reference's, then the data's) become toys and the data's fits."""

    def toy(self, i: int) -> Roles:
        """What each event is to toy i."""

    def data(self, draw: int) -> Roles:
        """What each event is to the data's fit with one of several draws of the reference."""


def room_for_data(expected: float, fixed: int | None) -> int:
    """How many events a reference must spare for a toy's data: `fixed`, or Poisson(expected) at its largest."""
    return fixed if fixed is not None else int(np.ceil(expected + _ROOM * expected**0.5 + _ROOM))


@dataclass(frozen=True, eq=False)
class ReferenceScheme:
    """The paper's null: a toy's data are reference events, Poisson(expected) of them, or `fixed` for shape only."""

    reference: int  # R, rows of the reference, which come first in the pool
    data_size: int  # rows of the data, which follow
    expected: float
    fixed: int | None
    reference_size: int  # N0 of every fit
    barred: NDArray[np.intp]  # rows of the candidate centres
    seed: int

    def toy(self, i: int) -> Roles:  # noqa: D102
        rng = generator(self.seed, Stream.TOYS, i)
        size = int(rng.poisson(self.expected)) if self.fixed is None else self.fixed
        rows = rng.permutation(self._free())
        return self._roles(data=rows[:size], others=rows[size:])

    def data(self, draw: int) -> Roles:  # noqa: D102
        rng = generator(self.seed, Stream.DATA, draw)
        rows = np.arange(self.reference, self.reference + self.data_size)
        return self._roles(data=rows, others=rng.permutation(self._free()))

    def _free(self) -> NDArray[np.intp]:
        free = np.ones(self.reference, dtype=bool)
        free[self.barred] = False
        return np.flatnonzero(free)

    def _roles(self, *, data: NDArray[np.intp], others: NDArray[np.intp]) -> Roles:
        needed = self.reference_size - len(self.barred)
        if needed < 0 or needed > len(others):
            raise InputError(
                f"a toy of {len(data)} data and {self.reference_size} reference events with {len(self.barred)} centres "
                f"does not fit into a reference of {self.reference}; use a smaller reference_size"
            )
        roles = np.zeros(self.reference + self.data_size, dtype=np.int8)
        roles[self.barred] = REFERENCE
        roles[others[:needed]] = REFERENCE
        roles[data] = DATA
        return roles


@dataclass(frozen=True, eq=False)
class WeightedReferenceScheme(ReferenceScheme):
    """The same for a weighted reference: toy data must be unweighted, so they are drawn by hit-or-miss.

    Each toy splits the reference at random. From `source` events of one part its data are accepted with
    probability w / w_max; the other part keeps its weights and is the toy's reference.
    """

    weights: NDArray[np.float64]
    source: int

    def toy(self, i: int) -> Roles:  # noqa: D102
        rng = generator(self.seed, Stream.TOYS, i)
        size = int(rng.poisson(self.expected)) if self.fixed is None else self.fixed
        rows = rng.permutation(self._free())
        source, others = rows[: self.source], rows[self.source :]
        hit = source[rng.random(len(source)) < self.weights[source] / self.weights.max()]
        if len(hit) < size:
            raise InputError(
                f"hit-or-miss accepted {len(hit)} of {len(source)} weighted events where toy {i} needs {size}; use a "
                "larger reference, or a generator (null='generator')"
            )
        return self._roles(data=hit[:size], others=others)


@dataclass(frozen=True, eq=False)
class PermutationScheme:
    """Reference and data pooled and relabelled, the data's number fixed: exact if the two are exchangeable."""

    reference: int
    data_size: int
    seed: int

    def toy(self, i: int) -> Roles:  # noqa: D102
        rng = generator(self.seed, Stream.TOYS, i)
        roles = np.full(self.reference + self.data_size, REFERENCE, dtype=np.int8)
        roles[rng.permutation(len(roles))[: self.data_size]] = DATA
        return roles

    def data(self, draw: int) -> Roles:  # noqa: D102
        return np.repeat(np.array([REFERENCE, DATA], dtype=np.int8), [self.reference, self.data_size])
