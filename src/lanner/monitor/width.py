"""One kernel width of a monitor: sums over a batch's events, and the statistics that follow from them.

Of each batch the sums of the kernel around every pivot are kept, S_j = sum_i k(x_i, p_j). They add up over batches, and
all else follows from them and from the number of events n. With the mean of the reference taken away, along the
eigenvectors of the reference's covariance (eigenvalues s_j) and by the root of n,

    v = V^T L^-1 (S - n E[k]) / n^(1/2)        q = sum_j (2 - h_j) v_j^2 / (s_j + rho),   rho = 1 / (tau^2 n)

for each deviation tau that is looked for (`inference/scales.py`): the score statistic of a test of the shape. Beside
it stand the largest local excess around a pivot (`model/local_excess.py`) and the part of the events that lies far from
all pivots, 1 - max_j k(x, p_j)^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lanner.inference.terms import poisson_log_excess
from lanner.model.backend import Values
from lanner.model.kernel import GaussianKernel, KernelColumns
from lanner.model.local_excess import event_size, largest_of, li_ma
from lanner.model.nystrom import Basis
from lanner.typing import Array

PLACES = 250  # windows for local excesses
_ROWS = 2048
_LEAST_SHARE = 0.05  # of h / 2 of a direction at the largest deviation and size, below which it is left out
_MOST_DIRECTIONS = 400
# Pivots of which others leave less than the first are rounding, and where less than the second is left of some, kernel
# values in single precision are too coarse for the directions that these span.
ROUNDING, _SINGLE = 1e-9, 1e-4
_PSEUDO = 1.0  # beside what lies far out of the reference, one event


@dataclass(frozen=True, eq=False)
class Departure:
    """What some batches or windows hold beside what the reference predicts of them, at one width."""

    along: Array  # (m, B): V^T L^-1 (S - n E[k])
    places: Array  # (places, B): S of the first pivots
    far: Array  # (B,): sums of 1 - max k^2
    mean: Array  # (places, B) or (places, 1): E[k] of these by the reference
    far_mean: Array  # (B,) or (1,)


@dataclass(frozen=True, eq=False)
class WatchedWidth:
    """What judges sums of kernel values at one width."""

    width: float
    pivots: Array  # (r, d), scaled
    places: Array  # (places, features): the first of them as they were measured
    projection: Array  # (m, r) V^T L^-1
    values: Array  # (m,) eigenvalues of the covariance of the features
    mean: Array  # (r,) E[k] over the reference
    squares: Array  # (places,) E[k^2]
    far: Array  # E and E of the square of 1 - max k^2
    deviations: tuple[float, ...]
    worth: float  # what the reference's events are worth
    single: bool = True  # whether kernel values in single precision will do
    spread: Array | None = None  # (ways, readings): how the means of good batches differ (`spread.py`)

    @classmethod
    def of(
        cls,
        basis: Basis,
        first: Array,
        second: Array,
        *,
        deviations: tuple[float, ...],
        largest: float,
        mean: Array,
        squares: Array,
        far: Array,
        places: Array,
        worth: float,
    ) -> WatchedWidth:
        """From the moments of the features; only directions that matter to batches of the `largest` size are kept."""
        values, vectors = np.linalg.eigh(second - np.outer(first, first))
        values, vectors = values[::-1], vectors[:, ::-1]
        rho = 1 / (max(deviations) ** 2 * largest)
        kept = min(_MOST_DIRECTIONS, max(1, int(np.count_nonzero(values > _LEAST_SHARE * rho))))
        projection = np.ascontiguousarray(basis.coefficients(vectors[:, :kept]).T)
        numbers = (values[:kept].copy(), mean, squares, far, deviations, worth)
        return cls(basis.kernel.width, basis.pivots, places, projection, *numbers, single=is_single(basis))

    @property
    def rank(self) -> int:
        """The number of pivots."""
        return len(self.pivots)

    @property
    def number(self) -> int:
        """How many statistics there are: those of the deviations, the local excess, and what lies far out."""
        return len(self.deviations) + 2

    @property
    def labels(self) -> list[str]:
        """What the statistics are called."""
        of_scales = [f"width {self.width:.3g}, deviation {d:g}" for d in self.deviations]
        return [*of_scales, f"largest local excess, width {self.width:.3g}", f"out of reach, width {self.width:.3g}"]

    @cached_property
    def _columns(self) -> KernelColumns:
        return KernelColumns.of(GaussianKernel(self.width), self.pivots)

    @property
    def dtype(self) -> type[np.floating]:
        """Of kernel values."""
        return np.float32 if self.single else np.float64

    @cached_property
    def _projection(self) -> Array:
        return self.projection.astype(self.dtype)

    def kernel(self, scaled: Array) -> Values:
        """k(x, p) of some events, (events, r)."""
        return self._columns.single(scaled) if self.single else self._columns(scaled)

    def sums(self, scaled: Array) -> Array:
        """Of the events of a batch: the sums of the kernel around each pivot, and at the end that of 1 - max k^2."""
        found = np.zeros(self.rank + 1)
        for start in range(0, len(scaled), _ROWS):
            k = self.kernel(scaled[start : start + _ROWS])
            found[:-1] += k.sum(axis=0, dtype=np.float64)
            found[-1] += float(np.sum(1 - np.square(k.max(axis=1), dtype=np.float64)))
        return found

    @property
    def readings(self) -> int:
        """How many numbers `read` makes of the sums of a batch."""
        return len(self.values) + len(self.squares) + 1

    def project(self, differences: Array) -> Array:
        """V^T L^-1 u of differences u of sums around pivots, (r, B)."""
        return np.asarray(self._projection @ differences.astype(self.dtype), dtype=np.float64)

    def read(self, sums: Array, sizes: Array) -> Array:
        """What the statistics are made of, (B, readings), of sums, (B, r + 1); it adds up over batches as well."""
        along = self.project(sums[:, :-1].T - sizes * self.mean[:, None])
        return np.hstack([along.T, sums[:, : len(self.squares)], sums[:, -1:]])

    def rho(self, size: float) -> float:
        """Beside the variance of a direction: below it batches of this size can tell nothing."""
        return 1 / (max(self.deviations) ** 2 * size)

    def departure(self, readings: Array, sizes: Array, off: Array | None = None) -> Departure:
        """From readings of some batches or windows, (B, readings).

        `off` is what another reference's means of places and of what is far have beside this one's, (B, places + 1).
        """
        m, places = len(self.values), len(self.squares)
        along, mean, far_mean = readings[:, :m].T, self.mean[:places, None], self.far[:1]
        if off is not None:
            mean, far_mean = mean + off[:, :-1].T, far_mean + off[:, -1]
        if self.spread is not None:
            shift = self._fitted(along, sizes) @ self.spread
            along = along - sizes * shift[:, :m].T
            mean, far_mean = mean + shift[:, m:-1].T, far_mean + shift[:, -1]
        return Departure(along, readings[:, m:-1].T, readings[:, -1], mean, far_mean)

    def _fitted(self, along: Array, sizes: Array) -> Array:
        """The strengths of the spread in each batch, (B, ways)."""
        assert self.spread is not None
        d, found = self.spread[:, : len(self.values)], np.empty((along.shape[1], len(self.spread)))
        for n in np.unique(sizes):
            here = sizes == n
            weighted = d / (self.values + self.rho(float(n)))
            found[here] = np.linalg.solve(n * weighted @ d.T + np.eye(len(d)), weighted @ along[:, here]).T
        return found

    def statistics(self, departure: Departure, sizes: Array) -> Array:
        """Every statistic of each batch, (number, B)."""
        squares = np.square(departure.along) / sizes
        # Batches of one size share their weights.
        n = sizes[:1] if (sizes == sizes[0]).all() else sizes
        s = self.values[:, None]
        found = []
        for deviation in self.deviations:
            rho = 1 / (deviation**2 * n)
            weights = (2 - s / (s + rho)) / (s + rho)
            found.append(weights[:, 0] @ squares if len(n) == 1 else np.einsum("jb,jb->b", weights, squares))
        local = largest_of(self.excesses(departure, sizes))
        return np.stack([*found, local, -self._far_log_p(departure, sizes)])

    def excesses(self, departure: Departure, sizes: Array) -> Array:
        """Z of the excess or deficit around each of the first pivots, (places, B)."""
        mean = np.maximum(departure.mean, 1 / self.worth)
        size = event_size(mean, np.maximum(self.squares[:, None], 1 / self.worth), sizes)
        on = np.maximum(departure.places, 0.0) / size
        return li_ma(on, mean * self.worth / size, sizes / self.worth)

    def predicted(self, size: float) -> Array:
        """What the first windows hold of the reference, for so many events, (places,)."""
        return np.asarray(size * np.maximum(self.mean[: len(self.squares)], 1 / self.worth))

    def _far_log_p(self, departure: Departure, sizes: Array) -> Array:
        pseudo = _PSEUDO / self.worth
        mean, square = np.maximum(departure.far_mean, 0.0) + pseudo, self.far[1] + pseudo
        size = square / mean
        return poisson_log_excess(departure.far / size, sizes * mean / size)

    def to_arrays(self) -> dict[str, Any]:
        """As arrays by name."""
        names = ("pivots", "places", "projection", "values", "mean", "squares", "far")
        numbers = {"width": self.width, "deviations": self.deviations, "worth": self.worth, "single": self.single}
        spread = {} if self.spread is None else {"spread": self.spread}
        return {name: getattr(self, name) for name in names} | {k: np.array(v) for k, v in numbers.items()} | spread

    @classmethod
    def from_arrays(cls, a: dict[str, Any]) -> WatchedWidth:
        """Read what `to_arrays` made."""
        names = ("pivots", "places", "projection", "values", "mean", "squares", "far")
        arrays: dict[str, Any] = {name: a[name] for name in names}
        numbers: dict[str, Any] = {"width": float(a["width"]), "worth": float(a["worth"]), "single": bool(a["single"])}
        return cls(**arrays, **numbers, deviations=tuple(map(float, a["deviations"])), spread=a.get("spread"))


def is_single(basis: Basis) -> bool:
    """Whether kernel values in single precision are fine enough for all directions of a basis."""
    return bool(np.square(np.diag(basis.factor)).min() > _SINGLE)
