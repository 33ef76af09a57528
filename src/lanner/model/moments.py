"""Moments of the features, sum_i c_i phi_i and sum_i c_i phi_i phi_i^T, in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from lanner.errors import NotConvexError
from lanner.model.backend import NUMPY, Arrays, Values
from lanner.model.features import Features
from lanner.model.parallel import blocks
from lanner.model.splits import ALWAYS, NEVER, Splits
from lanner.typing import Array

_ROWS = 16384
# Rows for second moments, whose cost is rows r^2: their relative error is then a thousandth, and they are the curvature
# from which fits set out, not where they arrive.
MOST_ROWS = 2**20
_DOUBLE = np.dtype(np.float64)


def second_moment(features: Features, weights: Array | None = None, rows: slice | None = None) -> Array:
    """sum_i c_i phi_i phi_i^T over some rows, with weights c (of those rows) that may be negative."""
    return moments(features, weights, rows)[1]


def moments(features: Features, weights: Array | None = None, rows: slice | None = None) -> tuple[Array, Array]:
    """sum_i c_i phi_i and sum_i c_i phi_i phi_i^T over some rows.

    The one step whose cost is n r^2. BLAS uses all cores, and a matrix times its own transpose half the work.
    Streamed blocks are whitened first: whitening K^T K instead would square the condition of the kernel matrix.
    """
    rows = rows or slice(0, len(features))
    sums = MomentSums(features.rank, features.arrays, features.dtype)
    for part in blocks(rows.stop - rows.start, min(_ROWS, features.max_rows)):
        c = None if weights is None else weights[part]
        if c is not None and not c.any():
            continue
        block = features.phi_block(slice(rows.start + part.start, rows.start + part.stop))
        if c is not None and not c.all():
            block, c = features.arrays.take(block, np.flatnonzero(c), axis=0), c[c != 0]
        sums.add(block, c)
    return sums.host()


class MomentSums:
    """First and second moments that blocks of features are added to, in double precision."""

    def __init__(self, rank: int, arrays: Arrays, dtype: np.dtype[Any]) -> None:
        self._arrays, self._dtype = arrays, dtype
        self._first, self._second = arrays.zeros((rank,), _DOUBLE), arrays.zeros((rank, rank), _DOUBLE)

    def add(self, block: Values, c: Array | None) -> None:
        """Some more rows, with weights or without."""
        arrays = self._arrays
        self._first += _row_sum(arrays, block, c)
        if c is None:
            self._second += block.T @ block
            return
        scaled = block * arrays.put(np.sqrt(np.abs(c))[:, None], self._dtype)
        if (c < 0).any():
            positive = arrays.take(scaled, np.flatnonzero(c >= 0), axis=0)
            negative = arrays.take(scaled, np.flatnonzero(c < 0), axis=0)
            self._second += positive.T @ positive
            self._second -= negative.T @ negative
        else:
            self._second += scaled.T @ scaled

    def host(self) -> tuple[Array, Array]:
        """The sums so far."""
        return self._arrays.get(self._first), self._arrays.get(self._second)


def _thinned(weights: Array | None, rows: int) -> Array | None:
    """Weights that leave out whole blocks of rows, evenly, where there are more than `MOST_ROWS`."""
    used = rows if weights is None else int(np.count_nonzero(weights))
    if used <= MOST_ROWS:
        return weights
    thinned = np.ones(rows) if weights is None else weights.copy()
    step = -(-used // MOST_ROWS)
    for block, part in enumerate(blocks(rows, _ROWS)):
        if block % step:
            thinned[part] = 0.0
    return thinned


def _thinned_labels(labels: NDArray[np.int8]) -> NDArray[np.int8]:
    """Labels that leave out an even part of the rows, where more than `MOST_ROWS` have one."""
    used = np.flatnonzero(labels != NEVER)
    if len(used) <= MOST_ROWS:
        return labels
    thinned = np.full_like(labels, NEVER)
    kept = used[:: -(-len(used) // MOST_ROWS)]
    thinned[kept] = labels[kept]
    return thinned


def feature_sum(features: Features, weights: Array | None, rows: slice) -> Array:
    """sum_i c_i phi_i over some rows."""
    arrays = features.arrays
    first = arrays.zeros((features.rank,), _DOUBLE)
    for part in blocks(rows.stop - rows.start, min(_ROWS, features.max_rows)):
        block = features.phi_block(slice(rows.start + part.start, rows.start + part.stop))
        first += _row_sum(arrays, block, None if weights is None else weights[part])
    return arrays.get(first)


def _row_sum(arrays: Arrays, block: Values, weights: Array | None) -> Values:
    """sum_i c_i phi_i of a block, in double precision."""
    if weights is None:
        return arrays.xp.sum(block, axis=0, dtype=arrays.dtype(_DOUBLE))
    return arrays.put(weights) @ arrays.cast(block, _DOUBLE)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The moments of the features under the reference, in the eigenbasis of the second."""

    values: Array  # eigenvalues of E[phi phi^T], falling
    means: Array  # E[phi] along their eigenvectors


