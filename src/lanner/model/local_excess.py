"""The largest local excess or deficit: what a sum over all directions dilutes.

Around each pivot p_j the kernel is a window. With u = sum_{S1} phi - a0 sum_{S0} phi, the sums of k over a draw's data
and over its reference follow from (L u)_j = on_j - a0 off_j and from what both have together: of the R events of the
reference, R E[k(x, p_j)] in the window, a draw's own data are no longer in its reference where they were taken from it.

    off_j = E[k] (N0 + n) - on_j      for n data events that were taken from the reference, as a toy's are
    off_j = E[k] N0                   for data from elsewhere

A window that weighs events by k holds as many of them as count: divided by E[k^2] / E[k] the sums behave like Poisson
numbers, where there are some. Where few are expected each event counts as one at most: at the edge of the reference
most of a window's events have small k, and a single one in its middle would count as several. Li and Ma's significance
(Astrophys. J. 272 (1983) 317, Eq. 17) of `on` events where `off` are in a sample 1/alpha times as large,

    Z^2 = 2 on ln[(1 + alpha)/alpha on/(on + off)] + 2 off ln[(1 + alpha) off/(on + off)],

takes the fluctuation of the reference into account, and the largest |Z| is the statistic, as -ln of its tail. Where
pivots are many they still do not lie densely in several dimensions, and the largest |Z| is a matter of which events
happen to be pivots: with a cluster in 5-D the verdict of twenty seeds had a spread of 0.29. The mean of the largest
few of many, one in 250, had 0.13, and a median Z lower by 0.1. A pivot that is among a toy's own data is no pivot to
it, and its window does not count: the data never have such a one. Were a toy's data left in `off`, an event of the
data beside a lonely reference event would be more surprising than any toy's: with 200 expected and 200 000 reference
events 4 sigma were then ten times too frequent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, xlogy

from lanner.model.nystrom import Basis
from lanner.typing import Array

_FEW = 3.0  # expected events in a window, up to which each counts as one
_PIVOTS_A_PLACE = 250  # so many pivots are looked at for each place whose significance is averaged
_COLUMNS = 256  # toys whose windows are looked at together


@dataclass(frozen=True, eq=False)
class LocalExcess:
    """Windows around the pivots of one width."""

    factor: Array  # of the basis: sums of phi become sums of k
    mean: Array  # (r,) E[k] under the reference
    size: Array  # (r,) what an event counts: E[k^2] / E[k], or 1 where few are expected
    expected: float  # N(0)
    worth: float  # R, or what weighted events are worth

    @classmethod
    def of(cls, basis: Basis, mean: Array, second: Array, *, expected: float, worth: float) -> LocalExcess:
        """From E[phi] and E[phi phi^T] under the reference.

        Each pivot is an event of the reference itself: no window is emptier than that.
        """
        k = np.maximum(basis.factor @ mean, 1 / worth)
        k2 = np.maximum(np.einsum("ij,ij->i", basis.factor @ second, basis.factor), 1 / worth)
        return cls(basis.factor, k, event_size(k, k2, expected), expected, worth)

    def significance(self, u: Array, own: Array | None = None, inside: Array | None = None) -> Array:
        """Z of each window, (r, B): above zero an excess.

        `own` is 1 where a pivot is an event of the data itself; `inside` is the part of a draw's data, in units of
        N(0), that was taken from the reference, (B,).
        """
        a = self.expected / self.worth
        taken = np.zeros(u.shape[1]) if inside is None else np.asarray(inside)
        change = self.factor @ u
        both = self.mean[:, None] * (self.worth + taken * self.expected)  # in the reference, the draw's data included
        is_taken = taken > 0
        on = np.maximum((change + a * both) / np.where(is_taken, 1 + a, 1.0), 0.0)
        off = both - np.where(is_taken, on, 0.0)
        z = li_ma(on / self.size[:, None], off / self.size[:, None], a)
        return np.asarray(z if own is None else np.where(own > 0, 0.0, z))

    def statistic(self, u: Array, own: Array | None = None, inside: Array | None = None) -> Array:
        """-ln of the tail beyond the largest |Z| of each column, or the mean of the largest few of many."""
        found = np.empty(u.shape[1])
        for start in range(0, u.shape[1], _COLUMNS):
            part = slice(start, start + _COLUMNS)
            of_part = (None if own is None else own[:, part], None if inside is None else inside[part])
            found[part] = largest_of(self.significance(u[:, part], *of_part))
        return found


def event_size(k: Array, k2: Array, expected: float | Array) -> Array:
    """What an event in a window counts, from E[k] and E[k^2]: E[k^2] / E[k], or 1 where few are expected."""
    size = np.minimum(k2 / k, 1.0)
    many = expected * k / size
    return np.asarray((many * size + _FEW) / (many + _FEW))


def li_ma(on: Array, off: Array, alpha: float | Array) -> Array:
    """Z of `on` events where `off` are in a sample 1/alpha times as large: above zero an excess.

    >>> li_ma(np.array([10.0, 20.0]), np.array([100.0, 100.0]), 0.1).round(3).tolist()
    [0.0, 2.616]
    """
    a, off = alpha, np.maximum(off, 1.0)
    z2 = xlogy(on, (1 + a) / a * on / (on + off)) + off * np.log((1 + a) * off / (on + off))
    return np.asarray(np.copysign(np.sqrt(2 * np.maximum(z2, 0.0)), on - a * off))


def largest_of(significance: Array) -> Array:
    """-ln of the tail beyond the largest |Z| of each column, or beyond the mean of the largest few of many."""
    z, places = np.abs(significance), max(1, len(significance) // _PIVOTS_A_PLACE)
    largest = z.max(axis=0) if places == 1 else np.partition(z, -places, axis=0)[-places:].mean(axis=0)
    return np.asarray(-log_ndtr(-largest))
