"""How many toys are enough: the sequential p-value of Besag and Clifford (Biometrika 78 (1991) 301).

Toys are made until h of them reach the observed t, or until there are n. In the first case p = h / l, where l is
the number of the toy that was the h-th to reach t; in the second p = (k + 1) / (n + 1) with the k < h that did.
Either way the chance of p <= alpha is at most alpha under the null, so an unremarkable data set may stop early and
a remarkable one goes on. The relative precision of p is about 1 / sqrt(h).

A search that is told nothing makes a first n1 toys whatever they say. If h of them or more reach t, the search ends
with p = (k + 1)/(n1 + 1) of these; otherwise it goes on as above. That is as valid: the p-values of searches that end
there are all larger than those of searches which go on, and among either kind p <= alpha has the chance that it has
for a fixed number of toys, or for one that is stopped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lanner.inference.significance import EmpiricalP, empirical_p
from lanner.settings import checked

AUTO = "auto"  # toys until the answer is known
FIRST, PRECISION = 300, 0.3  # of a search that is told nothing: the first toys, and how well p is to be known


@dataclass(frozen=True)
class Stopping:
    """Stop at the `exceedances`-th toy that reaches t, or at `toys`; not before the `first` ones."""

    exceedances: int
    toys: int
    first: int = 0

    @classmethod
    def automatic(cls, most: int) -> Stopping:
        """As many toys as it takes to know p to `PRECISION`, up to a largest number."""
        return cls(math.ceil(1 / PRECISION**2), most, min(FIRST, most))

    @classmethod
    def until(cls, z: float, precision: float, *, most: int | None = None) -> Stopping:
        """Toys enough to know a p-value of `z` standard deviations to a relative `precision`, but `most` at most.

        >>> Stopping.until(3.0, 0.3)
        Stopping(exceedances=12, toys=8890, first=0)
        """
        z, precision = checked("until_z", z), checked("p_precision", precision)
        exceedances = math.ceil(1 / precision**2)
        enough = math.ceil(exceedances / float(stats.norm.sf(z)))
        return cls(exceedances, enough if most is None else min(enough, most))

    def judge(self, t: float, null: NDArray[np.float64]) -> EmpiricalP | None:
        """The p-value, or None while more toys are needed; toys beyond the one that decides do not count."""
        if len(null) < self.first:
            return None
        reach = np.flatnonzero(~(null[: self.toys] < t))
        if np.count_nonzero(reach < self.first) >= self.exceedances:
            return empirical_p(t, null[: self.first])
        if len(reach) >= self.exceedances:
            return EmpiricalP(self.exceedances, int(reach[self.exceedances - 1]) + 1, sequential=True)
        return empirical_p(t, null[: self.toys]) if len(null) >= self.toys else None
