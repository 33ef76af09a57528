"""Features of a pool of events: stored where they fit the memory budget, streamed where they do not.

A solver sees either through the same three calls. It lifts its coefficients W once per pass, multiplies
block after block (`block @ lifted`, `block.T @ residual`), and lowers the sum of the latter:

- stored:   a block is Phi = K L^-T itself, in single precision; lift and lower do nothing.
- streamed: a block is K(x, pivots), made anew in double precision; L^-T is applied to the small side
            (f = K (L^-T W), gradient = L^-1 (K^T R)), so nothing is ever n x r.

Phi is built in double precision either way, because whitening amplifies rounding; stored features are then
rounded to single, which costs no more than the last digits of each.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lanner._util.machine import megabytes, require_memory
from lanner.events.scaled_rows import Rows
from lanner.model.backend import NUMPY, Arrays, Values
from lanner.model.kernel import KernelColumns
from lanner.model.nystrom import Basis
from lanner.model.parallel import blocks, for_rows
from lanner.typing import Array

log = logging.getLogger(__name__)

PRECISIONS: dict[str, np.dtype[Any]] = {"single": np.dtype(np.float32), "double": np.dtype(np.float64)}
_BUILD_ROWS = 8192  # rows whitened together: enough for the triangular solve to run at full speed
_STREAM_ROWS = 256  # the least number of rows that makes a matrix product worth its name


class Features(Protocol):
    """What a solver needs to know of the features of n events."""

    @property
    def basis(self) -> Basis:
        """The pivots behind the features."""

    @property
    def rank(self) -> int:
        """How many coefficients there are."""

    @property
    def arrays(self) -> Arrays:
        """Where blocks, coefficients and gradients are."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the blocks."""

    @property
    def storage(self) -> str:
        """How features are kept: "stored" or "streamed"."""

    @property
    def max_rows(self) -> int:
        """How many rows a block may have within the memory budget."""

    def __len__(self) -> int: ...

    def block(self, rows: slice) -> Values:
        """Some rows, to multiply with lifted coefficients."""

    def phi_block(self, rows: slice) -> Values:
        """Some rows of Phi itself."""

    def lift(self, w: Values) -> Values:
        """Coefficients of Phi as coefficients of the blocks."""

    def lower(self, g: Values) -> Values:
        """A gradient with respect to lifted coefficients as one with respect to those of Phi."""


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """Phi itself."""

    basis: Basis
    phi: Values
    dtype: np.dtype[Any]
    arrays: Arrays = NUMPY
    storage: str = "stored"
    max_rows: int = 2**62

    def __len__(self) -> int:
        return int(self.phi.shape[0])

    @property
    def rank(self) -> int:  # noqa: D102
        return int(self.phi.shape[1])

    def block(self, rows: slice) -> Values:  # noqa: D102
        return self.phi[rows, :]

    def phi_block(self, rows: slice) -> Values:  # noqa: D102
        return self.phi[rows, :]

    def lift(self, w: Values) -> Values:  # noqa: D102
        lifted = self.arrays.cast(w, self.dtype)
        return np.ascontiguousarray(lifted) if self.arrays.xp is np else lifted

    def lower(self, g: Values) -> Values:  # noqa: D102
        return g


@dataclass(frozen=True, eq=False)
class StreamedFeatures:
    """K(x, pivots), made anew in each pass."""

    basis: Basis
    events: Rows
    columns: KernelColumns
    factor: Values  # of the basis
    max_rows: int
    arrays: Arrays = NUMPY
    dtype: np.dtype[Any] = PRECISIONS["double"]
    storage: str = "streamed"

    def __len__(self) -> int:
        return len(self.events)

    @property
    def rank(self) -> int:  # noqa: D102
        return self.basis.rank

    def block(self, rows: slice) -> Values:  # noqa: D102
        return self.columns(self.events[rows])

    def phi_block(self, rows: slice) -> Values:  # noqa: D102
        return self.arrays.triangular(self.factor, self.block(rows).T, overwrite=True).T

    def lift(self, w: Values) -> Values:  # noqa: D102
        return self.arrays.triangular(self.factor, w, transposed=True)

    def lower(self, g: Values) -> Values:  # noqa: D102
        return self.arrays.triangular(self.factor, g)


