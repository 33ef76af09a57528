"""From a statistic and its null toys to a p-value and a Z-score, and to two labelled extrapolations.

The empirical p-value is the result. A fitted chi2 (the paper's asymptotic formula) and the analytic null stand
beside it where the toys do not reach, each with a measure of how far it can be trusted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import digamma, gammaincc, gammaln, ndtri_exp, polygamma

from lanner.typing import Array

LEVEL = 0.95  # of the intervals around a p-value
_REPLICATE_SIZE = 5000  # toys of a replicate at most
# Up to which Z p-values by toys of a reference so many times the data were seen to be right (docs/deep-tails.md); of a
# smaller one, which is warned of, half of the p-values at 0.01 come from its own fluctuation (docs/p-value.md).
_SUPPORTED_Z = ((20.0, 4.0), (0.0, 2.0))


def z_of_log_p(log_p: float) -> float:
    """Z = Phi^-1(1 - p) (Eq. Zobs), through log p so that it is finite however small p is.

    >>> round(z_of_log_p(np.log(0.0013498980316300933)), 6)
    3.0
    """
    return -float(ndtri_exp(log_p))


def supported_z(ratio: float) -> float:
    """The largest Z that toys of a reference support which has `ratio` events for each one expected.

    >>> supported_z(100.0), supported_z(5.0)
    (4.0, 2.0)
    """
    return next(z for least, z in _SUPPORTED_Z if ratio >= least)


@dataclass(frozen=True)
class EmpiricalP:
    """p = (k + 1) / (n + 1): k of n toys reach the observed t. It is never 0.

    With `sequential` the n-th toy was the k-th to reach t, and toys were made until then: p = k / n.
    """

    exceedances: int
    toys: int
    sequential: bool = False

    @property
    def p_value(self) -> float:
        """The p-value; an upper bound where no toy reaches t."""
        if self.sequential:
            return self.exceedances / self.toys
        return (self.exceedances + 1) / (self.toys + 1)

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper-Pearson interval (95 %) for the chance that a toy reaches t, or its negative-binomial counterpart."""
        k, n = self.exceedances, self.toys
        low = float(stats.beta.ppf((1 - LEVEL) / 2, k, n - k + 1)) if k > 0 else 0.0
        # Of toys made until the k-th reaches t, the last one does by construction.
        last = k if self.sequential else k + 1
        high = float(stats.beta.ppf((1 + LEVEL) / 2, last, n - k)) if k < n else 1.0
        return low, high

    @property
    def z_score(self) -> float:
        """Z of the p-value; an upper bound, and no minus infinity, where every toy reaches t."""
        return float(stats.norm.isf(min(self.p_value, self.toys / (self.toys + 1))))

    @property
    def z_interval(self) -> tuple[float, float | None]:
        """Z at the ends of the interval, lower first; None where no toy reaches t and nothing bounds Z from above."""
        low, high = self.interval
        return float(stats.norm.isf(high)), None if low == 0.0 else float(stats.norm.isf(low))

    @property
    def is_all(self) -> bool:
        """Whether every toy reaches t: the data agree better with the reference than toys of it do."""
        return 0 < self.toys == self.exceedances

    @property
    def is_bound(self) -> bool:
        """Whether no toy reaches t: the toys say "p below", not "p equal"."""
        return self.exceedances == 0


def empirical_p(t: float, null: ArrayLike) -> EmpiricalP:
    """Count the toys at or above t. A toy that is NaN counts as above: what is unknown must not look significant.

    >>> empirical_p(3.0, [1.0, 2.0, 3.0, 4.0]).p_value  # two of four, so (2 + 1) / (4 + 1)
    0.6
    """
    null = np.asarray(null, dtype=np.float64)
    return EmpiricalP(int(np.count_nonzero(~(null < t))), null.size)


def exceedances(t: Array, null: Array) -> NDArray[np.intp]:
    """How many toys lie at or above each t, as `empirical_p` counts them."""
    ordered = np.sort(null)  # what is not a number comes last
    return np.where(np.isnan(t), len(null), len(null) - np.searchsorted(ordered, t))


def empirical_z(t: Array, null: Array) -> Array:
    """Z of the empirical p-value of each t.

    >>> empirical_z(np.array([3.0]), np.array([1.0, 2.0, 3.0, 4.0])).round(3)  # p = 3/5
    array([-0.253])
    """
    return np.asarray(stats.norm.isf((exceedances(t, null) + 1) / (len(null) + 1)))


