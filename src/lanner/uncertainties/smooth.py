"""The functions of which log-ratios are made: polynomials of the features, and kernels for what those leave.

Variations of detectors and theory are mostly smooth: the log-ratio of an energy scale is nearly linear in an
exponential spectrum, quadratic in a peak, constant in a power law. So each feature has the terms z, z^2, asinh z and
its square, each pair a product of the two, and Gaussian kernels of two widths follow what is left. All are constant
beyond the range of the reference (but for its last few events), so that nothing grows where nothing was learned.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.events import Scaling
from lanner.model.features import PRECISIONS
from lanner.model.kernel import GaussianKernel, pairwise_width
from lanner.model.nystrom import Basis, choose_pivots
from lanner.model.parallel import for_rows
from lanner.typing import Array

_BEYOND = 10  # events beyond each end of the range within which functions vary
_WIDTHS = (0.7, 0.25)  # of the kernels, in units of the 90th percentile of distances between events
_CANDIDATES = 2000
_RANKS = (100, 300)  # of each kernel, the more the more events there are
_TRACE_ERROR = 1e-4
_PAIRED = 14  # features, up to which pairs have their products
_CENTRAL = (0.16, 0.84)
_ROWS = 8192
_STRETCHES = 256


@dataclass(frozen=True, eq=False)
class Smooth:
    """Functions psi(x) = (1, linear terms, other polynomials, kernels) of events in their own units."""

    scaling: Scaling
    low: Array  # the range of scaled columns
    high: Array
    center: Array  # z = (scaled - center) / spread
    spread: Array
    mean: Array  # of each polynomial term, over the reference
    deviation: Array
    kept: NDArray[np.bool_]  # terms that vary
    bases: tuple[Basis, ...]

    @classmethod
    def choose(cls, reference: Array, scaling: Scaling, *, rng: np.random.Generator, memory: int) -> Smooth:
        """Functions that suit a reference, given its features in their own units."""
        scaled = scaling.apply(reference)
        beyond = min(_BEYOND, len(scaled) // 20) / len(scaled)
        low, high = np.quantile(scaled, (beyond, 1 - beyond), axis=0)
        scaled = np.clip(scaled, low, high)
        below, center, above = np.quantile(scaled, (_CENTRAL[0], 0.5, _CENTRAL[1]), axis=0)
        spread = (above - below) / 2
        spread = np.where(spread > 0, spread, scaled.std(axis=0))
        spread = np.where(spread > 0, spread, 1.0)
        mean, deviation = _mean_and_deviation((scaled - center) / spread)
        kept = deviation > 1e-9 * (1 + np.abs(mean))
        candidates = scaled[rng.choice(len(scaled), min(_CANDIDATES, len(scaled)), replace=False)]
        width = pairwise_width(scaled, rng=rng) or 1.0
        rank = int(np.clip(len(scaled) ** 0.5 / 2, *_RANKS))
        bases = tuple(
            choose_pivots(
                candidates,
                GaussianKernel(part * width),
                trace_error=_TRACE_ERROR,
                max_rank=rank,
                rng=rng,
                memory=memory,
            )
            for part in _WIDTHS
        )
        return cls(scaling, low, high, center, spread, mean[kept], deviation[kept], kept, bases)

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """How many functions are constants, linear terms, other polynomials and kernels."""
        linear = int(self.kept[: len(self.center)].sum())
        return 1, linear, len(self.mean) - linear, sum(basis.rank for basis in self.bases)

    @property
    def groups(self) -> NDArray[np.intp]:
        """Which functions are relevant together: linear terms, other terms of each column, products, each kernel."""
        d = len(self.center)
        pairs = len(self.kept) - 4 * d
        terms = np.concatenate([np.arange(d), np.tile(d + np.arange(d), 3), 2 * d + np.arange(pairs)])[self.kept]
        kernels = np.repeat(2 * d + pairs + np.arange(len(self.bases)), [basis.rank for basis in self.bases])
        return np.unique(np.concatenate([[-1], terms, kernels]), return_inverse=True)[1]

    @property
    def number(self) -> int:
        """How many functions there are."""
        return sum(self.sizes)

    def __call__(self, features: Array) -> Array:
        """psi of events, (events, functions)."""
        scaled = np.clip(self.scaling.apply(features), self.low, self.high)
        terms = (_terms((scaled - self.center) / self.spread)[:, self.kept] - self.mean) / self.deviation
        return np.hstack([np.ones((len(scaled), 1)), terms, *(basis.features(scaled) for basis in self.bases)])

    def sums(self, features: Array, coefficients: Array) -> Array:
        """psi(x) . c for each column of coefficients, (events, columns), block by block on all cores."""
        out = np.empty((len(features), coefficients.shape[1]))

        def fill(rows: slice) -> None:
            out[rows] = self(features[rows]) @ coefficients

        for_rows(len(features), _ROWS // 4, fill)
        return out

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What `from_arrays` makes the same functions of."""
        arrays: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in _PLAIN}
        arrays["scaling"] = np.array(json.dumps(self.scaling.to_dict()))
        for k, basis in enumerate(self.bases):
            arrays |= {
                f"width{k}": np.array(basis.kernel.width),
                f"pivots{k}": basis.pivots,
                f"factor{k}": basis.factor,
            }
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Smooth:
        """The functions that were kept."""
        bases = tuple(
            Basis(GaussianKernel(float(arrays[f"width{k}"])), arrays[f"pivots{k}"], arrays[f"factor{k}"], 0.0)
            for k in range(len(_WIDTHS))
        )
        scaling = Scaling.from_dict(json.loads(str(arrays["scaling"])))
        return cls(scaling, **{name: arrays[name] for name in _PLAIN}, bases=bases)


