"""Closure: whether the reference, reweighted by what was learned, is the varied events, as far as the data can tell.

Each half of the events is compared with the ratio that the other half has taught. In directions e_j(x) of unit second
moment in the reference, eigenfunctions of kernels of several widths, the bias at N(0) events is, in standard
deviations of N(0) events,

    v_j = sqrt(N(0)) [ sum_varied w e_j - sum_reference w r e_j ] / sum_reference w
    T = sum_j h_j v_j^2,   h_j = s_j / (s_j + s0),   s_j the kernel's eigenvalue

v has a statistical error of its own, since the held-out events are finite. p is the probability to find T or more, by
that error, for a bias that does no harm: T of at most 1/2 without the error. T is taken for all events, and for the
halves by themselves and added, with four times the harmless T: half of the events leave twice the variance in what is
learned from them. (In the sum over all events the fluctuations that one half has learned cancel those of the other; in
the halves by themselves they do not.) The p-values of all widths are combined by their harmonic mean.

A closure that could not have failed is worth nothing. By the fluctuations of the data T varies by 2 sum_j h_j^2, by the
error of v, with variances n_j in its principal directions, by 2 sum_j n_j^2. The resolution is the fourth root of the
ratio: the error of v in a direction, where it is the same in all. Up to 0.225 a bias of twice the size that does no
harm differs from that by three errors. What was learned is not off by more than v, since it is learned from as many
events and regularised; so that its own error then adds at most 0.05 to the variance of the data in any direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ncx2, norm

from lanner.events import Scaling
from lanner.model.kernel import GaussianKernel, pairwise_width
from lanner.model.nystrom import Basis, choose_pivots
from lanner.typing import Array
from lanner.uncertainties.pulls import Binning, FeaturePulls

LEVEL = 0.01  # at which closures warn, shared out over all of them
_HARMLESS = 0.5  # T of a bias that does no harm
RESOLUTION = 0.225  # beyond which a bias of twice the harmless size could go unnoticed
_WIDTHS = (1.0, 0.4, 0.15, 0.05)  # in units of the 90th percentile of distances between events
STEPS = len(_WIDTHS)  # of progress, at most
_CANDIDATES, _RANK, _DIRECTIONS, _LEAST_EIGENVALUE = 2000, 100, 40, 1e-3
_COVARIANCE_ROWS = 20_000  # events of each half that tell the error of v
_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Events:
    """Some events, in their own units, with their weights."""

    features: Array
    weights: Array
    edges: NDArray[np.intp]  # of stretches of events, which hold nearly the same events as those of another sample


@dataclass(frozen=True, eq=False)
class HeldOut:
    """One variation in one direction, half by half: the varied events, and r at the reference's, which r has not seen.

    The varied events are given as weights where they are the reference's own.
    """

    name: str
    direction: str  # "up" or "down"
    varied: tuple[Events | Array, Events | Array]
    ratio: tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Closure:
    """How well one variation in one direction closes."""

    name: str
    direction: str
    p_value: float  # for a bias that does no harm
    level: float  # below which it fails
    bias: float  # sqrt(T) without the part that the statistical error explains, at the width of the smallest p
    error: float  # sqrt of that part
    resolution: float  # the statistical error of the bias in a direction, as far as it hides a bias
    pulls: tuple[FeaturePulls, ...]

    @property
    def closes(self) -> bool:
        """Whether the bias is unremarkable at the statistics of the data."""
        return self.p_value >= self.level

    @property
    def tells(self) -> bool:
        """Whether the events are enough to tell a harmful bias from none."""
        return self.resolution <= RESOLUTION

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        plain = {name: getattr(self, name) for name in ("name", "direction", "p_value", "level", "bias", "error")}
        more = {"resolution": self.resolution, "closes": self.closes, "tells": self.tells}
        return plain | more | {"pulls": [pulls.to_dict() for pulls in self.pulls]}

    def __str__(self) -> str:
        words = "closes" if self.closes else "does not close"
        size = f"bias {self.bias:.2g} (error {self.error:.2g})"
        return f"{self.name!r} {self.direction} {words}: p = {self.p_value:.2g}, {size}"


@dataclass(frozen=True, eq=False)
class _Scale:
    """Directions at one width: e(x) = phi(x) rotation, and h."""

    scaling: Scaling
    basis: Basis
    rotation: Array
    filter: Array

    def __call__(self, features: Array) -> Array:
        return np.asarray(self.basis.features(self.scaling.apply(features)) @ self.rotation)


def close(
    reference: Sequence[Events],
    held_out: Sequence[HeldOut],
    *,
    names: Sequence[str],
    expected: float,
    scaling: Scaling,
    rng: np.random.Generator,
    memory: int,
    told: Callable[[], None] = lambda: None,
) -> tuple[Closure, ...]:
    """Closure of each variation, given the halves of the reference; `told` is called after each of the `STEPS`."""
    scales = _scales(reference, scaling, rng, memory)
    totals = [float(half.weights.sum()) for half in reference]
    found: list[list[_Test]] = [[] for _ in held_out]
    for scale in scales:
        shared = [_Shared.of(scale, half) for half in reference]
        for one, tests in zip(held_out, found, strict=True):
            sums, errors = zip(*(shared[k].difference(one, k) for k in (0, 1)), strict=True)
            parts = [_judged(scale, sums[k], errors[k], totals[k], expected) for k in (0, 1)]
            whole = _judged(scale, sums[0] + sums[1], errors[0] + errors[1], sum(totals), expected)
            tests.append(_Test.of(parts, whole, scale.filter))
        told()
    for _ in range(STEPS - len(scales)):
        told()
    level = LEVEL / max(len(held_out), 1)
    binning = Binning.of(names, [half.features for half in reference])
    closures = []
    for one, tests in zip(held_out, found, strict=True):
        p_values = np.maximum([p for test in tests for p in test.p_values], 1e-300)
        p = min(1.0, len(p_values) / float(np.sum(1 / p_values)))
        worst = min(tests, key=lambda test: min(test.p_values))
        resolution = max(test.resolution for test in tests)
        pulls = binning.pulls(
            [half.weights * r for half, r in zip(reference, one.ratio, strict=True)],
            [part.features if isinstance(part, Events) else None for part in one.varied],
            [part.weights if isinstance(part, Events) else part for part in one.varied],
            total=sum(totals),
            expected=expected,
        )
        closures.append(Closure(one.name, one.direction, p, level, worst.bias, worst.error, resolution, pulls))
    return tuple(closures)


def _judged(scale: _Scale, u: Array, covariance: Array, total: float, expected: float) -> tuple[float, Array]:
    """T, and the variances of v in its principal directions, h included."""
    root = scale.filter**0.5
    noise = np.linalg.eigvalsh(covariance * (expected / total**2) * np.outer(root, root))
    return expected * float(scale.filter @ (u / total) ** 2), np.maximum(noise, 0.0)


@dataclass(frozen=True)
class _Test:
    """What one width says of one variation."""

    p_values: tuple[float, float]  # of the halves together, and of all events
    bias: float
    error: float
    resolution: float

    @classmethod
    def of(cls, parts: Sequence[tuple[float, Array]], whole: tuple[float, Array], h: Array) -> _Test:
        """From T and its noise, of each half and of all events."""
        apart, noise_apart = sum(size for size, _ in parts), np.concatenate([noise for _, noise in parts])
        size, noise = whole
        p_values = (upper_tail(apart, noise_apart, 4 * _HARMLESS), upper_tail(size, noise, _HARMLESS))
        # The halves have twice the variance that their average has, each.
        square = max((apart - float(noise_apart.sum())) / 4, size - float(noise.sum()), 0.0)
        resolution = (float(noise @ noise) / float(h @ h)) ** 0.25
        return cls(p_values, square**0.5, float(noise.sum()) ** 0.5, resolution)


@dataclass(frozen=True, eq=False)
class _Shared:
    """What all variations share at one width: the directions of the reference's events of one half."""

    scale: _Scale
    half: Events
    e: Array  # (events, directions)
    some: NDArray[np.intp]  # rows that tell the error

    @classmethod
    def of(cls, scale: _Scale, half: Events) -> _Shared:
        e = np.concatenate([scale(half.features[i : i + _ROWS]) for i in range(0, len(half.features), _ROWS)])
        return cls(scale, half, e, _some(len(e)))

    def difference(self, one: HeldOut, k: int) -> tuple[Array, Array]:
        """The sum over varied events minus that over the reweighted reference, and its covariance."""
        varied, reweighted = one.varied[k], self.half.weights * one.ratio[k]
        some, part = self.some, len(self.e) / len(self.some)
        if not isinstance(varied, Events):
            left = varied - reweighted
            d = self.e[some] * left[some, None]
            return self.e.T @ left, part * (d.T @ d)
        x, w = varied.features, varied.weights
        there = np.stack([self.scale(x[a:b]).T @ w[a:b] for a, b in pairwise(varied.edges)])
        here = np.stack([self.e[a:b].T @ reweighted[a:b] for a, b in pairwise(self.half.edges)])
        u = there.sum(axis=0) - here.sum(axis=0)
        # Whether samples hold the same events or others, the differences of parts of the two tell how far the sum can
        # be off: event by event where both have as many, otherwise stretch by stretch.
        if len(x) == len(self.e):
            d = self.scale(x[some]) * w[some, None] - self.e[some] * reweighted[some, None]
            return u, part * (d.T @ d)
        if len(here) == len(there):
            d = there - here
            return u, d.T @ d
        return u, there.T @ there + here.T @ here


