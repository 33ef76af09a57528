"""The reference at some values of the nuisance parameters, and what a toy's own fit of them needs of it.

Toys are made at the values nu^ that fit the data best. Their data are drawn from the reference in proportion to
v = w r(x; nu^), by hit-or-miss: an event is accepted with the chance v / c, once for all toys. A toy takes a random
part of the reference, of which the accepted events are its data and none is its reference; so both follow what they
should, and share no event. The few events with v above c would waste the others: they are heavy, and a toy takes a
number of them, each in proportion to its v, one by one.

Each toy then has an auxiliary measurement a ~ Normal(nu^, 1) and a fit of nu of its own. For that it needs sums over
its data of the slopes d and curvatures e of log r, and over its reference of v times powers of these, all at nu^: the
toy's nu differs from nu^ by no more than data can tell, so that terms of fourth order are below the fluctuations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.typing import Array
from lanner.uncertainties.effects import Effects, Nuisances

_HEAVY = 0.02  # the share of the events that are taken one by one
_LARGEST = 100.0  # the largest v over its mean: beyond, single events would rule
_FEW = 5  # nuisances, up to which third powers of several together are taken
_KEPT = 10_000_000  # numbers, 80 MB, that are kept to be asked for again
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
    bound: float  # c

    @classmethod
    def at(
        cls, nuisances: Nuisances, nu: Array, effects: Effects, weights: Array, rng: np.random.Generator
    ) -> VariedReference:
        """With the effects of the nuisances on the events, and random numbers for hit-or-miss."""
        log_r, slopes, curvatures = effects.at(nu)
        varied = weights * np.exp(log_r)
        bound, largest = float(np.quantile(varied, 1 - _HEAVY)), float(varied.max())
        if not np.isfinite(largest) or largest > _LARGEST * float(varied.mean()):
            raise InputError(
                f"at the nuisance parameters that fit the data best ({_in_words(nuisances, nu)}) the largest weight of "
                f"a reference event is {largest / float(varied.mean()):.3g} times the mean: no toys can be drawn from "
                "such a reference; check the variations, or use a reference of more even weights"
            )
        accepted = rng.random(len(varied)) < varied / bound
        return cls(nuisances, nu, weights, varied, slopes, curvatures, accepted, bound)

    @property
    def heavy(self) -> NDArray[np.bool_]:
        """Events that are taken one by one."""
        return self.varied > self.bound

    @property
    def efficiency(self) -> float:
        """The share of the other events that is accepted."""
        light = self.varied[~self.heavy]
        return float(light.mean() / self.bound)

    @property
    def growth(self) -> float:
        """The yield at nu^ over that at the central values."""
        return float(self.varied.sum() / self.weights.sum())

    @cached_property
    def monomials(self) -> Monomials:
        """The powers of delta = nu - nu^ in which sums over the reference are expanded."""
        return Monomials.of(len(self.nu))

    def columns(self, events: NDArray[np.intp]) -> Array:
        """v times what multiplies each power of delta in r(x; nu^ + delta) / r(x; nu^), (events, powers).

        Their sums over a reference times the powers are the sum of w r(x; nu^ + delta).
        """
        if self._all_columns is not None:
            return self._all_columns[events]
        return self._columns(events)

    @cached_property
    def _all_columns(self) -> Array | None:
        """Of all events, where they are few: every width asks for them."""
        number = len(self.varied)
        if number * len(self.monomials.exponents) > _KEPT:
            return None
        return self._columns(slice(0, number))

    def _columns(self, events: NDArray[np.intp] | slice) -> Array:
        d, e = self.slopes[events], self.curvatures[events]
        each = [np.ones_like(d), d, (d**2 + e) / 2, (d**3 + 3 * d * e) / 6]  # of delta^0 to delta^3
        found = np.repeat(self.varied[events, None], len(self.monomials.exponents), axis=1)
        for column, exponents in enumerate(self.monomials.exponents):
            for k in np.flatnonzero(exponents):
                found[:, column] *= each[exponents[k]][:, k]
        return np.asarray(found)


@dataclass(frozen=True, eq=False)
class Monomials:
    """Powers of several numbers: all up to the third, or of many numbers no third powers but those of one alone."""

    exponents: NDArray[np.intp]  # (powers, K), the first of them 0

    @classmethod
    def of(cls, number: int) -> Monomials:
        """Of so many numbers.

        >>> Monomials.of(2).exponents.tolist()[:6]
        [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
        >>> [len(Monomials.of(k).exponents) for k in (1, 2, 20)]
        [4, 10, 251]
        """
        chosen: list[tuple[int, ...]] = []
        for order in range(4):
            chosen += [
                which
                for which in combinations_with_replacement(range(number), order)
                if order < 3 or number <= _FEW or len(set(which)) == 1
            ]
        return cls(np.array([[which.count(k) for k in range(number)] for which in chosen], dtype=np.intp))

    def __call__(self, delta: Array) -> Array:
        """The powers of each row, (B, powers)."""
        return np.asarray(np.prod(delta[:, None, :] ** self.exponents, axis=2))

    def slopes(self, delta: Array, sums: Array) -> Array:
        """The derivatives of sum_p S_p delta^p, (B, K), for S (B, powers)."""
        return np.stack([self._derivative(delta, sums, (k,)) for k in range(delta.shape[1])], axis=1)

    def curvatures(self, delta: Array, sums: Array) -> Array:
        """The second derivatives, (B, K, K)."""
        number = delta.shape[1]
        found = np.empty((len(delta), number, number))
        for k in range(number):
            for j in range(k + 1):
                found[:, k, j] = found[:, j, k] = self._derivative(delta, sums, (k, j))
        return found

    def _derivative(self, delta: Array, sums: Array, by: tuple[int, ...]) -> Array:
        left, factor = self.exponents.copy(), np.ones(len(self.exponents))
        for k in by:
            factor = factor * left[:, k]
            left[:, k] = np.maximum(left[:, k] - 1, 0)
        used = np.flatnonzero(factor)
        return np.asarray((sums[:, used] * factor[used] * Monomials(left[used])(delta)).sum(axis=1))


def _in_words(nuisances: Nuisances, nu: Array) -> str:
    return ", ".join(f"{name} {x:+.2f}" for name, x in zip(nuisances.names, nu, strict=True))


@dataclass(frozen=True, eq=False)
class OwnFits:
    """What the fits of nu of some data sets need, and have in common."""

    monomials: Monomials
    auxiliary: Array  # (B, K): a - nu^
    slopes: Array  # (B, K): sums of d over the data
    curvatures: Array  # (B, K): sums of e
    sums: Array  # (B, powers): sums of `VariedReference.columns` over the reference
    scale: Array  # (B,): N(0) over the weight of the reference
    number: Array  # (B,): data events
    shape_only: bool = False

    def solve(self) -> Array:
        """delta = nu - nu^ of each, (B, K), by Newton's method."""
        delta = np.zeros_like(self.auxiliary)
        for _ in range(_STEPS):
            gradient, curvature = self._slope_and_curvature(delta)
            step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
            delta = delta + step
            if float(np.einsum("bk,bk->b", gradient, step).max(initial=0.0)) < _GOAL:
                break
        return delta

    def errors(self, delta: Array) -> Array:
        """What is left of each uncertainty, (B, K), from the curvature of log L."""
        covariance = np.linalg.inv(self._slope_and_curvature(delta)[1])
        return np.asarray(np.sqrt(np.maximum(np.einsum("bkk->bk", covariance), 0.0)))

    def _slope_and_curvature(self, delta: Array) -> tuple[Array, Array]:
        """Of log L, (B, K), and of minus it, (B, K, K)."""
        first = self.monomials.slopes(delta, self.sums)
        curvature = self.monomials.curvatures(delta, self.sums)
        if self.shape_only:
            total = np.einsum("bp,bp->b", self.sums, self.monomials(delta))[:, None]
            mean = first / total
            first = self.number[:, None] * mean
            curvature = self.number[:, None, None] * (
                curvature / total[:, :, None] - np.einsum("bk,bl->bkl", mean, mean)
            )
        else:
            first, curvature = self.scale[:, None] * first, self.scale[:, None, None] * curvature
        own = np.arange(delta.shape[1])
        curvature[:, own, own] += 1 - self.curvatures
        return self.slopes + self.curvatures * delta - first - (delta - self.auxiliary), curvature