_PLAIN = ("low", "high", "center", "spread", "mean", "deviation", "kept")


@dataclass(frozen=True, eq=False)
class Part:
    """Some events with their weights and psi, which is stored where it fits and computed again where it does not."""

    smooth: Smooth
    features: Array
    weights: Array
    edges: NDArray[np.intp]  # of its stretches
    stored: bool

    def __len__(self) -> int:
        return len(self.features)

    def psi(self, rows: slice) -> Array:
        """psi of some rows."""
        return self._all[rows] if self.stored else self.smooth(self.features[rows])

    def sums(self, coefficients: Array) -> Array:
        """psi . c of the events, for each column of coefficients."""
        if not self.stored:
            return self.smooth.sums(self.features, coefficients)
        return np.asarray(self._all @ coefficients.astype(self._all.dtype), dtype=np.float64)

    @cached_property
    def _all(self) -> Array:
        # Single precision: sums over a block are rounded to 1e-6 of their own size.
        out = np.empty((len(self), self.smooth.number), dtype=PRECISIONS["single"])

        def fill(rows: slice) -> None:
            out[rows] = self.smooth(self.features[rows])

        for_rows(len(self), _ROWS // 4, fill)
        return out


def halves(events: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows of each half: every other one of 256 stretches of events.

    Where two samples hold the same events at other values, an event is in the same half of both, or nearly always so
    where some events left the selection; and a process that fills more than a hundredth of a file is in both halves.

    >>> [half.tolist() for half in halves(5)]
    [[0, 2, 4], [1, 3]]
    """
    odd = _stretches(events) % 2 == 1
    return np.flatnonzero(~odd), np.flatnonzero(odd)


def stretch_edges(events: int, half: int) -> NDArray[np.intp]:
    """Where the stretches of a half begin among its rows, and where the last one ends.

    >>> stretch_edges(512, 0)[:4].tolist()
    [0, 2, 4, 6]
    """
    inside = _stretches(events)
    inside = inside[inside % 2 == half]
    return np.concatenate([[0], np.flatnonzero(np.diff(inside)) + 1, [len(inside)]]).astype(np.intp)


def _stretches(events: int) -> NDArray[np.intp]:
    return np.arange(events) * min(_STRETCHES, events) // events


def _terms(z: Array) -> Array:
    d = z.shape[1]
    first, second = np.triu_indices(d, 1) if d <= _PAIRED else (np.empty(0, np.intp),) * 2
    a = np.arcsinh(z)  # as z near 0, as a logarithm far out
    return np.hstack([z, z**2, a, a**2, a[:, first] * a[:, second]])


def _mean_and_deviation(z: Array) -> tuple[Array, Array]:
    terms = _terms(z[:: max(1, len(z) // 200_000)])
    return terms.mean(axis=0), terms.std(axis=0)
