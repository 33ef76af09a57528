"""Which variables carry the discrepancy.

For one variable, the learned ratio's marginal predicts mu1 events in a bin where the reference predicts mu0. If the
data were exactly as learned, a binned likelihood-ratio test in this one variable would give

    value = 2 sum_bins [ mu1 log(mu1/mu0) - (mu1 - mu0) ]  >= 0,

the part of the statistic that can be seen in this variable alone. Null toys have learned ratios too, and so a value
each: `z` says how far the data's lies above theirs.

What it means: a variable with a large z shows the discrepancy in its own distribution, so look there first.
What it does not mean: it is no p-value of its own (the search has one p-value), z is not corrected for the number of
variables and extrapolates beyond the toys, a variable may be high only because it is correlated with the one at fault,
and a discrepancy that shows in a combination of variables alone leaves every marginal low.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from lanner.report.profiles import RatioProfile, contents
from lanner.typing import Array

_LEAST_TOYS = 10  # for a mean and a spread worth showing


@dataclass(frozen=True)
class Importance:
    """How much of the discrepancy shows in one variable; the null's numbers are None without enough toys."""

    name: str
    fitted: bool
    value: float
    null_median: float | None
    null_interval: tuple[float, float] | None  # 95 % of the toys
    z: float | None
    exceedances: int  # null toys whose value is at least as large
    toys: int


def rank_importance(profiles: Iterable[RatioProfile]) -> tuple[Importance, ...]:
    """The importance of every variable, the most telling first."""
    found = [importance(profile) for profile in profiles]
    return tuple(sorted(found, key=lambda i: (-np.inf if i.z is None else i.z, i.value), reverse=True))


def importance(profile: RatioProfile) -> Importance:
    """The importance of one variable."""
    expected = contents(profile.reference)
    value = float(information(expected, profile.own_ratio))
    toys = 0 if profile.null_ratios is None else profile.null_ratios.shape[1]
    if profile.null_ratios is None or toys < _LEAST_TOYS:
        return Importance(profile.name, profile.fitted, value, None, None, None, 0, toys)
    null = information(expected, profile.null_ratios.T)
    low, median, high = np.quantile(null, (0.025, 0.5, 0.975))
    return Importance(
        name=profile.name,
        fitted=profile.fitted,
        value=value,
        null_median=float(median),
        null_interval=(float(low), float(high)),
        z=pull(value, null),
        exceedances=int(np.count_nonzero(null >= value)),
        toys=toys,
    )


def information(expected: Array, ratio: Array) -> Array:
    """2 sum [mu1 log(mu1/mu0) - (mu1 - mu0)] along the last axis, with mu0 = expected and mu1 = expected * ratio.

    >>> float(information(np.array([100.0]), np.array([1.1])).round(3))  # close to (10 / sqrt(100))^2
    0.968
    """
    terms = np.maximum(expected, 0.0) * (xlogy(ratio, ratio) - ratio + 1)  # negative weights can leave a bin negative
    return np.asarray(2 * terms.sum(axis=-1))


def pull(value: float, null: Array) -> float:
    """How many spreads the value lies above the toys', in cube roots.

    The values are like a chi2, and its cube root is nearly normal (Wilson and Hilferty), so this number is close to
    a Z where the toys reach and an extrapolation beyond. Median and 68 % interval stand for mean and spread, so that
    one toy whose fit diverged does not hide everything.
    """
    low, middle, high = np.quantile(np.cbrt(null), (0.158655, 0.5, 0.841345))
    return float((np.cbrt(value) - middle) / (0.5 * (high - low))) if high > low else 0.0