@dataclass(frozen=True, eq=False)
class Eigenbasis:
    """The eigenvectors of the features' second moment, and the moments along them."""

    spectrum: Spectrum
    vectors: Array  # (r, r), a column each

    @classmethod
    def of(cls, first: Array, second: Array) -> Eigenbasis:
        """Of E[phi] and E[phi phi^T]: r^3, so taken once."""
        values, vectors = np.linalg.eigh(second)
        vectors = np.ascontiguousarray(vectors[:, ::-1])
        return cls(Spectrum(values[::-1].copy(), first @ vectors), vectors)

    @property
    def moments(self) -> Moments:
        """The moments that it is the eigenbasis of."""
        spectrum, vectors = self.spectrum, self.vectors
        return Moments(vectors @ spectrum.means, (vectors * spectrum.values) @ vectors.T)


@dataclass(frozen=True, eq=False)
class Moments:
    """First and second moments of the features under the null."""

    mean: Array  # E[phi]
    second: Array  # E[phi phi^T]

    @classmethod
    def of(cls, features: Features, weights: Array | None = None, rows: slice | None = None) -> Moments:
        """Of some rows, weighted or not; of very many, of an even part of them, which gives the same to a percent."""
        rows = rows or slice(0, len(features))
        weights = _thinned(weights, rows.stop - rows.start)
        first, second = moments(features, weights, rows)
        total = rows.stop - rows.start if weights is None else float(weights.sum())
        return cls(first / total, second / total)

    @classmethod
    def by_split(cls, features: Features, splits: Splits, weights: Array | None) -> list[Moments]:
        """Of each split in turn: one pass over the rows, each added to the moments of its block."""
        labels, arrays = _thinned_labels(splits.labels), features.arrays
        totals = dict.fromkeys(range(ALWAYS, splits.blocks), 0.0)
        sums = {label: MomentSums(features.rank, arrays, features.dtype) for label in totals}
        for part in blocks(len(labels), min(_ROWS, features.max_rows)):
            if (labels[part] == NEVER).all():
                continue
            block = features.phi_block(part)
            for label in totals:
                chosen = np.flatnonzero(labels[part] == label)
                if len(chosen):
                    c = None if weights is None else weights[part][chosen]
                    totals[label] += len(chosen) if c is None else float(c.sum())
                    sums[label].add(arrays.take(block, chosen, axis=0), c)
        return cls.joined({label: sums[label].host() for label in totals}, totals, splits)

    @classmethod
    def joined(
        cls, sums: Mapping[int, tuple[Array, Array]], totals: Mapping[int, float], splits: Splits | None
    ) -> list[Moments]:
        """Of each split, from the sums over the rows of each label; without splits, of all labels together."""
        always = [label for label in sums if label == ALWAYS]
        labels = [list(sums)] if splits is None else [[*always, *np.flatnonzero(s)] for s in splits.shaping]
        made = []
        for some in labels:
            total = sum(totals[k] for k in some)
            first, second = (sum(sums[k][part] for k in some) / total for part in (0, 1))
            made.append(cls(np.asarray(first), np.asarray(second)))
        return made

    @cached_property
    def eigenbasis(self) -> Eigenbasis:
        """The eigenvectors of the second moment."""
        return Eigenbasis.of(self.mean, self.second)


class Factored:
    """The Cholesky factor of curvature + ridge: the preconditioner that all fits share.

    Without negative weights (`convex`) a factor that fails is a matter of rounding, which single precision leaves at
    about 1e-7 of the largest entry: as little as needed is then added to the diagonal.
    """

    def __init__(self, curvature: Array, ridge: float, *, convex: bool, arrays: Arrays = NUMPY) -> None:
        self._arrays = arrays
        diagonal = np.arange(len(curvature))
        largest = float(np.abs(curvature).max())
        for extra in (0.0, *(largest * 10.0**k for k in range(-8, -2) if convex)):
            h = curvature.copy()
            h[diagonal, diagonal] += ridge + extra
            try:
                self._lower = self._factored(h)
                return
            except LinAlgError:
                continue
        lowest = float(np.linalg.eigvalsh(curvature)[0])
        raise NotConvexError(
            f"negative event weights make the loss concave in some direction (curvature {lowest:.3g}, "
            f"penalty {ridge:.3g}); raise the penalty or the width, or merge negative-weight events "
            "with their neighbours"
        )

    def _factored(self, h: Array) -> Values:
        if self._arrays.xp is np:
            return cho_factor(h, lower=True, overwrite_a=True, check_finite=False)[0]
        return self._arrays.cholesky(h)

    def solve(self, g: Values) -> Values:
        """(curvature + ridge)^-1 g."""
        if self._arrays.xp is np:
            return cho_solve((self._lower, True), g, check_finite=False)
        half = self._arrays.triangular(self._lower, g)
        return self._arrays.triangular(self._lower, half, transposed=True)
