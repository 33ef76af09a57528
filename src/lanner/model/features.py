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
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from lanner.machine import megabytes, require_memory
from lanner.model.centers import Basis
from lanner.model.kernel import Array, KernelColumns
from lanner.model.rows import blocks, for_rows

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
    def dtype(self) -> np.dtype[Any]:
        """The type of the blocks."""

    @property
    def storage(self) -> str:
        """ "stored" or "streamed"."""

    @property
    def max_rows(self) -> int:
        """How many rows a block may have within the memory budget."""

    def __len__(self) -> int: ...

    def block(self, rows: slice) -> NDArray[Any]:
        """Some rows, to multiply with lifted coefficients."""

    def phi_block(self, rows: slice) -> NDArray[Any]:
        """Some rows of Phi itself."""

    def lift(self, w: Array) -> NDArray[Any]:
        """Coefficients of Phi as coefficients of the blocks."""

    def lower(self, g: Array) -> Array:
        """A gradient with respect to lifted coefficients as one with respect to those of Phi."""


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """Phi itself."""

    basis: Basis
    phi: NDArray[Any]
    storage: str = "stored"
    max_rows: int = 2**62

    @property
    def dtype(self) -> np.dtype[Any]:  # noqa: D102
        return self.phi.dtype

    def __len__(self) -> int:
        return len(self.phi)

    def block(self, rows: slice) -> NDArray[Any]:  # noqa: D102
        return self.phi[rows]

    def phi_block(self, rows: slice) -> NDArray[Any]:  # noqa: D102
        return self.phi[rows]

    def lift(self, w: Array) -> NDArray[Any]:  # noqa: D102
        return np.ascontiguousarray(w, dtype=self.phi.dtype)

    def lower(self, g: Array) -> Array:  # noqa: D102
        return g


@dataclass(frozen=True, eq=False)
class StreamedFeatures:
    """K(x, pivots), made anew in each pass."""

    basis: Basis
    events: Array
    columns: KernelColumns
    max_rows: int
    dtype: np.dtype[Any] = PRECISIONS["double"]
    storage: str = "streamed"

    def __len__(self) -> int:
        return len(self.events)

    def block(self, rows: slice) -> NDArray[Any]:  # noqa: D102
        return self.columns(self.events[rows])

    def phi_block(self, rows: slice) -> NDArray[Any]:  # noqa: D102
        return self.basis.whiten(self.block(rows))

    def lift(self, w: Array) -> NDArray[Any]:  # noqa: D102
        return self.basis.coefficients(w)

    def lower(self, g: Array) -> Array:  # noqa: D102
        return solve_triangular(self.basis.factor, g, lower=True, check_finite=False)  # type: ignore[no-any-return]


def make_features(events: Array, basis: Basis, *, precision: str, memory: int) -> Features:
    """Features of the events, stored if they and the work on them fit into `memory` bytes."""
    dtype = PRECISIONS[precision]
    n, r = len(events), basis.rank
    # Curvature, its factor and a copy on the way; then what one block of rows takes.
    small = 4 * 8 * r * r
    stored = n * r * dtype.itemsize + small + 2 * 8 * r * min(n, _BUILD_ROWS)
    columns = KernelColumns.of(basis.kernel, basis.pivots)
    if stored <= memory:
        phi = np.empty((n, r), dtype=dtype)
        for rows in blocks(n, _BUILD_ROWS):
            phi[rows] = basis.whiten(_kernel_rows(columns, events[rows]))
        log.info("stored features of %d events, rank %d: %s", n, r, megabytes(phi.nbytes))
        return StoredFeatures(basis, phi)
    # A block of kernel values and its copy, in each of the threads.
    per_row = 2 * 8 * r * (os.cpu_count() or 1)
    require_memory(small + per_row * min(n, _STREAM_ROWS), memory, f"one block of features of rank {r}")
    log.info("streaming features of %d events, rank %d: storing takes %s", n, r, megabytes(stored))
    return StreamedFeatures(basis, events, columns, max_rows=max(_STREAM_ROWS, (memory - small) // (2 * per_row)))


def _kernel_rows(columns: KernelColumns, events: Array) -> Array:
    """K(events, pivots), the exponentials on all cores."""
    k = np.empty((len(events), columns.columns.shape[1]))

    def fill(rows: slice) -> None:
        k[rows] = columns(events[rows])

    for_rows(len(events), 512, fill)
    return k


def feature_sums(features: Features, w: Array) -> Array:
    """f = Phi w at every event."""
    f = np.empty(len(features))
    lifted = features.lift(w)

    def fill(rows: slice) -> None:
        f[rows] = features.block(rows) @ lifted

    for_rows(len(features), min(2048, features.max_rows), fill)
    return f
