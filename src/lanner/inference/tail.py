"""A tail fitted to null toys, to go a little beyond them: a generalised Pareto law above their upper tenth.

Statistics that are minus the logarithm of a p-value, as combinations are, would have an exponential tail if the p-value
were exact. It is not: where few events are expected, counts fluctuate upwards more than a Gaussian does, and the tail
is heavier. So its shape is fitted too, from the exponential on (shape 0) to heavier ones, and the shape's error is the
greater part of the error of a Z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lanner.inference.significance import ks_distance, z_of_log_p
from lanner.typing import Array

LEAST = 20  # toys above the threshold, for a shape to be worth something
_SHARE, _MOST = 0.1, 1000  # of the toys that lie above it, and how many at most: the further out, the better it holds
_REPLICATES = 399
_POOR = 0.01  # a goodness of fit below this, and the tail is not used
_GOLDEN, _STEPS = (5**0.5 - 1) / 2, 30
_SHAPES = np.log([1e-3, 1e2])  # of shape / scale times the mean excess, where the best is looked for


@dataclass(frozen=True)
class FittedTail:
    """log P(x) = log(share) - log(1 + shape e / scale) / shape, with e = x - threshold; shape 0 is an exponential."""

    threshold: float
    scale: float
    shape: float
    share: float
    above: int  # toys above the threshold
    toys: int
    goodness_of_fit: float  # p-value of a Kolmogorov-Smirnov test, the law refitted in every replicate

    @property
    def describes(self) -> bool:
        """Whether the toys above the threshold look like it."""
        return self.goodness_of_fit >= _POOR

    @property
    def limit(self) -> float:
        """Up to where it is trusted: from the last toy as many powers of ten in p as from the threshold to that."""
        depth = 2 * np.log(self.share * self.toys)
        excess = depth if self.shape == 0 else np.expm1(self.shape * depth) / self.shape
        return float(self.threshold + self.scale * excess)

    def log_p(self, x: float) -> float:
        """log of the chance to lie above x; below the threshold the share, beyond the limit an upper bound."""
        return float(np.log(self.share) - _depth(self._excess(x), self.shape))

    def pdf(self, x: Array) -> Array:
        """The density above the threshold."""
        excess = x - self.threshold
        log_p = np.array([np.log(self.share) - _depth(e / self.scale, self.shape) for e in excess])
        return np.asarray(np.exp(log_p) / (self.scale + self.shape * excess))

    def z_score(self, x: float) -> float:
        """Z of that chance."""
        return z_of_log_p(self.log_p(x))

    def z_error(self, x: float) -> float:
        """The standard error of Z from those of share, scale and shape (of maximum likelihood)."""
        r, xi, h = self._excess(x), self.shape, 1e-5
        by_scale = r / (1 + xi * r)  # of log p, in units of the scale
        by_shape = (_depth(r, xi) - _depth(r, xi + h)) / h
        heavy = 1 + xi
        variance = (1 - self.share) / self.above + (
            2 * heavy * by_scale**2 + heavy**2 * by_shape**2 - 2 * heavy * by_scale * by_shape
        ) / self.above
        log_p, error = self.log_p(x), variance**0.5
        return abs(z_of_log_p(log_p - error) - z_of_log_p(min(log_p + error, -1e-9))) / 2

    def _excess(self, x: float) -> float:
        """In units of the scale, and no further than the limit."""
        return max(min(x, self.limit) - self.threshold, 0.0) / self.scale


def fit_tail(toys: Array, *, rng: np.random.Generator) -> FittedTail | None:
    """The law of maximum likelihood, or None where there are too few toys, or some that are not numbers."""
    x = np.sort(np.asarray(toys, dtype=np.float64))
    above = min(int(_SHARE * len(x)), _MOST)
    if above < LEAST or not np.isfinite(x).all():
        return None
    threshold = float(x[-above - 1])
    excess = x[-above:] - threshold
    if not excess.mean() > 0:
        return None
    scale, shape = _fit(excess)
    observed = ks_distance(_cdf(excess, scale, shape))
    depths = np.sort(rng.standard_exponential((_REPLICATES, above)), axis=1)
    drawn = np.expm1(shape * depths) / shape if shape > 0 else depths
    replicates = ks_distance(_cdf(drawn, *_fit(drawn)))
    goodness = (1 + int(np.count_nonzero(replicates >= observed))) / (1 + _REPLICATES)
    return FittedTail(threshold, float(scale), float(shape), above / len(x), above, len(x), goodness)


def _depth(r: float, shape: float) -> float:
    """-log P of an excess in units of the scale."""
    return float(np.log1p(shape * r) / shape) if shape > 0 else r


def _cdf(excess: Array, scale: Array, shape: Array) -> Array:
    r = excess / scale[..., None]
    xi = np.maximum(shape, 1e-9)[..., None]
    return np.asarray(-np.expm1(-np.log1p(xi * r) / xi))


def _fit(excess: Array) -> tuple[Array, Array]:
    """Scale and shape of each row of excesses: one number, shape / scale, is left to look for (Grimshaw 1993)."""
    mean = excess.mean(axis=-1)

    def loss(log_theta: Array) -> tuple[Array, Array, Array]:
        theta = np.exp(log_theta) / mean
        shape = np.log1p(theta[..., None] * excess).mean(axis=-1)
        return np.log(shape / theta) + shape, shape / theta, shape

    low, high = np.full_like(mean, _SHAPES[0]), np.full_like(mean, _SHAPES[1])
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = loss(left)[0], loss(right)[0]
    for _ in range(_STEPS):
        down = at_left < at_right
        low, high = np.where(down, low, left), np.where(down, right, high)
        # One of the two points serves again.
        new = np.where(down, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        at_new = loss(new)[0]
        left, right = np.where(down, new, right), np.where(down, left, new)
        at_left, at_right = np.where(down, at_new, at_right), np.where(down, at_left, at_new)
    least, scale, shape = loss((low + high) / 2)
    heavier = least < np.log(mean)  # than an exponential, which has log(mean)
    return np.where(heavier, scale, mean), np.where(heavier, shape, 0.0)
