"""The largest local excess or deficit: what a sum over all directions dilutes.

Around each pivot p_j the kernel is a window. With u = sum_{S1} phi - a0 sum_{S0} phi the data have

    on_j = N(0) E[k(x, p_j)] + (L u)_j

events in it, in units of the kernel, where the reference has R E[k(x, p_j)]. A window that weighs events by k holds as
many of them as count: divided by E[k^2] / E[k] the sums behave like Poisson numbers. Li and Ma's significance
(Astrophys. J. 272 (1983) 317, Eq. 17) of `on` events where `off` are in a sample 1/alpha times as large,

    Z^2 = 2 on ln[(1 + alpha)/alpha on/(on + off)] + 2 off ln[(1 + alpha) off/(on + off)],

takes the fluctuation of the reference into account, and the largest |Z| is the statistic, as -ln of its tail.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, xlogy

from lanner.model.nystrom import Basis
from lanner.typing import Array

_COLUMNS = 256  # toys whose windows are looked at together


@dataclass(frozen=True, eq=False)
class LocalExcess:
    """Windows around the pivots of one width."""

    factor: Array  # of the basis: sums of phi become sums of k
    expected: Array  # (r,) N(0) E[k] / size: events expected in each window
    size: Array  # (r,) E[k^2] / E[k]
    ratio: float  # alpha = N(0) / R

    @classmethod
    def of(cls, basis: Basis, mean: Array, second: Array, *, expected: float, worth: float) -> LocalExcess:
        """From E[phi] and E[phi phi^T] under the reference, whose events are worth so many without weights.

        Each pivot is an event of the reference itself: no window is emptier than that.
        """
        k = np.maximum(basis.factor @ mean, 1 / worth)
        k2 = np.maximum(np.einsum("ij,ij->i", basis.factor @ second, basis.factor), 1 / worth)
        size = np.minimum(k2 / k, 1.0)
        return cls(basis.factor, expected * k / size, size, expected / worth)

    def significance(self, u: Array, own: Array | None = None) -> Array:
        """Z of each window, (r, B): above zero an excess. `own` is 1 where a pivot is an event of the data itself."""
        change = self.factor @ u
        if own is not None:
            change -= own
        a, off = self.ratio, (self.expected / self.ratio)[:, None]
        on = np.maximum(self.expected[:, None] + change / self.size[:, None], 0.0)
        both = on + off
        z2 = xlogy(on, (1 + a) / a * on / both) + off * np.log((1 + a) * off / both)
        return np.asarray(np.copysign(np.sqrt(2 * np.maximum(z2, 0.0)), on - a * off))

    def statistic(self, u: Array, own: Array | None = None) -> Array:
        """-ln of the tail beyond the largest |Z| of each column."""
        found = np.empty(u.shape[1])
        for start in range(0, u.shape[1], _COLUMNS):
            part = slice(start, start + _COLUMNS)
            z = self.significance(u[:, part], None if own is None else own[:, part])
            found[part] = -log_ndtr(-np.abs(z).max(axis=0))
        return found
