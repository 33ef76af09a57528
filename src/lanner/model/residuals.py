"""What of events a basis cannot represent: g(x) = k(x, x) - |phi(x)|^2, 0 among the pivots and 1 far from all of them.

Of single events nobody asks but of the data's: of the others their sum over each row of a pool is needed, and sums over
all events that follow the null. Sums of parts of the events can be added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lanner.typing import Array

BEYOND = 0.5  # an event with a larger residual is called out of reach


@dataclass(frozen=True)
class ResidualSums:
    """Sums over events of the null, weighted or not: their number, g, g^2, and those out of reach."""

    number: float
    total: float
    squares: float
    beyond: float

    @classmethod
    def of(cls, g: Array, weights: Array | None = None) -> ResidualSums:
        """Of some events; weights count relative to their mean.

        >>> ResidualSums.of(np.array([0.0, 0.5, 1.0]))
        ResidualSums(number=3.0, total=1.5, squares=1.25, beyond=1.0)
        """
        w = np.ones(len(g)) if weights is None else weights * len(g) / weights.sum()
        return cls(float(w.sum()), float(w @ g), float(w @ g**2), float(w @ (g > BEYOND)))

    def __add__(self, other: ResidualSums) -> ResidualSums:
        return ResidualSums(
            self.number + other.number,
            self.total + other.total,
            self.squares + other.squares,
            self.beyond + other.beyond,
        )


@dataclass(frozen=True, eq=False)
class Residuals:
    """The residuals of a pool's events, as far as somebody asks for them."""

    by_row: Array  # the sum over the events of each row
    of_data: Array  # of each event beside the reference: the data, or signals
    null: ResidualSums