@dataclass(frozen=True, eq=False)
class FurtherColumns:
    """Features beside which stand further columns, such as the slopes of nuisance parameters."""

    inner: Features
    columns: Values  # (n, K), where the features are

    def __len__(self) -> int:
        return len(self.inner)

    @property
    def basis(self) -> Basis:  # noqa: D102
        return self.inner.basis

    @property
    def rank(self) -> int:  # noqa: D102
        return self.inner.rank + int(self.columns.shape[1])

    @property
    def arrays(self) -> Arrays:  # noqa: D102
        return self.inner.arrays

    @property
    def dtype(self) -> np.dtype[Any]:  # noqa: D102
        return self.inner.dtype

    @property
    def storage(self) -> str:  # noqa: D102
        return self.inner.storage

    @property
    def max_rows(self) -> int:  # noqa: D102
        return self.inner.max_rows

    def block(self, rows: slice) -> Values:  # noqa: D102
        return self.arrays.joined([self.inner.block(rows), self.columns[rows, :]], axis=1)

    def phi_block(self, rows: slice) -> Values:  # noqa: D102
        return self.arrays.joined([self.inner.phi_block(rows), self.columns[rows, :]], axis=1)

    def lift(self, w: Values) -> Values:  # noqa: D102
        first = self.inner.rank
        lifted = self.inner.lift(w[:first, :])
        return self.arrays.joined([lifted, self.arrays.cast(w[first:, :], self.dtype)], axis=0)

    def lower(self, g: Values) -> Values:  # noqa: D102
        first = self.inner.rank
        return self.arrays.joined([self.inner.lower(g[:first, :]), g[first:, :]], axis=0)


def make_features(
    events: Rows,
    basis: Basis,
    *,
    precision: str,
    memory: int,
    arrays: Arrays = NUMPY,
    further_matrices: int = 0,
) -> StoredFeatures | StreamedFeatures:
    """Features of the events, stored if they and the work on them fit into `memory` bytes.

    That work takes some matrices of the size of the rank, and `further_matrices` beside those of every fit.
    """
    dtype = PRECISIONS[precision]
    n, r = len(events), basis.rank
    # Curvature, its factor and a copy on the way; then what one block of rows takes.
    small = (4 + further_matrices) * 8 * r * r
    stored = n * r * dtype.itemsize + small + 2 * 8 * r * min(n, _BUILD_ROWS)
    columns = KernelColumns.of(basis.kernel, basis.pivots, arrays)
    factor = arrays.put(basis.factor)
    if stored <= memory:
        phi = np.empty((n, r), dtype=dtype) if arrays.xp is np else arrays.zeros((n, r), dtype)
        for rows in blocks(n, _BUILD_ROWS):
            k = _kernel_rows(columns, events[rows])
            whitened = arrays.triangular(factor, k.T, overwrite=True).T
            phi[rows, :] = whitened if arrays.xp is np else arrays.cast(whitened, dtype)
        log.info("stored features of %d events, rank %d: %s", n, r, megabytes(n * r * dtype.itemsize))
        return StoredFeatures(basis, phi, dtype, arrays)
    # A block of kernel values and its copy, in each of the threads.
    per_row = 2 * 8 * r * (os.cpu_count() or 1)
    require_memory(small + per_row * min(n, _STREAM_ROWS), memory, f"one block of features of rank {r}")
    log.info("streaming features of %d events, rank %d: storing takes %s", n, r, megabytes(stored))
    most = max(_STREAM_ROWS, (memory - small) // (2 * per_row))
    return StreamedFeatures(basis, events, columns, factor, max_rows=most, arrays=arrays)


def _kernel_rows(columns: KernelColumns, events: Array) -> Values:
    """K(events, pivots), the exponentials on all cores."""
    if not columns.arrays.threaded:
        return columns(events)
    k = np.empty((len(events), columns.columns.shape[1]))

    def fill(rows: slice) -> None:
        k[rows] = columns(events[rows])

    for_rows(len(events), 512, fill)
    return k


def feature_sums(features: Features, w: Array) -> Array:
    """f = Phi w at every event, on the host."""
    arrays = features.arrays
    f = np.empty(len(features))
    lifted = features.lift(arrays.put(w[:, None]))

    def fill(rows: slice) -> None:
        f[rows] = arrays.get((features.block(rows) @ lifted)[:, 0])

    for_rows(len(features), min(2048, features.max_rows), fill, arrays)
    return f


def residuals_of(features: Features) -> Array:
    """k(x, x) - |phi(x)|^2 of every event, on the host: what of it the basis cannot represent, from 0 to 1."""
    arrays = features.arrays
    squares = np.empty(len(features))
    for rows in blocks(len(features), min(_BUILD_ROWS, features.max_rows)):
        phi = features.phi_block(rows)
        if arrays.xp is np:
            squares[rows] = np.einsum("ij,ij->i", phi, phi, dtype=np.float64)
        else:
            phi = arrays.cast(phi, PRECISIONS["double"])
            squares[rows] = arrays.get(arrays.xp.sum(phi * phi, axis=1))
    return np.clip(1.0 - squares, 0.0, 1.0)
