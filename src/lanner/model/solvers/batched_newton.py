"""Batched Newton: many weightings of one pool of events, fitted together.

Minimises, for each fit b of a batch,

    J_b(w) = sum_i c_ib A(f_i) - sum_i v1_ib f_i + (ridge_b / 2) |w|^2,      f = Phi w

How it differs from the textbook's Newton method, and why:

1. The curvature at f = 0 is shared by all fits and factored once: under the null f is near 0, and a
   fit's own curvature would cost n r^2 where an iteration costs 2 n r.
2. What the shared curvature misses, because a toy fluctuates or a signal pulls f away from 0, is learned
   from the gradients seen so far (limited-memory BFGS on top of it, a handful of r-vectors per fit).
3. One pass over the events gives f, t and the gradient of the whole batch: two matrix products.
4. Steps are controlled by slopes alone (`problem.OVERSHOOT`): unlike differences of J they do not cancel in
   single precision.
5. A fit that has converged leaves the batch; one that does not converge gets a curvature of its own.
"""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lanner.model.backend import Arrays, Values, column_dots
from lanner.model.moments import Factored
from lanner.model.objective import OVERSHOOT, Problem, Solution, cut_back
from lanner.model.solvers.newton import refine
from lanner.settings import FitSettings
from lanner.typing import Array, ToysEnded

log = logging.getLogger(__name__)

MEMORY = 8  # pairs of steps and gradient changes kept per fit
# After this many passes a fit is handed to Newton's method with its own curvature.
MAX_ITERATIONS = 60


def minimise(
    problem: Problem,
    shared: Factored,
    settings: FitSettings,
    *,
    start: Array | None = None,
    max_iterations: int = MAX_ITERATIONS,
    progress: ToysEnded | None = None,
) -> Solution:
    """Fit a batch: so many exact Newton steps as the settings say from `start` (or 0), or until converged.

    The settings' goal bounds the Newton decrement: what is left to gain in units of the statistical error of f.
    `progress` is called with the number of fits that have just finished.
    """
    steps = settings.newton_steps
    if steps is None:
        solution = _descend(problem, shared, settings.goal, max_iterations, start, progress)
        return solution if solution.converged.all() else refine(problem, solution, settings)
    solutions: list[Solution] = []
    w = start
    for step in range(steps):
        # One Newton step is the minimum of the loss's second-order expansion.
        expanded = replace(problem, anchor="zero" if w is None else problem.features.arrays.put(w))
        told = progress if step + 1 == steps else None
        done = _descend(expanded, shared, settings.goal, max_iterations, w, told)
        if not done.converged.all():  # far from f = 0 the shared curvature may not do: solve with the fit's own
            start_here = np.zeros_like(done.coefficients) if w is None else w
            done = refine(problem, done, settings, step_from=start_here)
        w = done.coefficients
        solutions.append(done)
    return replace(
        solutions[-1],
        converged=np.all([s.converged for s in solutions], axis=0),
        iterations=np.sum([s.iterations for s in solutions], axis=0),
        decrement=np.max([s.decrement for s in solutions], axis=0),
    )


def start_of_step(problem: Problem, w: Array | None) -> Values:
    """Where a Newton step starts: w, or 0."""
    arrays = problem.features.arrays
    if w is None:
        return arrays.zeros((problem.features.rank, len(problem.weightings)), np.dtype(np.float64))
    return arrays.put(w)


