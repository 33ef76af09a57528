"""The Gaussian kernel k(x, x') = exp(-|x - x'|^2 / 2 width^2) (Sec. 3 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from lanner.errors import InputError
from lanner.model.rows import for_rows

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GaussianKernel:
    """The kernel of a given width (the paper's sigma).

    >>> float(GaussianKernel(2.0)(np.array([[0.0]]), np.array([[2.0]]))[0, 0])  # exp(-1/2)
    0.6065306597126334
    """

    width: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.width) and self.width > 0):
            raise InputError(f"width={self.width!r}: the kernel's width must be a positive number")

    def __call__(self, x: Array, y: Array) -> Array:
        """The matrix k(x_i, y_j)."""
        return KernelColumns.of(self, y)(x)


@dataclass(frozen=True)
class KernelColumns:
    """The kernel with one side fixed, laid out so that a block of rows is one product and one exp.

    -|x - c|^2 / 2 = x.c - |x|^2/2 - |c|^2/2 is the scalar product of (x, -|x|^2/2, 1) and (c, 1, -|c|^2/2).
    Everything is taken relative to the centres' mean, because the three terms cancel and their size sets
    the rounding error.
    """

    origin: Array
    width: float
    columns: Array  # (d + 2, m)

    @classmethod
    def of(cls, kernel: GaussianKernel, centers: Array) -> KernelColumns:
        """Fix the centres, one a row."""
        origin = centers.mean(axis=0)
        c = (centers - origin) / kernel.width
        columns = np.vstack([c.T, np.ones(len(c)), -0.5 * np.einsum("ij,ij->i", c, c)])
        return cls(origin, kernel.width, np.ascontiguousarray(columns))

    def __call__(self, x: Array) -> Array:
        """The matrix k(x_i, c_j), C-ordered."""
        z = (x - self.origin) / self.width
        rows = np.hstack([z, -0.5 * np.einsum("ij,ij->i", z, z)[:, None], np.ones((len(z), 1))])
        k: Array = rows @ self.columns
        np.minimum(k, 0.0, out=k)  # rounding can leave a distance below zero
        return np.exp(k, out=k)


def kernel_sum(kernel: GaussianKernel, centers: Array, coefficients: Array, x: Array) -> Array:
    """f(x) = sum_j c_j k(x, center_j), block by block on all cores."""
    columns = KernelColumns.of(kernel, centers)
    f = np.empty(len(x))

    def fill(rows: slice) -> None:
        f[rows] = columns(x[rows]) @ coefficients

    for_rows(len(x), max(64, min(4096, 2**24 // (8 * len(centers)))), fill)
    return f


def pairwise_width(features: Array, *, quantile: float = 0.9, events: int = 2000, rng: np.random.Generator) -> float:
    """The paper's rule for the width: the 90th percentile of the distances between reference events."""
    if len(features) > events:
        features = features[rng.choice(len(features), events, replace=False)]
    return float(np.quantile(pdist(features), quantile))
