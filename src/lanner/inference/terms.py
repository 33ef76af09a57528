"""What no kernel scale can see: how many events there are, a single place, and events out of reach of the centres.

Features vanish far from every centre, so events out there would not even be counted. Three kinds of terms are therefore
combined with the scales, each with a p-value of its own to begin with, which toys then calibrate with the rest:

- the number of data events, against Poisson(N(0)), on either side;
- at each width, the largest local excess or deficit around a pivot (`model/local_excess.py`), which a sum over all
  directions dilutes; by the score statistic only, whose u it is made of;
- at each width, the sum over the data of the residual g(x) = k(x, x) - |phi(x)|^2, the part of an event that the basis
  cannot represent: 0 among the centres, 1 far from all of them. Under the null it is a compound Poisson number, which
  behaves like one of Poisson(N E[g]^2 / E[g^2]) events of size E[g^2] / E[g]. Only an excess counts.

Centres are drawn at random from the reference and never a toy's data, so toys lie out of their reach as often as
data of the reference model do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln, log_ndtr

from lanner.inference.analytic import LawMoments
from lanner.model.residuals import BEYOND, Residuals
from lanner.model.weightings import Draw
from lanner.typing import Array

# Beside the residuals of the reference, one event that is wholly out of reach: with none at all nothing could be told.
_PSEUDO = 1.0
# The largest of many significances, as -ln p, follows a Gumbel law of scale 1: toys give its place.
GUMBEL = LawMoments(mean=0.0, std=np.pi / 6**0.5, skewness=1.14)
MOST_LISTED = 100
_SURPRISING = 1e-3  # a chance below which events out of reach are worth a warning


@dataclass(frozen=True)
class OutOfReach:
    """Data events that lie out of reach of the centres at one width."""

    width: float
    expected: float  # so many are expected of the reference model
    number: int
    rows: tuple[int, ...]  # of the data, the furthest first; no more than are worth listing

    @property
    def surprising(self) -> bool:
        """Whether there are more than the reference explains."""
        return bool(poisson_log_excess(np.array([float(self.number)]), self.expected + 0.05)[0] < np.log(_SURPRISING))


@dataclass(frozen=True)
class CountTerm:
    """The number of data events."""

    expected: float
    error: float = 0.0  # of the number expected
    label: str = "number of events"

    def log_p(self, numbers: Array) -> Array:
        """log p of each number, two-sided: of a Poisson number, or a normal one where what is expected has an error.

        >>> many = np.array([130])
        >>> [float(np.exp(CountTerm(100.0, error).log_p(many)[0]).round(4)) for error in (0.0, 10.0)]
        [0.0046, 0.0339]
        """
        n = np.asarray(numbers, dtype=np.float64)
        if self.error > 0:
            z = (n - self.expected) / (self.expected + self.error**2) ** 0.5
            return np.asarray(np.minimum(np.log(2.0) + log_ndtr(-np.abs(z)), 0.0))
        smaller = np.minimum(poisson_log_excess(n, self.expected), poisson_log_deficit(n, self.expected))
        return np.asarray(np.minimum(smaller + np.log(2.0), 0.0))

    def numbers(self, draws: Sequence[Draw]) -> Array:
        """How many data events each draw has, less what its own reference predicts beyond the number expected."""
        return np.array([max(d.data_size - d.surplus, 0.0) for d in draws])


@dataclass(frozen=True)
class ProfiledCountTerm:
    """The number of data events, of whose fluctuation fitted nuisance parameters explain a part."""

    share: float  # of the variance, that they leave
    label: str = "number of events"

    def log_p(self, numbers: Array, predicted: Array) -> Array:
        """log p of numbers where so many are predicted with the nuisances of each, two-sided."""
        least = np.maximum(predicted, 1.0)  # a series in nuisances that are far off can end below 0
        z = (np.asarray(numbers) - least) / np.sqrt(np.maximum(self.share, 1e-12) * least)
        return np.asarray(np.minimum(np.log(2.0) + log_ndtr(-np.abs(z)), 0.0))


@dataclass(frozen=True, eq=False)
class ReachTerm:
    """The part of the data that the basis of one width cannot represent."""

    width: float
    by_row: Array  # the sum of the residuals over each row of the pool
    of_data: Array  # the residual of each data event
    mean: float  # E[g] under the null
    square: float  # E[g^2]
    expected: float  # N(0)
    expected_beyond: float  # how many of them are out of reach

    @classmethod
    def of(cls, width: float, residuals: Residuals, expected: float) -> ReachTerm:
        """With the moments of the residuals of events that follow the null."""
        null = residuals.null
        mean, square = ((total + _PSEUDO) / (null.number + _PSEUDO) for total in (null.total, null.squares))
        beyond = expected * null.beyond / null.number
        return cls(width, residuals.by_row, residuals.of_data, mean, square, expected, beyond)

    @property
    def label(self) -> str:
        """What it is called in tables."""
        return f"out of reach, width {self.width:.3g}"

    def log_p(self, totals: Array) -> Array:
        """log p of each sum of residuals over the data."""
        size = self.square / self.mean
        return poisson_log_excess(np.asarray(totals) / size, self.expected * self.mean / size)

    def totals(self, draws: Sequence[Draw]) -> Array:
        """The sum of the residuals over each draw's data."""
        return np.array([self.by_row[d.data].sum() for d in draws])

    def beyond(self) -> OutOfReach:
        """The data events out of reach, those furthest out first."""
        rows = np.flatnonzero(self.of_data > BEYOND)
        rows = rows[np.argsort(-self.of_data[rows], kind="stable")]
        return OutOfReach(self.width, self.expected_beyond, len(rows), tuple(int(i) for i in rows[:MOST_LISTED]))


@dataclass(frozen=True)
class LocalTerm:
    """The largest local excess or deficit at one width."""

    width: float

    @property
    def label(self) -> str:
        """What it is called in tables."""
        return f"largest local excess, width {self.width:.3g}"


Term = CountTerm | ProfiledCountTerm | LocalTerm | ReachTerm


def poisson_log_excess(number: Array, mean: float | Array) -> Array:
    """log of the chance that a Poisson number reaches another one, which need not be whole.

    >>> poisson_log_excess(np.array([0.0, 1.0, 400.0]), 0.1).round(3).tolist()
    [0.0, -2.352, -2921.634]
    """
    k = np.asarray(number, dtype=np.float64)
    with np.errstate(divide="ignore"):
        log_p = np.log(gammainc(np.maximum(k, 1e-12), mean))
    far = np.isneginf(log_p)
    # The first term of the sum and the geometric series that bounds the others.
    x, m = k[far], np.broadcast_to(mean, k.shape)[far]
    log_p[far] = x * np.log(m) - m - gammaln(x + 1) - np.log1p(-m / (x + 1))
    return np.asarray(np.where(k > 0, log_p, 0.0))


def poisson_log_deficit(number: Array, mean: float) -> Array:
    """log of the chance that a Poisson number is no larger than another one.

    >>> poisson_log_deficit(np.array([0.0, 100.0]), 1e4).round(3).tolist()
    [-10000.0, -9442.695]
    """
    k = np.asarray(number, dtype=np.float64)
    with np.errstate(divide="ignore"):
        log_p = np.log(gammaincc(k + 1, mean))
    far = np.isneginf(log_p)
    x = k[far]
    log_p[far] = x * np.log(mean) - mean - gammaln(x + 1) - np.log1p(-x / mean)  # as above, towards 0
    return np.asarray(log_p)
