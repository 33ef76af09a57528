"""The law of a weighted sum of chi2_1 variables, accurate in relative terms far into its tails.

    Q = sum_j w_j chi2_1,    w_j > 0,    K(s) = log E exp(s Q) = -1/2 sum_j log(1 - 2 w_j s)

The tails are contour integrals (Rice 1980, "Distribution of quadratic forms in normal random variables"):

    P(Q > t) =  1/(2 pi i) int exp(K(s) - s t) / s ds    through s0 in (0, 1/(2 w_max))
    P(Q < t) = -1/(2 pi i) int exp(K(s) - s t) / s ds    through s0 < 0

and the density is the first without its 1/s; `inference/contour.py` computes them.

Below the mean the lower tail is computed and the upper one is its complement; above it, the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri_exp
from scipy.stats import chi2

from lanner.errors import InputError
from lanner.inference.contour import log_integral
from lanner.typing import Array

# A scalar gives a float, an array an array of its shape.
Values = TypeVar("Values", float, Array)

_DRAWS = 1 << 22  # random numbers held at once


@dataclass(frozen=True, eq=False, repr=False)
class WeightedChi2:
    """The law of sum_j w_j chi2_1.

    Parameters
    ----------
    weights : array_like of shape (number,)
        The weights w_j, none negative; those above zero are kept, in descending order.

    Raises
    ------
    InputError
        If a weight is negative or not finite, or if none is positive.

    Examples
    --------
    >>> import lanner
    >>> law = lanner.WeightedChi2([0.6, 0.3, 0.1])
    >>> law
    WeightedChi2(3 weights, mean 1, std 0.959, effective dof 2.17)
    >>> round(law.sf(2.0), 4)  # Imhof (1961), Table 1
    0.124
    >>> round(law.z_score(1e5), 2)
    408.25
    """

    weights: Array

    def __post_init__(self) -> None:
        given = np.asarray(self.weights, dtype=np.float64)
        if given.ndim != 1:
            raise InputError(f"weights have shape {given.shape}; give a one-dimensional array")
        if not np.all(np.isfinite(given)) or np.any(given < 0):
            bad = given[~(np.isfinite(given) & (given >= 0))]
            raise InputError(f"weights must be finite and not negative; {bad.size} are not, such as {bad[0]}")
        kept = np.sort(given[given > 0])[::-1]
        if kept.size == 0:
            raise InputError(f"none of the {given.size} weights is positive; the law needs at least one")
        kept.flags.writeable = False
        object.__setattr__(self, "weights", kept)

    def __repr__(self) -> str:
        return (
            f"WeightedChi2({self.weights.size} weights, mean {self.mean:.3g}, std {self.std:.3g}, "
            f"effective dof {self.effective_dof:.3g})"
        )

    @property
    def mean(self) -> float:
        """Mean, sum_j w_j."""
        return float(self.weights.sum())

    @property
    def std(self) -> float:
        """Standard deviation, sqrt(2 sum_j w_j^2)."""
        unit = float(self.weights[0])
        return unit * math.sqrt(2.0) * float(np.linalg.norm(self.weights / unit))

    @property
    def effective_dof(self) -> float:
        """2 mean^2 / variance: the dof of the scaled chi2 with the same mean and spread."""
        return 2.0 * (self.mean / self.std) ** 2

    def sf(self, t: Values) -> Values:
        """P(Q > t), the p-value of an observed t; 1 for t <= 0.

        Parameters
        ----------
        t : float or ndarray
            Values of Q, in units of the test statistic.

        Returns
        -------
        float or ndarray
            The probability, of the shape of `t`.
        """
        return _elementwise(lambda value: math.exp(self._log_tails(value)[1]), t)

    def logsf(self, t: Values) -> Values:
        """Logarithm of P(Q > t), good to 1e-12 or, where that is more, to a few roundings of its own value.

        Parameters
        ----------
        t : float or ndarray
            Values of Q, in units of the test statistic.

        Returns
        -------
        float or ndarray
            The natural logarithm of the probability, of the shape of `t`.
        """
        return _elementwise(lambda value: self._log_tails(value)[1], t)

    def cdf(self, t: Values) -> Values:
        """P(Q <= t); 0 for t <= 0.

        Parameters
        ----------
        t : float or ndarray
            Values of Q, in units of the test statistic.

        Returns
        -------
        float or ndarray
            The probability, of the shape of `t`.
        """
        return _elementwise(lambda value: math.exp(self._log_tails(value)[0]), t)

    def pdf(self, t: Values) -> Values:
        """Density at t; at t = 0 its limit, infinite for one weight.

        Parameters
        ----------
        t : float or ndarray
            Values of Q, in units of the test statistic.

        Returns
        -------
        float or ndarray
            The density, of the shape of `t`.
        """
        return _elementwise(self._density, t)

    def isf(self, p: Values) -> Values:
        """The t with P(Q > t) = p; 0 for p = 1 and infinite for p = 0.

        Parameters
        ----------
        p : float or ndarray
            Probabilities, from 0 to 1.

        Returns
        -------
        float or ndarray
            The t of each, of the shape of `p`.

        Raises
        ------
        InputError
            If a `p` is not a probability.
        """
        return _elementwise(self._quantile, p)

    def z_score(self, t: Values) -> Values:
        """Z = norm.isf(sf(t)), through the logarithm of the smaller tail: finite for every finite t > 0.

        It is -inf for t <= 0, which this law says cannot be.

        Parameters
        ----------
        t : float or ndarray
            Values of Q, in units of the test statistic.

        Returns
        -------
        float or ndarray
            The significance in standard deviations, of the shape of `t`.
        """
        return _elementwise(lambda value: _z_score(*self._log_tails(value)), t)

    def rvs(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        """Random draws.

        Parameters
        ----------
        size : int or tuple of int
            How many, or the shape of an array of them.
        rng : Generator
            Random numbers.

        Returns
        -------
        ndarray
            The draws.
        """
        values, counts = self._spectrum
        single = counts == 1
        draws = np.empty(size)
        flat = draws.reshape(-1)
        block = max(1, _DRAWS // values.size)
        for start in range(0, flat.size, block):
            rows = flat[start : start + block]
            # Squared normals are several times quicker than chi2 draws, which repeated weights still repay.
            rows[:] = rng.standard_normal((rows.size, int(single.sum()))) ** 2 @ values[single]
            rows += rng.chisquare(counts[~single], (rows.size, int((~single).sum()))) @ values[~single]
        return draws

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        """Distinct weights, descending, and how often each occurs."""
        values, counts = np.unique(self.weights, return_counts=True)
        return values[::-1].copy(), counts[::-1].astype(np.float64)

    def _log_tails(self, t: float) -> tuple[float, float]:
        """log P(Q <= t) and log P(Q > t), each to its own relative accuracy."""
        if math.isnan(t):
            return math.nan, math.nan
        if t <= 0.0:
            return -math.inf, 0.0
        if t == math.inf:
            return 0.0, -math.inf
        values, counts = self._spectrum
        unit = float(values[0])
        x, mean, number = _within_reach(t / unit), self.mean / unit, self.weights.size
        # Brackets of d = 1/2 - s0, with the largest weight as unit and a factor of 2 to spare, from
        # K' = t + 1/s0 and 1/(2d) <= K' <= 2 mean (s0 < 1/4) above; 0 < K' < number/(2 |s0|) below.
        if x > mean:
            inside = (0.25 / (x + 4.0), 0.5 - min(0.25, 0.25 / mean))
            upper = min(0.0, log_integral(values / unit, counts, x, inside, pole=True))
            return _log_complement(upper), upper
        inside = (0.5 + 0.5 / x, 0.5 + (number + 2.0) / x)
        lower = min(0.0, log_integral(values / unit, counts, x, inside, pole=True))
        return lower, _log_complement(lower)

    def _density(self, t: float) -> float:
        if math.isnan(t):
            return math.nan
        if t < 0.0 or t == math.inf:
            return 0.0
        values, counts = self._spectrum
        unit, number = float(values[0]), self.weights.size
        if t == 0.0:
            if number > 2:
                return 0.0
            return 0.5 / math.sqrt(self.weights[1] / unit) / unit if number == 2 else math.inf
        x = _within_reach(t / unit)
        inside = (0.25 / x, 0.5 + number / x)
        return math.exp(log_integral(values / unit, counts, x, inside, pole=False)) / unit

    def _quantile(self, p: float) -> float:
        if not 0.0 <= p <= 1.0:
            raise InputError(f"p = {p} is not a probability; give a number from 0 to 1")
        if p in (0.0, 1.0):
            return math.inf if p == 0.0 else 0.0
        # Solve in the smaller tail, in logarithms of both t and p: close to straight lines far out.
        tail, target = (1, math.log(p)) if p < 0.5 else (0, math.log1p(-p))
        sign = -1.0 if tail else 1.0

        def excess(log_t: float) -> float:
            return sign * (self._log_tails(math.exp(log_t))[tail] - target)

        # Start from the scaled chi2 with the same mean and spread.
        dof = self.effective_dof
        guess = math.log(self.mean) + math.log(max(float(chi2.isf(p, dof)), 1e-100) / dof)
        width = 0.1
        low = high = guess
        while excess(low) > 0.0:
            low, width = low - width, 2.0 * width
        while excess(high) < 0.0:
            high, width = high + width, 2.0 * width
        return math.exp(float(brentq(excess, low, high, xtol=1e-14, rtol=1e-14)) if low < high else guess)


def _elementwise(function: Callable[[float], float], t: Values) -> Values:
    values = np.asarray(t, dtype=np.float64)
    results = np.array([function(float(value)) for value in values.flat]).reshape(values.shape)
    return cast(Values, results if values.ndim else float(results))


def _z_score(log_cdf: float, log_sf: float) -> float:
    return float(ndtri_exp(log_cdf)) if log_cdf < log_sf else -float(ndtri_exp(log_sf))


def _within_reach(x: float) -> float:
    """Keep 1/x and its products with the number of weights inside the doubles."""
    return min(max(x, 1e-290), 1e290)


def _log_complement(log_p: float) -> float:
    """log(1 - exp(log_p)), precise at both ends."""
    if log_p == 0.0:
        return -math.inf
    return math.log(-math.expm1(log_p)) if log_p > -0.7 else 0.0 + math.log1p(-math.exp(log_p))
