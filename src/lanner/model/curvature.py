"""Moments of the features, sum_i c_i phi_i and sum_i c_i phi_i phi_i^T, in double precision."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from lanner.errors import NotConvexError
from lanner.model.features import Features
from lanner.model.kernel import Array
from lanner.model.rows import blocks

_ROWS = 16384


def second_moment(features: Features, weights: Array | None = None, rows: slice | None = None) -> Array:
    """sum_i c_i phi_i phi_i^T over some rows, with weights c (of those rows) that may be negative."""
    return moments(features, weights, rows)[1]


def moments(features: Features, weights: Array | None = None, rows: slice | None = None) -> tuple[Array, Array]:
    """sum_i c_i phi_i and sum_i c_i phi_i phi_i^T over some rows.

    The one step whose cost is n r^2. BLAS uses all cores, and a matrix times its own transpose half the work.
    Streamed blocks are whitened first: whitening K^T K instead would square the condition of the kernel matrix.
    """
    rows = rows or slice(0, len(features))
    r = features.basis.rank
    first, total = np.zeros(r), np.zeros((r, r))
    for part in blocks(rows.stop - rows.start, min(_ROWS, features.max_rows)):
        block = features.phi_block(slice(rows.start + part.start, rows.start + part.stop))
        if weights is None:
            first += block.sum(axis=0, dtype=np.float64)
            total += block.T @ block
            continue
        c = weights[part]
        if not c.all():
            block, c = block[c != 0], c[c != 0]
        first += c @ block
        scaled = block * np.sqrt(np.abs(c)).astype(block.dtype)[:, None]
        if (c < 0).any():
            positive = scaled[c >= 0]
            negative = scaled[c < 0]
            total += positive.T @ positive
            total -= negative.T @ negative
        else:
            total += scaled.T @ scaled
    return first, total


def feature_sum(features: Features, weights: Array | None, rows: slice) -> Array:
    """sum_i c_i phi_i over some rows."""
    first = np.zeros(features.basis.rank)
    for part in blocks(rows.stop - rows.start, min(_ROWS, features.max_rows)):
        block = features.phi_block(slice(rows.start + part.start, rows.start + part.stop))
        first += block.sum(axis=0, dtype=np.float64) if weights is None else weights[part] @ block
    return first


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


@dataclass(frozen=True, eq=False)
class Moments:
    """First and second moments of the features under the null."""

    mean: Array  # E[phi]
    second: Array  # E[phi phi^T]

    @classmethod
    def of(cls, features: Features, weights: Array | None = None, rows: slice | None = None) -> Moments:
        """Of some rows, weighted or not."""
        rows = rows or slice(0, len(features))
        first, second = moments(features, weights, rows)
        total = rows.stop - rows.start if weights is None else float(weights.sum())
        return cls(first / total, second / total)

    @cached_property
    def eigenbasis(self) -> Eigenbasis:
        """The eigenvectors of the second moment."""
        return Eigenbasis.of(self.mean, self.second)


class Factored:
    """The Cholesky factor of curvature + ridge: the preconditioner that all fits share.

    Without negative weights (`convex`) a factor that fails is a matter of rounding, which single precision leaves at
    about 1e-7 of the largest entry: as little as needed is then added to the diagonal.
    """

    def __init__(self, curvature: Array, ridge: float, *, convex: bool) -> None:
        diagonal = np.arange(len(curvature))
        largest = float(np.abs(curvature).max())
        for extra in (0.0, *(largest * 10.0**k for k in range(-8, -2) if convex)):
            h = curvature.copy()
            h[diagonal, diagonal] += ridge + extra
            try:
                self._factor = cho_factor(h, lower=True, overwrite_a=True, check_finite=False)
                return
            except LinAlgError:
                continue
        lowest = float(np.linalg.eigvalsh(curvature)[0])
        raise NotConvexError(
            f"negative event weights make the loss concave in some direction (curvature {lowest:.3g}, "
            f"penalty {ridge:.3g}); raise the penalty or the width, or merge negative-weight events "
            "with their neighbours"
        )

    def solve(self, g: Array) -> Array:
        """(curvature + ridge)^-1 g."""
        return cho_solve(self._factor, g, check_finite=False)  # type: ignore[no-any-return]
