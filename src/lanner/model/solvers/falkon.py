"""Falkon (Appendix B of the paper): Newton steps by conjugate gradient, kernel blocks never stored.

The path for narrow kernels and many dimensions, where the rank is not low, and the independent check of the
batched solver. With K = T^T T on the centres, f = K_nm T^-1 b has the norm |b|, and a Newton step solves

    (T^-T K_nm^T D K_nm T^-1 + ridge) p = -gradient,         D = diag(c_i A''(f_i))

preconditioned with A^T A, the same matrix with the n events replaced by m landmarks. Memory is O(n + M^2).

How it differs from the appendix, and why:

1. The landmarks are the centres, as in the appendix, only while those are a uniform sample. Pivots are
   extreme events; for them a uniform sample of the events stands in.
2. The weight of a landmark is the mean c of all events times A''(f) rather than its own c: the labels
   of M events are a noisy stand-in for those of n.
3. Conjugate gradient stops on a residual relative to its start, so that the scale of the problem does not matter.
4. Steps are controlled by slopes, as in the batched solver, unless a number of steps is asked for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from lanner.errors import InputError, NotConvexError
from lanner.model.kernel import GaussianKernel, KernelColumns, kernel_sum
from lanner.model.loss import Loss, exp_capped
from lanner.model.objective import OVERSHOOT, cut_back
from lanner.model.parallel import sum_over_rows
from lanner.settings import FitSettings
from lanner.typing import Array

log = logging.getLogger(__name__)

_CONCAVE = (
    "negative event weights make the loss concave in some direction; raise the penalty or the width, or merge "
    "negative-weight events with their neighbours"
)

MAX_STEPS = 100
MAX_CONJUGATE = 500
# Relative accuracy of a Newton step: a step that is asked for as such, and one on the way to the minimum.
EXACT, INEXACT = 1e-7, 1e-3


@dataclass(frozen=True, eq=False)
class FalkonSolution:
    """How a fit ended: f(x) = sum_j coefficients_j k(x, center_j)."""

    coefficients: Array  # (M,)
    values: Array  # (n,) f at every event
    converged: bool
    iterations: int  # passes over the events
    decrement: float


@dataclass(frozen=True, eq=False)
class FalkonProblem:
    """One fit: events with their loss weights v0 (reference) and v1 (data), centres, and the number n."""

    events: Array
    v0: Array
    v1: Array
    kernel: GaussianKernel
    centers: Array
    landmarks: Array  # a uniform sample of the events
    loss: Loss

    @property
    def c(self) -> Array:
        """The weight of A(f)."""
        return np.asarray(self.loss.weight(self.v0, self.v1))


def minimise_falkon(problem: FalkonProblem, ridges: tuple[float, ...], settings: FitSettings) -> FalkonSolution:
    """One Newton step per ridge but the last, and at the last so many as the settings say, or until converged."""
    n, loss = len(problem.events), problem.loss
    columns = KernelColumns.of(problem.kernel, problem.centers)
    size = max(64, min(2048, 2**25 // (8 * len(problem.centers))))
    t_factor = _upper_factor(problem.kernel(problem.centers, problem.centers))
    c = problem.c
    if c.sum() <= 0:
        raise NotConvexError(_CONCAVE)
    f = np.zeros(n)
    b = np.zeros(len(problem.centers))
    passes = 0

    def forward(p: Array) -> Array:
        return kernel_sum(problem.kernel, problem.centers, _solve(t_factor, p), problem.events)

    def gradient(f: Array, b: Array, ridge: float) -> Array:
        residual = c * loss.slope(f, exp_capped(f)) - problem.v1
        (g,) = sum_over_rows(n, size, lambda rows: (columns(problem.events[rows]).T @ residual[rows],))
        return _solve(t_factor, g, "T") + ridge * b

    def curvature_product(d: Array, p: Array, ridge: float) -> Array:
        lifted = _solve(t_factor, p)

        def block_sums(rows: slice) -> tuple[Array]:
            k = columns(problem.events[rows])
            return (k.T @ (d[rows] * (k @ lifted)),)

        (h,) = sum_over_rows(n, size, block_sums)
        return _solve(t_factor, h, "T") + ridge * p

    def newton_direction(g: Array, ridge: float, accuracy: float) -> tuple[Array, int, bool]:
        d = c * loss.curvature(f, exp_capped(f))
        a_factor = _preconditioner(problem, t_factor, b, float(c.mean()), ridge)
        return _conjugate_gradient(lambda p: curvature_product(d, p, ridge), -g, a_factor, accuracy)

    converged = solved = True
    decrement = np.inf
    for stage, ridge in enumerate(ridges):
        last = stage + 1 == len(ridges)
        steps = settings.newton_steps if last else 1
        g = gradient(f, b, ridge)
        passes += 1
        for step in range(MAX_STEPS if steps is None else steps):
            p, inner, solved = newton_direction(g, ridge, EXACT if steps is not None else INEXACT)
            decrement = max(-float(g @ p), 0.0) ** 0.5
            passes += inner + 1
            log.debug("penalty %d, step %d: decrement %.2g after %d products", stage, step, decrement, inner)
            if steps is not None:  # an exact number of full steps
                b = b + p
                f = f + forward(p)
                converged = converged and solved
                if not last or step + 1 < steps:
                    g = gradient(f, b, ridge)
                    passes += 1
                continue
            if decrement <= settings.goal:
                break
            f_step, length, slope = forward(p), 1.0, g @ p
            for _ in range(60):
                g_trial = gradient(f + length * f_step, b + length * p, ridge)
                passes += 1
                after = g_trial @ p
                if after <= OVERSHOOT * -slope:
                    break
                length *= float(cut_back(np.array(slope), np.array(after)))
            b, f, g = b + length * p, f + length * f_step, g_trial
        else:
            if steps is None:
                converged = False
    return FalkonSolution(_solve(t_factor, b), f, bool(converged and solved), passes, decrement)


def _upper_factor(k: Array) -> Array:
    """The Cholesky factor of the centres' kernel matrix, with as little added to its diagonal as rounding needs.

    Events beyond the outermost centres feel the diagonal: in one dimension 1e-13 moves t by 1 % of its spread.
    """
    diagonal = np.diag(k).copy()
    for jitter in (0.0, *(len(k) * 10.0 ** np.arange(-16, -8))):
        np.fill_diagonal(k, diagonal + jitter)
        try:
            return cholesky(k, lower=False, check_finite=False)  # type: ignore[no-any-return]
        except np.linalg.LinAlgError:
            continue
    raise InputError("the kernel matrix of the centres has no Cholesky factor; give fewer or distinct centres")


def _solve(upper: Array, x: Array, trans: str = "N") -> Array:
    return solve_triangular(upper, x, lower=False, trans=trans, check_finite=False)  # type: ignore[no-any-return]


def _preconditioner(problem: FalkonProblem, t_factor: Array, b: Array, mean_weight: float, ridge: float) -> Array:
    """A with A^T A = (n / m) T^-T K_ml D_l K_lm T^-1 + ridge, over the landmarks l (Eq. apprH)."""
    k = problem.kernel(problem.landmarks, problem.centers)
    q = _solve(t_factor, k.T.copy(), "T").T
    f = q @ b
    # Bounded, because data far from the reference carry no weight in the extended likelihood, where e^f is huge.
    curvature = np.minimum(problem.loss.curvature(f, exp_capped(f)), 100.0 * problem.loss.curvature_at_zero)
    n, m = len(problem.events), len(problem.landmarks)
    q *= np.sqrt(mean_weight * n / m * curvature)[:, None]
    h = q.T @ q
    h[np.diag_indices_from(h)] += ridge
    return cholesky(h, lower=False, overwrite_a=True, check_finite=False)  # type: ignore[no-any-return]


def _conjugate_gradient(
    product: Callable[[Array], Array], target: Array, a_factor: Array, tolerance: float
) -> tuple[Array, int, bool]:
    """Solve product(p) = target; returns p, the number of products, and whether it got there."""
    p = np.zeros_like(target)
    r = target.copy()
    z = _solve(a_factor, _solve(a_factor, r, "T"))
    direction = z.copy()
    rz = start = r @ z
    for iteration in range(1, MAX_CONJUGATE + 1):
        if rz <= tolerance**2 * start:
            return p, iteration - 1, True
        h = product(direction)
        bend = direction @ h
        if bend <= 0:
            raise NotConvexError(_CONCAVE)
        length = rz / bend
        p += length * direction
        r -= length * h
        z = _solve(a_factor, _solve(a_factor, r, "T"))
        rz_new = r @ z
        direction = z + (rz_new / rz) * direction
        rz = rz_new
    return p, MAX_CONJUGATE, False