def _descend(
    problem: Problem,
    shared: Factored,
    tolerance: float,
    max_iterations: int,
    start: Array | None,
    progress: ToysEnded | None,
) -> Solution:
    # Coefficients and gradients (r, B) are where the features are; what steers, a number a fit, is on the host.
    arrays = problem.features.arrays
    batch, rank = len(problem.weightings), problem.features.rank
    out = Solution(
        coefficients=np.zeros((rank, batch)),
        statistic=np.zeros(batch),
        converged=np.zeros(batch, dtype=bool),
        iterations=np.zeros(batch, dtype=np.int64),
        decrement=np.full(batch, np.inf),
    )
    fits = np.arange(batch)  # which fits the columns below belong to
    w = start_of_step(problem, start)
    t, g = problem.evaluate(w)
    history = _History(shared, arrays)
    direction, decrement = history.direction(g)
    # A fit that a large penalty holds at |f| << 1 statistical error has less to gain, and less to leave.
    goal = tolerance * np.minimum(1.0, decrement)
    step = np.ones(batch)
    for iteration in range(1, max_iterations + 2):
        done = decrement <= goal
        leaving = done | (iteration > max_iterations)
        if leaving.any():
            left = fits[leaving]
            out.coefficients[:, left] = arrays.get(arrays.take(w, np.flatnonzero(leaving), axis=1))
            out.statistic[left] = t[leaving]
            out.converged[left] = done[leaving]
            out.iterations[left] = iteration
            out.decrement[left] = decrement[leaving]
            if progress is not None:
                progress(len(left))
            stay = ~leaving
            if not stay.any():
                break
            fits, problem = fits[stay], problem.take(stay)
            t, step, decrement, goal = t[stay], step[stay], decrement[stay], goal[stay]
            w, g, direction = (arrays.take(x, np.flatnonzero(stay), axis=1) for x in (w, g, direction))
            history.keep(np.flatnonzero(stay))
        trial = w + arrays.put(step) * direction
        t_trial, g_trial = problem.evaluate(trial)
        before = arrays.get(column_dots(g, direction))  # < 0
        after = arrays.get(column_dots(g_trial, direction))
        accepted = after <= OVERSHOOT * -before
        history.add(arrays.where(accepted, trial - w, 0.0), arrays.where(accepted, g_trial - g, 0.0))
        w = arrays.where(accepted, trial, w)
        g = arrays.where(accepted, g_trial, g)
        t = np.where(accepted, t_trial, t)
        step = np.where(accepted, 1.0, step * cut_back(before, after))
        new_direction, new_decrement = history.direction(g)
        direction = arrays.where(accepted, new_direction, direction)
        decrement = np.where(accepted, new_decrement, decrement)
        log.debug("iteration %d: %d fits, decrement up to %.2g", iteration, len(fits), decrement.max())
    return out


class _History:
    """What the gradients have told of the curvature beyond the shared one (limited-memory BFGS, per fit)."""

    def __init__(self, shared: Factored, arrays: Arrays) -> None:
        self._shared, self._arrays = shared, arrays
        self._pairs: list[tuple[Values, Values, Values]] = []  # steps (r, B), gradient changes (r, B), 1 / s.y

    def add(self, s: Values, y: Values) -> None:
        sy, ss, yy = (self._arrays.get(column_dots(a, b)) for a, b in ((s, y), (s, s), (y, y)))
        # Rounding, or a rejected step: no curvature seen. A zero here makes the pair a no-op.
        seen = sy > 1e-10 * np.sqrt(ss * yy)
        self._pairs.append((s, y, self._arrays.put(np.where(seen, 1 / np.where(seen, sy, 1.0), 0.0))))
        del self._pairs[:-MEMORY]

    def keep(self, fits: NDArray[np.intp]) -> None:
        take = self._arrays.take
        self._pairs = [
            (take(s, fits, axis=1), take(y, fits, axis=1), take(rho, fits, axis=0)) for s, y, rho in self._pairs
        ]

    def direction(self, g: Values) -> tuple[Values, Array]:
        """The step -B^-1 g and the decrement sqrt(g^T B^-1 g), with what is known of the curvature B."""
        q = g
        alphas = []
        for s, y, rho in reversed(self._pairs):
            alpha = rho * column_dots(s, q)
            q = q - alpha * y
            alphas.append(alpha)
        p = self._shared.solve(q)
        for (s, y, rho), alpha in zip(self._pairs, reversed(alphas), strict=True):
            p += (alpha - rho * column_dots(y, p)) * s
        decrement = np.sqrt(np.maximum(self._arrays.get(column_dots(g, p)), 0.0))
        return -p, decrement