def upper_tail(size: float, noise: Array, harmless: float) -> float:
    """P(Q >= size) of Q = |b + n|^2, n normal with the variances `noise`, |b|^2 = harmless in the noisiest direction.

    By four moments (Liu, Tang and Zhang 2009).

    >>> round(upper_tail(3.84, np.ones(1), 0.0), 3), round(upper_tail(18.3, np.ones(10), 0.0), 3)
    (0.05, 0.05)
    """
    largest = float(noise.max(initial=0.0))
    if largest == 0.0:
        return float(size <= harmless)
    c = [float(np.sum(noise**k)) + k * largest ** (k - 1) * harmless for k in (1, 2, 3, 4)]
    standard = (size - c[0]) / (2 * c[1]) ** 0.5
    skewness, tail = c[2] / c[1] ** 1.5, c[3] / c[1] ** 2
    if skewness < 1e-3:
        return float(norm.sf(standard))
    a = 1 / (skewness - (skewness**2 - tail) ** 0.5) if skewness**2 > tail else 1 / skewness
    shift = max(skewness * a**3 - a**2, 0.0) if skewness**2 > tail else 0.0
    freedom = a**2 - 2 * shift
    at = standard * 2**0.5 * a + freedom + shift
    return float(ncx2.sf(at, freedom, shift)) if at > 0 else 1.0


