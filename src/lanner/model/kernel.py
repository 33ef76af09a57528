"""The Gaussian kernel k(x, x') = exp(-|x - x'|^2 / 2 width^2) (Sec. 3 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist

from lanner.errors import InputError
from lanner.events.scaled_rows import Rows
from lanner.model.backend import NUMPY, Arrays, Values
from lanner.model.parallel import for_rows
from lanner.typing import Array


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
        return np.asarray(KernelColumns.of(self, y)(x))


# Distances beyond this many widths from the origin are taken as plain differences: the square of a distance times
# the rounding of double precision is then 2e-10 for all others.
_FAR = 1e3
# The logarithm of the smallest kernel value, 4e-18: beside 1 it is as good as 0 in double precision. Products of
# smaller ones underflow in single precision, where processors are slow (a second moment of 249 columns in 1-D: 10
# times).
_LEAST_LOG = -40.0


@dataclass(frozen=True)
class KernelColumns:
    """The kernel with one side fixed, laid out so that a block of rows is one product and one exp.

    -|x - c|^2 / 2 = x.c - |x|^2/2 - |c|^2/2 is the scalar product of (x, -|x|^2/2, 1) and (c, 1, -|c|^2/2).
    The three terms cancel, and their size sets the rounding error. So everything is taken relative to the centres'
    median, which a few wild values do not move, and what is far from it is done the slow way.
    """

    origin: Array
    width: float
    columns: Values  # (d + 2, m)
    far: NDArray[np.intp]  # columns of far centres
    arrays: Arrays = NUMPY

    @classmethod
    def of(cls, kernel: GaussianKernel, centers: Array, arrays: Arrays = NUMPY) -> KernelColumns:
        """Fix the centres, one a row; their columns, and the kernel's values, are where `arrays` says."""
        origin = np.median(centers, axis=0)
        c = (centers - origin) / kernel.width
        squares = np.einsum("ij,ij->i", c, c)
        columns = np.vstack([c.T, np.ones(len(c)), -0.5 * squares])
        far = np.flatnonzero(squares > _FAR**2)
        return cls(origin, kernel.width, arrays.put(np.ascontiguousarray(columns)), far, arrays)

    def __call__(self, x: Array) -> Values:
        """The matrix k(x_i, c_j), C-ordered."""
        if self.arrays.xp is not np:
            return self._elsewhere(x)
        k = self._logarithms(x)
        return np.exp(k, out=k)

    def single(self, x: Array) -> NDArray[np.float32]:
        """The same where NumPy is, in single precision from the exponential on, which is several times as fast."""
        k = self._logarithms(x).astype(np.float32)
        return np.exp(k, out=k)

    def _logarithms(self, x: Array) -> Array:
        rows, far = self._rows(x)
        k: Array = rows @ self.columns
        if len(far):
            k[far] = -0.5 * cdist(rows[far, :-2], self.columns[:-2].T, "sqeuclidean")
        if len(self.far):
            k[:, self.far] = -0.5 * cdist(rows[:, :-2], self.columns[:-2, self.far].T, "sqeuclidean")
        np.minimum(k, 0.0, out=k)  # rounding can leave a distance below zero
        return np.maximum(k, _LEAST_LOG, out=k)

    def _rows(self, x: Array) -> tuple[Array, NDArray[np.intp]]:
        """What events are in the product with the columns, and which of them are far from the origin."""
        z = (x - self.origin) / self.width
        squares = np.einsum("ij,ij->i", z, z)
        rows = np.hstack([z, -0.5 * squares[:, None], np.ones((len(z), 1))])
        return rows, np.flatnonzero(squares > _FAR**2)

    def _elsewhere(self, x: Array) -> Values:
        """The same by another library than NumPy; a block with far events is done the slow way as a whole."""
        rows, far = self._rows(x)
        xp, placed = self.arrays.xp, self.arrays.put(rows)
        if len(far) or len(self.far):
            k = xp.zeros_like(placed[:, :1] * self.columns[:1, :])
            for j in range(rows.shape[1] - 2):
                k = k - 0.5 * (placed[:, j : j + 1] - self.columns[j : j + 1, :]) ** 2
        else:
            k = placed @ self.columns
        return xp.exp(xp.clip(k, _LEAST_LOG, 0.0))


def kernel_sum(kernel: GaussianKernel, centers: Array, coefficients: Array, x: Array) -> Array:
    """f(x) = sum_j c_j k(x, center_j), block by block on all cores; one column for each column of coefficients."""
    columns = KernelColumns.of(kernel, centers)
    f = np.empty((len(x), *coefficients.shape[1:]))

    def fill(rows: slice) -> None:
        f[rows] = columns(x[rows]) @ coefficients

    for_rows(len(x), max(64, min(4096, 2**24 // (8 * len(centers)))), fill)
    return f


def pairwise_width(features: Rows, *, quantile: float = 0.9, pairs: int = 200_000, rng: np.random.Generator) -> float:
    """The paper's rule for the width: the 90th percentile of the distances between reference events.

    All pairs of a small sample, otherwise random ones among all its events: those of a few events share their
    fluctuation (2000 events left an error of 5 % in 1-D; this many pairs leave 0.3 %).
    """
    n = len(features)
    if n * (n - 1) // 2 <= pairs:
        return float(np.quantile(pdist(features[:]), quantile))
    first = rng.integers(n, size=pairs)
    second = (first + rng.integers(1, n, size=pairs)) % n
    return float(np.quantile(np.linalg.norm(features[first] - features[second], axis=1), quantile))
