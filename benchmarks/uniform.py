"""Are p-values of null data sets uniform, as far as chance allows?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

LEVELS = (0.05, 0.01)
_LEAST_KS, _TAIL = 1e-4, 1e-4  # of the KS test, and outside of the binomial intervals


@dataclass(frozen=True)
class Share:
    """How many p-values lie below a level, and between which shares chance would have them."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, p: ArrayLike, level: float) -> Share:
        """Of p-values that are numbers."""
        every = np.asarray(p, dtype=np.float64)
        known = every[np.isfinite(every)]
        low, high = stats.binom.interval(1 - _TAIL, len(known), level)
        return cls(float(np.mean(known <= level)), low / len(known), high / len(known))

    @property
    def is_chance(self) -> bool:
        """Whether the share lies in the interval."""
        return self.low <= self.value <= self.high

    def __str__(self) -> str:
        """In per cent.

        >>> str(Share(0.052, 0.026, 0.081))
        '5.2 (2.6 to 8.1)'
        """
        return f"{100 * self.value:.1f} ({100 * self.low:.1f} to {100 * self.high:.1f})"


@dataclass(frozen=True)
class Uniform:
    """How uniform p-values are."""

    ks_p: float
    shares: tuple[Share, ...]  # below each level

    @classmethod
    def of(cls, p: ArrayLike) -> Uniform:
        """Of p-values that are spread over their steps."""
        return cls(
            float(stats.kstest(np.asarray(p, dtype=np.float64), "uniform").pvalue),
            tuple(Share.of(p, level) for level in LEVELS),
        )

    @property
    def is_chance(self) -> bool:
        """Whether all of it can be chance."""
        return self.ks_p > _LEAST_KS and all(share.is_chance for share in self.shares)
