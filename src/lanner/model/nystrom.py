"""Centres: uniform candidates, thinned by a pivoted Cholesky to the few that carry the kernel.

The kernel is as wide as the data, so M candidates span far fewer than M directions. Random pivots, each
drawn with a probability proportional to what the earlier ones leave unexplained, find them as well as
greedy ones do, and can be drawn in blocks (Epperly, Tropp and Webber, arXiv:2410.03969), which turns the
work into matrix products.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

from lanner._util.machine import require_memory
from lanner.model.kernel import GaussianKernel, KernelColumns
from lanner.typing import Array

# What a pivot leaves below this is rounding: k(x, x) = 1 and the factor is summed in double precision.
ROUNDING = 1e-12
BLOCK = 160
# What the candidates may lose on average, in units of the kernel eigenvalue at which the penalty takes
# over. Measured on 5- and 8-dimensional events (12 data sets, 3000 candidates): at 0.01 t is 0.04 to 0.16 of
# its spread below that of all candidates, at 0.05 it is 0.07 to 0.24 below. The factor is this small because
# events that are not candidates lose up to a thousand times more than the candidates do.
TRACE_ERROR_PER_PENALTY = 0.01
# Directions that cost nothing beside the elementwise work of a fit are kept whatever the tolerance: in one
# dimension they are all there are, and t is then that of all candidates.
FREE_RANK = 48


@dataclass(frozen=True, eq=False)
class Basis:
    """The pivots and the factor L of their kernel matrix, K(pivots, pivots) = L L^T.

    Features are Phi = K(x, pivots) L^-T: f = Phi w has the norm |f|_K = |w|.
    """

    kernel: GaussianKernel
    pivots: Array  # (r, d)
    factor: Array  # (r, r), lower triangular
    trace_error: float  # mean of k(x, x) - |phi(x)|^2 over the candidates
    chosen: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))  # which candidates they were

    @property
    def rank(self) -> int:
        """The number of pivots."""
        return len(self.pivots)

    def features(self, x: Array) -> Array:
        """Phi for some events, in double precision."""
        k = KernelColumns.of(self.kernel, self.pivots)(x)
        return solve_triangular(self.factor, k.T, lower=True, overwrite_b=True, check_finite=False).T  # type: ignore[no-any-return]

    def leading(self, rank: int) -> Basis:
        """The basis of the first pivots alone."""
        return replace(self, pivots=self.pivots[:rank], factor=self.factor[:rank, :rank], chosen=self.chosen[:rank])

    def own_parts(self) -> Array:
        """What each pivot alone adds to its own features, a column each.

        Without pivot j its event would have the features phi_j - v / |v|^2, with v = L^-1 e_j, and 1 / |v|^2 =
        1 / (K^-1)_jj of it would be out of reach: the projection of k(x_j, .) on the kernels of the others.
        """
        v = solve_triangular(self.factor, np.eye(self.rank), lower=True, overwrite_b=True, check_finite=False)
        return np.asarray(v / np.einsum("ij,ij->j", v, v))

    def residuals_of_pivots(self, columns: int) -> Array:
        """What of each pivot the first pivots cannot represent, as if it were none of them.

        Of these themselves it is 1 / |v|^2 (`own_parts`); phi of the others is a row of the factor.
        """
        own = self.leading(columns).own_parts()
        left = np.clip(1.0 - np.einsum("ij,ij->i", *2 * [self.factor[:, :columns]]), 0.0, 1.0)
        left[:columns] = np.einsum("ij,ij->j", own, own)
        return np.asarray(left)

    def extended(self, points: Array, *, least: float) -> tuple[Basis, NDArray[np.intp]]:
        """The basis with further pivots: of some points each, in turn, of which more than `least` is left unexplained.

        Returns which of the points they are as well.
        """
        left = self.kernel(points, points)
        below = self.features(points)  # (m, r), the rows of the factor to be
        left -= below @ below.T
        added: list[int] = []
        columns = np.empty((len(points), 0))
        while (j := int(np.argmax(np.diag(left)))) not in added and left[j, j] > least:
            column = left[:, j] / left[j, j] ** 0.5
            columns = np.hstack([columns, column[:, None]])
            left -= np.outer(column, column)
            added.append(j)
        rows = np.array(added, dtype=np.intp)
        r, more = self.rank, len(rows)
        factor = np.zeros((r + more, r + more), order="F")
        factor[:r, :r], factor[r:, :r], factor[r:, r:] = self.factor, below[rows], np.tril(columns[rows])
        pivots = np.vstack([self.pivots, points[rows]])
        return Basis(self.kernel, pivots, factor, self.trace_error, self.chosen), rows

    def reduced(self, kept: NDArray[np.intp]) -> Basis:
        """The basis of some of the pivots alone, in their order."""
        # L' L'^T = (Q R)^T (Q R) = R^T R, without the square of the condition that K has.
        upper = qr(self.factor[kept].T, mode="r", check_finite=False)[0][: len(kept)]
        factor = np.asfortranarray((upper * np.where(np.diag(upper) < 0, -1.0, 1.0)[:, None]).T)
        chosen = self.chosen[kept[kept < len(self.chosen)]]
        return replace(self, pivots=self.pivots[kept], factor=factor, chosen=chosen)

    def coefficients(self, w: Array) -> Array:
        """The c of f(x) = sum_j c_j k(x, pivot_j) for f = Phi w."""
        return solve_triangular(self.factor, w, lower=True, trans="T", check_finite=False)  # type: ignore[no-any-return]


def trace_tolerance(*, penalty: float, events: float, expected: float, curvature: float) -> float:
    """The trace error that the penalty makes harmless.

    A direction of kernel eigenvalue s enters t with h = s / (s + s0), s0 = penalty n / (l'' N(0)), where
    l'' is the loss's second derivative at f = 0. The sum of h over what is dropped is at most the dropped
    trace over s0.
    """
    return TRACE_ERROR_PER_PENALTY * penalty * events / (curvature * expected)


def choose_pivots(
    candidates: Array,
    kernel: GaussianKernel,
    *,
    trace_error: float,
    max_rank: int,
    rng: np.random.Generator,
    memory: int | None = None,
) -> Basis:
    """Thin the candidates until the mean of what they leave unexplained is at most `trace_error`."""
    m = len(candidates)
    residual = np.ones(m)
    factor = np.empty((m, min(m, 256)))
    chosen: list[int] = []
    while (rank := len(chosen)) < min(m, max_rank) and residual.max() > ROUNDING:
        if rank >= FREE_RANK and residual.mean() <= trace_error:
            break
        # Early blocks are small: of many pivots proposed together, the first few explain the others.
        size = min(BLOCK, max(8, rank), max_rank - rank, int(np.count_nonzero(residual)))
        proposed = rng.choice(m, size, replace=False, p=residual / residual.sum())
        accepted, corner = _accept(candidates, kernel, factor[:, :rank], residual, proposed, rng)
        # Columns of the factor for the accepted pivots: (K - F F^T)[:, accepted] corner^-T.
        columns = KernelColumns.of(kernel, candidates[accepted])(candidates)
        columns -= factor[:, :rank] @ factor[accepted, :rank].T
        new = solve_triangular(corner, columns.T, lower=True, check_finite=False).T
        if rank + len(accepted) > factor.shape[1]:
            grown = min(m, max_rank + BLOCK, 2 * rank + BLOCK)
            if memory is not None:
                require_memory(8 * m * (rank + grown), memory, f"thinning {m} candidate centres beyond rank {rank}")
            wider = np.empty((m, grown))
            wider[:, :rank] = factor[:, :rank]
            factor = wider
        factor[:, rank : rank + len(accepted)] = new
        before = residual.copy()
        residual -= np.einsum("ij,ij->i", new, new)
        chosen += accepted.tolist()
        residual[chosen] = 0.0
        np.maximum(residual, 0.0, out=residual)
        # A block may go past the goal: leave out the pivots beyond it.
        errors = before.mean() - np.cumsum(np.einsum("ij,ij->j", new, new)) / m
        needed = max(FREE_RANK - rank, 1 + int(np.searchsorted(-errors, -trace_error)))
        if needed < len(accepted):
            del chosen[rank + needed :]
            residual = np.maximum(before - np.einsum("ij,ij->i", new[:, :needed], new[:, :needed]), 0.0)
            break
    if memory is not None:
        require_memory(factor.nbytes + 8 * len(chosen) ** 2, memory, f"the factor of rank {len(chosen)}")
    rows = np.array(chosen, dtype=np.intp)
    return Basis(kernel, candidates[rows], _lower_triangle(factor, chosen), float(residual.mean()), rows)


def _lower_triangle(factor: Array, chosen: list[int]) -> Array:
    """The chosen rows, column after column in memory as LAPACK wants them, without a second copy on the way."""
    lower = np.zeros((len(chosen), len(chosen)), order="F")
    for i, row in enumerate(chosen):
        lower[i, : i + 1] = factor[row, : i + 1]
    return lower


def _accept(
    candidates: Array,
    kernel: GaussianKernel,
    factor: Array,
    residual: Array,
    proposed: NDArray[np.intp],
    rng: np.random.Generator,
) -> tuple[NDArray[np.intp], Array]:
    """Of a block of proposals keep each with the chance that its predecessors left it.

    Returns the accepted pivots and the Cholesky factor of their residual kernel matrix.
    """
    s = kernel(candidates[proposed], candidates[proposed]) - factor[proposed] @ factor[proposed].T
    size = len(proposed)
    lower = np.zeros((size, size))
    threshold = rng.random(size) * residual[proposed]
    threshold[0] = 0.0  # the first one is a fair draw
    kept: list[int] = []
    for i in range(size):
        left = s[i, i]
        if left <= max(threshold[i], ROUNDING):
            if kept or i + 1 < size:
                continue
            left = max(left, ROUNDING)
        # Eliminate pivot i from the rest of the block.
        column = s[:, i] / np.sqrt(left)
        column[i] = np.sqrt(left)
        lower[:, len(kept)] = column
        kept.append(i)
        s -= np.outer(column, column)
    rows = np.array(kept)
    return proposed[rows], np.tril(lower[np.ix_(rows, np.arange(len(kept)))])
