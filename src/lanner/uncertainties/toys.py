"""The reference at some values of the nuisance parameters, and what a toy's own fit of them needs of it.

Toys are made at the values nu^ that fit the data best. Their data are drawn from the reference in proportion to
v = w r(x; nu^), by hit-or-miss: an event is accepted with the chance v / (largest v), once for all toys. A toy takes a
random part of the reference, of which the accepted events are its data and none is its reference; so both follow what
they should, and share no event.

Each toy then has an auxiliary measurement a ~ Normal(nu^, 1) and a fit of nu of its own. For that it needs sums over
its data of the slopes d and curvatures e of log r, and over its reference of v, v d and v (d d^T + e), all at nu^: the
toy's nu differs from nu^ by no more than data can tell, so that terms of third order are below the fluctuations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.typing import Array
from lanner.uncertainties.effects import Effects, Nuisances

_LARGEST = 20.0  # the largest v over its mean: beyond, hit-or-miss would leave next to nothing
_STEPS = 12
_GOAL = 1e-8


@dataclass(frozen=True, eq=False)
class VariedReference:
    """The reference events at one value of the nuisances."""

    nuisances: Nuisances
    nu: Array
    weights: Array  # w of each event
    varied: Array  # v = w r
    slopes: Array  # (events, nuisances)
    curvatures: Array
    accepted: NDArray[np.bool_]

    @classmethod
    def at(
        cls, nuisances: Nuisances, nu: Array, effects: Effects, weights: Array, rng: np.random.Generator
    ) -> VariedReference:
        """With the effects of the nuisances on the events, and random numbers for hit-or-miss."""
        log_r, slopes, curvatures = effects.at(nu)
        varied = weights * np.exp(log_r)
        largest = float(varied.max())
        if not np.isfinite(largest) or largest > _LARGEST * float(varied.mean()):
            raise InputError(
                f"at the nuisance parameters that fit the data best ({_in_words(nuisances, nu)}) the largest weight of "
                f"a reference event is {largest / float(varied.mean()):.3g} times the mean: no toys can be drawn from "
                "such a reference; check the variations, or use a reference of more even weights"
            )
        accepted = rng.random(len(varied)) < varied / largest
        return cls(nuisances, nu, weights, varied, slopes, curvatures, accepted)

    @property
    def growth(self) -> float:
        """The yield at nu^ over that at the central values."""
        return float(self.varied.sum() / self.weights.sum())

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Pairs of nuisances, each once."""
        return np.triu_indices(len(self.nu))

    def columns(self, events: NDArray[np.intp]) -> Array:
        """v times 1, d and (d d^T + e) / 2, each pair once and doubled off the diagonal: (events, 1 + K + K (K+1) / 2).

        Their sums over a reference times (1, delta, delta delta^T) are the sum of w r(x; nu^ + delta).
        """
        d, e, (i, j) = self.slopes[events], self.curvatures[events], self.pairs
        second = d[:, i] * d[:, j]
        second[:, i == j] += e
        second[:, i == j] /= 2
        return np.asarray(self.varied[events, None] * np.hstack([np.ones((len(events), 1)), d, second]))

    def powers(self, delta: Array) -> Array:
        """1, delta and delta delta^T, each pair once, as `columns` has them: (B, 1 + K + K (K+1) / 2)."""
        i, j = self.pairs
        return np.hstack([np.ones((len(delta), 1)), delta, delta[:, i] * delta[:, j]])


def _in_words(nuisances: Nuisances, nu: Array) -> str:
    return ", ".join(f"{name} {x:+.2f}" for name, x in zip(nuisances.names, nu, strict=True))


@dataclass(frozen=True, eq=False)
class OwnFits:
    """What the fits of nu of some data sets need, and have in common."""

    auxiliary: Array  # (B, K): a - nu^
    slopes: Array  # (B, K): sums of d over the data
    curvatures: Array  # (B, K): sums of e
    sums: Array  # (B, 1 + K + K (K+1) / 2): sums of `VariedReference.columns` over the reference
    scale: Array  # (B,): N(0) over the weight of the reference
    number: Array  # (B,): data events
    shape_only: bool = False

    def solve(self) -> Array:
        """delta = nu - nu^ of each, (B, K), by Newton's method."""
        _, k = self.auxiliary.shape
        i, j = np.triu_indices(k)
        delta = np.zeros_like(self.auxiliary)
        second = np.zeros((len(delta), k, k))
        pairs = self.sums[:, 1 + k :] * np.where(i == j, 2.0, 1.0)  # v (d d^T + e) itself
        second[:, i, j] = pairs
        second[:, j, i] = pairs
        own = np.arange(k)
        for _ in range(_STEPS):
            first = self.sums[:, 1 : 1 + k] + np.einsum("bkl,bl->bk", second, delta)
            curvature = np.zeros_like(second)
            if self.shape_only:
                total = self.sums[:, 0] + np.einsum("bk,bk->b", self.sums[:, 1 : 1 + k] + first, delta) / 2
                mean = first / total[:, None]
                predicted = self.number[:, None] * mean
                outer = np.einsum("bk,bl->bkl", mean, mean)
                curvature += self.number[:, None, None] * (second / total[:, None, None] - outer)
            else:
                predicted = self.scale[:, None] * first
                curvature += self.scale[:, None, None] * second
            gradient = self.slopes + self.curvatures * delta - predicted - (delta - self.auxiliary)
            curvature[:, own, own] += 1 - self.curvatures
            step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
            delta = delta + step
            if float(np.einsum("bk,bk->b", gradient, step).max(initial=0.0)) < _GOAL:
                break
        return delta
