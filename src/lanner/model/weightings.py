"""Toys as weightings of one pool of events.

Every fit, a toy's or the data's, uses events of the same pool: some are its data, others its reference,
the rest it leaves out. So the features are computed once, and a batch of fits differs only in its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.model.backend import NUMPY, Arrays, Values

UNUSED, REFERENCE, DATA = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Draw:
    """What a fit takes from a pool: of its first `reference` rows all are reference, but for these."""

    rows: int  # of the pool
    reference: int
    data: NDArray[np.intp]  # rows of the data
    left_out: NDArray[np.intp]  # rows that are neither
    split: int | None = None  # whose moments judge it (`Splits`); None: all of them
    sizes: NDArray[np.intp] | None = None  # events of each row, where they are bunches; None: each row is one
    auxiliary: NDArray[np.float64] | None = None  # what is known of nuisance parameters from elsewhere, less nu^
    scale: float | None = None  # a0, where more than the rows of this pool decide it
    surplus: float = 0.0  # how many more data events than N(0) the reference predicts then

    @property
    def data_size(self) -> int:
        """How many events are data."""
        return len(self.data) if self.sizes is None else int(self.sizes[self.data].sum())

    @property
    def reference_size(self) -> int:
        """How many events are reference, of a pool whose data are not relabelled."""
        taken = np.concatenate([self.data[self.data < self.reference], self.left_out])
        if self.sizes is None:
            return self.reference - len(taken)
        return int(self.sizes[: self.reference].sum() - self.sizes[taken].sum())

    def roles(self) -> NDArray[np.int8]:
        """What each event of the pool is to the fit."""
        roles = np.zeros(self.rows, dtype=np.int8)
        roles[: self.reference] = REFERENCE
        roles[self.left_out] = UNUSED
        roles[self.data] = DATA
        return roles


def roles_of(draws: Sequence[Draw]) -> NDArray[np.int8]:
    """What each event is to each draw, (n, B)."""
    # By rows and then turned: three times faster than column by column.
    return np.ascontiguousarray(np.array([d.roles() for d in draws]).T)


@dataclass(frozen=True, eq=False)
class Weightings:
    """B fits of n events: what each event is to each fit, and how much it weighs.

    The loss weights are v0 = scale_b * weight_i for reference events (scale = a0 = N(0) / total weight of
    the fit's reference) and v1 = data_weight_i for data events. The two are apart because an event of a weighted
    reference that hit-or-miss has made a toy's data counts as one.
    """

    roles: NDArray[np.int8]  # (n, B): UNUSED, REFERENCE or DATA
    scale: NDArray[np.float64]  # (B,)
    weights: NDArray[np.float64] | None = None  # (n,) of events in the reference
    data_weights: NDArray[np.float64] | None = None  # (n,) of events in the data

    @classmethod
    def of(
        cls,
        roles: NDArray[np.int8],
        *,
        expected: float,
        weights: NDArray[np.float64] | None = None,
        data_weights: NDArray[np.float64] | None = None,
    ) -> Weightings:
        """Normalise each fit's reference to the expected number of events."""
        is_reference = roles == REFERENCE
        total = is_reference.sum(axis=0) if weights is None else weights @ is_reference
        if weights is not None:
            # To the order of 1 before they are rounded to single precision, which ends at 1e38.
            unit = float(np.abs(weights).max())
            weights, total = weights / unit, total / unit
        return cls(roles, expected / total, weights, data_weights)

    def __len__(self) -> int:
        return int(self.roles.shape[1])

    @property
    def events(self) -> NDArray[np.float64]:
        """The number of events that each fit uses: n = N0 + N1 of the objective."""
        return np.asarray(np.count_nonzero(self.roles, axis=0), dtype=np.float64)

    def take(self, fits: NDArray[Any]) -> Weightings:
        """Some of the fits."""
        columns = np.arange(len(self))[fits]
        return replace(self, roles=np.take(self.roles, columns, axis=1), scale=self.scale[columns])

    def block(self, rows: slice, dtype: np.dtype[Any], arrays: Arrays = NUMPY) -> tuple[Values, Values]:
        """v0 and v1 of some events, (rows, B), where `arrays` says."""
        roles = arrays.put(self.roles[rows])
        v0 = arrays.cast(roles == REFERENCE, dtype) * arrays.put(self.scale, dtype)
        v1 = arrays.cast(roles == DATA, dtype)
        if self.weights is not None:
            v0 *= arrays.put(self.weights[rows, None], dtype)
        if self.data_weights is not None:
            v1 *= arrays.put(self.data_weights[rows, None], dtype)
        return v0, v1
