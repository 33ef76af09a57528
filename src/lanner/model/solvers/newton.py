"""Newton's method with a fit's own curvature, one fit at a time: n r^2 per step.

For the rare fit that the shared curvature does not bring home (a strong signal at a small penalty), and for
benchmarks and tests as the plain way to do it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lanner.model.backend import column_dots
from lanner.model.features import feature_sums
from lanner.model.loss import exp_capped
from lanner.model.moments import Factored, second_moment
from lanner.model.objective import OVERSHOOT, Problem, Solution, cut_back
from lanner.settings import FitSettings
from lanner.typing import Array

MAX_STEPS = 100


def own_curvature_newton(problem: Problem, settings: FitSettings, *, start: Array | None = None) -> Solution:
    """Fit a batch of one: so many full steps as the settings say, or controlled ones until converged."""
    steps = settings.newton_steps
    features, loss, arrays = problem.features, problem.loss, problem.features.arrays
    v0, v1 = (v[:, 0] for v in problem.weightings.block(slice(None), np.dtype(np.float64)))
    c = loss.weight(v0, v1)
    ridge = float(problem.ridge[0])
    w = arrays.put(np.zeros((features.rank, 1)) if start is None else start)
    t, g = problem.evaluate(w)
    passes, converged, decrement = 1, False, np.inf
    for step in range(steps or MAX_STEPS):
        f = feature_sums(features, arrays.get(w)[:, 0])
        curvature = second_moment(features, c * loss.curvature(f, exp_capped(f)))
        hessian = Factored(curvature, ridge, convex=bool((c >= 0).all()), arrays=arrays)
        direction = -hessian.solve(g)
        before = float(column_dots(g, direction)[0])
        decrement = max(-before, 0.0) ** 0.5
        passes += 2
        if steps is None and decrement <= settings.goal:
            converged = True
            break
        length = 1.0
        while True:
            t, g_trial = problem.evaluate(w + length * direction)
            passes += 1
            after = float(column_dots(g_trial, direction)[0])
            if steps is not None or after <= OVERSHOOT * -before or length < 1e-12:
                break
            length *= float(cut_back(np.array(before), np.array(after)))
        w, g = w + length * direction, g_trial
        converged = steps is not None and step + 1 == steps
    return Solution(arrays.get(w), t, np.array([converged]), np.array([passes]), np.array([decrement]))


def refine(problem: Problem, solution: Solution, settings: FitSettings, *, step_from: Array | None = None) -> Solution:
    """Finish, one at a time, the fits of a batch that have not converged.

    With `step_from`, take one full Newton step from there instead of going on to the minimum.
    """
    out = replace(
        solution,
        coefficients=solution.coefficients.copy(),
        statistic=solution.statistic.copy(),
        converged=solution.converged.copy(),
        iterations=solution.iterations.copy(),
        decrement=solution.decrement.copy(),
    )
    start = solution.coefficients if step_from is None else step_from
    how = replace(settings, newton_steps=None) if step_from is None else settings.one_step()
    for b in np.flatnonzero(~solution.converged):
        fit = own_curvature_newton(problem.take(np.array([b])), how, start=start[:, [b]])
        out.coefficients[:, b] = fit.coefficients[:, 0]
        out.statistic[b], out.converged[b], out.decrement[b] = fit.statistic[0], fit.converged[0], fit.decrement[0]
        out.iterations[b] += fit.iterations[0]
    return out
