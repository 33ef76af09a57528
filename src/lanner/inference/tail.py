"""A tail fitted to null toys, to go a little beyond them: an exponential above their upper tenth.

Statistics that are minus the logarithm of a p-value, as combinations are, have such a tail whatever the p-value is
made of. Its two numbers, how many toys lie above the threshold and by how much on average, have errors, and so has
a Z from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanner.inference.significance import ks_distance, z_of_log_p

LEAST = 20  # toys above the threshold, for a slope to be worth something
_SHARE, _MOST = 0.1, 1000  # of the toys that lie above it, and how many at most: the further out, the better it holds
_REPLICATES = 999


@dataclass(frozen=True)
class FittedTail:
    """log P(x) = log(share) - (x - threshold) / scale above the threshold."""

    threshold: float
    scale: float
    share: float
    above: int  # toys above the threshold
    limit: float  # as far above the highest toy as that is above the threshold; further out the tail says "more than"
    goodness_of_fit: float  # p-value of a Kolmogorov-Smirnov test, the scale refitted in every replicate

    def log_p(self, x: float) -> float:
        """log of the chance to lie above x; below the threshold the share, beyond the limit an upper bound."""
        return float(np.log(self.share) - max(min(x, self.limit) - self.threshold, 0.0) / self.scale)

    def z_score(self, x: float) -> float:
        """Z of that chance."""
        return z_of_log_p(self.log_p(x))

    def z_error(self, x: float) -> float:
        """The standard error of Z from the errors of share and scale."""
        excess = max(min(x, self.limit) - self.threshold, 0.0) / self.scale
        relative = ((1 - self.share) / self.above + excess**2 / self.above) ** 0.5  # of log p
        log_p = self.log_p(x)
        return abs(z_of_log_p(log_p - relative) - z_of_log_p(log_p + relative)) / 2


def fit_tail(toys: NDArray[np.float64], *, rng: np.random.Generator) -> FittedTail | None:
    """The exponential of maximum likelihood, or None where there are too few toys, or some that are not numbers."""
    x = np.sort(np.asarray(toys, dtype=np.float64))
    above = min(int(_SHARE * len(x)), _MOST)
    if above < LEAST or not np.isfinite(x).all():
        return None
    threshold = float(x[-above - 1])
    excess = x[-above:] - threshold
    scale = float(excess.mean())
    if not scale > 0:
        return None
    observed = ks_distance(-np.expm1(-excess / scale))
    drawn = np.sort(rng.standard_exponential((_REPLICATES, above)), axis=1)
    replicates = ks_distance(-np.expm1(-drawn / drawn.mean(axis=1, keepdims=True)))
    goodness = (1 + int(np.count_nonzero(replicates >= observed))) / (1 + _REPLICATES)
    return FittedTail(threshold, scale, above / len(x), above, float(2 * x[-1] - threshold), goodness)