@dataclass(frozen=True)
class Chi2Fit:
    """A chi2 fitted to the null toys, as in the paper, and how well it fits them."""

    dof: float
    dof_error: float
    goodness_of_fit: float  # p-value of a Kolmogorov-Smirnov test with the dof refitted in every replicate

    def p_value(self, t: float) -> float:
        """Its tail beyond t: an extrapolation where the toys do not reach."""
        return float(stats.chi2.sf(t, self.dof))

    def z_score(self, t: float) -> float:
        """Z of that tail."""
        return z_of_log_p(float(gamma_logsf(self.dof / 2, np.array(t / 2))))


def fit_chi2(null: ArrayLike, *, replicates: int = 999, rng: np.random.Generator) -> Chi2Fit | None:
    """The chi2 of maximum likelihood, or None where a toy is not positive (then no chi2 describes them).

    With loc 0 and scale 1 the likelihood is largest where digamma(dof / 2) = mean log(t / 2). A plain KS test
    after a fit hardly ever rejects; the null of ours refits every replicate. Of very many toys a replicate has fewer:
    the law of sqrt(n) times the distance does not depend on n any more.
    """
    t = np.sort(np.asarray(null, dtype=np.float64))
    if t.size < 2 or not (np.isfinite(t).all() and t[0] > 0):
        return None
    dof = float(_chi2_dof(t))
    observed = float(_chi2_distance(t, np.array(dof)))
    size = min(t.size, _REPLICATE_SIZE)
    toys = np.sort(rng.chisquare(dof, (replicates, size)), axis=1)
    distances = _chi2_distance(toys, _chi2_dof(toys)) * (size / t.size) ** 0.5
    p = (1 + int(np.count_nonzero(distances >= observed))) / (1 + replicates)
    # The Fisher information of dof is trigamma(dof / 2) / 4 per toy.
    error = 2 / float(np.sqrt(t.size * polygamma(1, dof / 2)))
    return Chi2Fit(dof, error, p)


def gamma_logsf(shape: float | Array, x: Array) -> Array:
    """log of the upper tail of a gamma distribution, also where SciPy's underflows (x beyond some 700).

    >>> gamma_logsf(1.0, np.array([-1.0, 2.0, 5000.0])).tolist()
    [0.0, -2.0, -5000.0]
    """
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(divide="ignore"):
        log_p = np.log(gammaincc(shape, np.maximum(x, 0.0)))
    far = np.isneginf(log_p) & np.isfinite(x)
    if not far.any():
        return np.asarray(log_p)
    y, shape = x[far], np.broadcast_to(shape, x.shape)[far]
    # Legendre's continued fraction of the incomplete gamma function, from the inside out; y is far above the shape.
    fraction = np.zeros_like(y)
    for k in range(60, 0, -1):
        fraction = k * (k - shape) / (y - shape + 1 + 2 * k - fraction)
    log_p = np.asarray(log_p)
    log_p[far] = shape * np.log(y) - y - gammaln(shape) - np.log(y - shape + 1 - fraction)
    return log_p


def _chi2_dof(t: Array) -> Array:
    """Solve digamma(dof / 2) = mean log(t / 2) along the last axis, by Newton from a close start."""
    target = np.log(t / 2).mean(axis=-1)
    # Inverse digamma (Minka, Estimating a Dirichlet distribution, appendix C).
    x = np.where(target >= -2.22, np.exp(target) + 0.5, -1 / (target - digamma(1.0)))
    for _ in range(8):
        x = x - (digamma(x) - target) / polygamma(1, x)
    return np.asarray(2 * x)


def ks_distance(cdf: Array) -> Array:
    """The Kolmogorov-Smirnov distance of sorted samples (last axis) from the law whose cdf they were put through."""
    n = cdf.shape[-1]
    up, down = np.arange(1, n + 1) / n - cdf, cdf - np.arange(n) / n
    return np.asarray(np.maximum(up.max(axis=-1), down.max(axis=-1)))


def _chi2_distance(sorted_t: Array, dof: Array) -> Array:
    return ks_distance(stats.chi2.cdf(sorted_t, dof[..., None]))