def _some(events: int) -> NDArray[np.intp]:
    return np.arange(0, events, max(1, events // _COVARIANCE_ROWS))


def _scales(reference: Sequence[Events], scaling: Scaling, rng: np.random.Generator, memory: int) -> list[_Scale]:
    features = np.concatenate([half.features[_some(len(half.features))] for half in reference])
    weights = np.concatenate([half.weights[_some(len(half.features))] for half in reference])
    scaled = scaling.apply(features)
    candidates = scaled[rng.choice(len(scaled), min(_CANDIDATES, len(scaled)), replace=False)]
    width = pairwise_width(scaled, rng=rng) or 1.0
    scales = []
    for part in _WIDTHS:
        kernel = GaussianKernel(part * width)
        basis = choose_pivots(candidates, kernel, trace_error=1e-3, max_rank=_RANK, rng=rng, memory=memory)
        phi = basis.features(scaled)
        s, vectors = np.linalg.eigh(phi.T @ (phi * (weights / weights.sum())[:, None]))
        kept = np.flatnonzero(s > _LEAST_EIGENVALUE)[-_DIRECTIONS:]
        if not len(kept):
            break  # so narrow that hardly any event has a neighbour
        s, vectors = s[kept], vectors[:, kept]
        scales.append(_Scale(scaling, basis, vectors / s**0.5, s / (s + _LEAST_EIGENVALUE)))
    return scales
