"""`Null`: the toys of a search, none of them dropped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanner.inference.significance import Chi2Fit, EmpiricalP, empirical_p
from lanner.inference.tail import FittedTail
from lanner.inference.weighted_chi2 import WeightedChi2

LEAST_TOYS = 50  # with fewer, toys can confirm nothing


@dataclass(frozen=True, eq=False)
class Null:
    """What t is if the data follow the reference: toys, and laws that stand beside them.

    A single statistic has an analytic law and, where one fits, a chi2; a combination of several has a fitted tail.
    """

    kind: str  # "reference", "permutation" or "generator"
    statistics: NDArray[np.float64]
    converged: NDArray[np.bool_]
    analytic: WeightedChi2 | None = None
    chi2: Chi2Fit | None = None
    tail: FittedTail | None = None

    def __len__(self) -> int:
        return len(self.statistics)

    @property
    def not_finite(self) -> int:
        """Toys whose t is not a number. They count as extreme."""
        return int(np.count_nonzero(~np.isfinite(self.statistics)))

    @property
    def not_positive(self) -> int:
        """Toys with t <= 0; with any, no chi2 describes the null."""
        return int(np.count_nonzero(self.statistics <= 0))

    @property
    def not_converged(self) -> int:
        """Toys whose fit stopped early. They are kept."""
        return int(np.count_nonzero(~self.converged))

    @property
    def analytic_confirmed(self) -> bool:
        """Whether the toys' mean, spread and tail are where the analytic null puts them, as far as toys can tell."""
        t = self.statistics[np.isfinite(self.statistics)]
        if self.analytic is None or len(t) < LEAST_TOYS:
            return False
        shift = abs(t.mean() - self.analytic.mean) / self.analytic.std
        ratio = t.std(ddof=1) / self.analytic.std
        # Three standard errors of a mean and of a spread, beside 0.25 of a spread and 15 %.
        slack = 3 / len(t) ** 0.5
        # Of the toys, 5 % should lie beyond the law's own 5 %: more mean a heavier tail than the law's.
        beyond = float(np.mean(t > self.analytic.isf(0.05)))
        tail = beyond < 1.5 * 0.05 + 3 * (0.05 * 0.95 / len(t)) ** 0.5
        return bool(shift < 0.25 + slack and abs(ratio - 1) < 0.15 + slack and tail)

    @property
    def trusted_tail(self) -> FittedTail | None:
        """The fitted tail, if the toys look like it."""
        return self.tail if self.tail is not None and self.tail.describes else None

    def empirical(self, t: float) -> EmpiricalP:
        """The empirical p-value of an observed t."""
        return empirical_p(t, self.statistics)
