"""One fit of one data set: the engine behind `fit_ratio` and the scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lanner._util.machine import require_memory
from lanner.errors import ConvergenceWarning
from lanner.model.backend import arrays_on
from lanner.model.features import Features, feature_sums, make_features
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import Loss, exp_capped, loss_by_name, null_curvature
from lanner.model.moments import Eigenbasis, Factored, Spectrum, moments, second_moment
from lanner.model.nystrom import choose_pivots, trace_tolerance
from lanner.model.objective import Problem
from lanner.model.score import Score, weighted_difference
from lanner.model.solvers.batched_newton import minimise
from lanner.model.solvers.falkon import FalkonProblem, minimise_falkon
from lanner.model.solvers.newton import own_curvature_newton
from lanner.model.weightings import REFERENCE, Weightings
from lanner.settings import MAX_RANK, FitSettings
from lanner.typing import Array

# |f| beyond which a fit is finished with its own curvature.
STRONG = 1.5


@dataclass(frozen=True, eq=False)
class SingleFit:
    """What a fit yields: f(x) = sum_j coefficients_j k(x, center_j), and how it went."""

    centers: Array
    coefficients: Array
    statistic: float
    converged: bool
    iterations: int
    decrement: float
    trace_error: float
    spectrum: Spectrum | None  # of the features in the reference
    gap: tuple[float, float] | None  # between reference and data, where f separates them completely


def fit_single(
    events: Array,
    weighting: Weightings,
    *,
    events_in_objective: float,
    expected: float,
    kernel: GaussianKernel,
    candidates: Array,
    settings: FitSettings,
    penalties: Sequence[float],
    memory: int,
    rng: np.random.Generator,
    thinned: bool = True,
    device: str = "cpu",
) -> SingleFit:
    """Fit events of which `weighting`, of one column, says which are reference (first) and data (last).

    The candidates are thinned to those that carry the kernel, or all used. The fit takes one Newton step at each of the
    penalties but the last.
    """
    loss = loss_by_name(settings.loss)
    ridges = tuple(p * events_in_objective for p in penalties)
    if settings.solver == "falkon":
        return _by_falkon(events, weighting, ridges, kernel, candidates, settings, memory, rng)
    trace_error, rank = settings.trace_error, len(candidates)
    if thinned:
        rank = min(rank, settings.max_rank or MAX_RANK["likelihood-ratio"])
    elif trace_error is None:
        trace_error = 0.0
    if trace_error is None:
        trace_error = trace_tolerance(
            penalty=penalties[-1], events=events_in_objective, expected=expected, curvature=null_curvature(loss)
        )
    require_memory(8 * len(candidates) * min(rank, 256), memory, f"choosing pivots among {len(candidates)} candidates")
    basis = choose_pivots(candidates, kernel, trace_error=trace_error, max_rank=rank, rng=rng, memory=memory)
    arrays = arrays_on(device)
    features = make_features(events, basis, precision=settings.precision, memory=arrays.budget(memory), arrays=arrays)
    if settings.statistic == "score":
        return _by_score(features, weighting, ridges[-1], loss)
    return _by_newton(features, weighting, ridges, settings)


def _by_score(features: Features, weighting: Weightings, ridge: float, loss: Loss) -> SingleFit:
    """One Newton step from f = 0 with the reference's curvature, and t to second order."""
    v0, v1 = _loss_weights(weighting)
    first_data = int(np.count_nonzero(weighting.roles[:, 0] == REFERENCE))
    expected = float(v0.sum())
    first, second = moments(features, v0[:first_data], slice(0, first_data))
    score = Score(Eigenbasis.of(first / expected, second / expected), expected, features.arrays)
    rotated = score.rotate(weighted_difference(features, weighting))
    rho = ridge / (expected * null_curvature(loss))
    w = score.coefficients(rotated, rho)[:, 0]
    return SingleFit(
        centers=features.basis.pivots,
        coefficients=features.basis.coefficients(w),
        statistic=float(score.statistic(rotated, rho)[0]),
        converged=True,
        iterations=1,
        decrement=0.0,
        trace_error=features.basis.trace_error,
        spectrum=score.basis.spectrum,
        gap=_gap(feature_sums(features, w), v0, v1),
    )


def _by_newton(features: Features, weighting: Weightings, ridges: Sequence[float], settings: FitSettings) -> SingleFit:
    loss, basis = loss_by_name(settings.loss), features.basis
    v0, v1 = _loss_weights(weighting)
    first_data = int(np.count_nonzero(weighting.roles[:, 0] == REFERENCE))
    # Reference and data apart, at the price of one: the reference's moments are the null's, free of signal.
    first, reference = moments(features, v0[:first_data], slice(0, first_data))
    curvature = reference.copy()
    if loss.name == "logistic":
        curvature += second_moment(features, v1[first_data:], slice(first_data, len(features)))
    curvature *= loss.curvature_at_zero
    convex = bool((v0 >= 0).all() and (v1 >= 0).all())
    solution, iterations, converged = None, 0, True
    for stage, ridge in enumerate(ridges):
        last = stage + 1 == len(ridges)
        solution = minimise(
            Problem(features, weighting, loss, np.array([ridge])),
            Factored(curvature, ridge, convex=convex, arrays=features.arrays),
            settings if last else settings.one_step(),
            start=None if solution is None else solution.coefficients,
        )
        iterations += int(solution.iterations[0])
        converged = converged and bool(solution.converged[0])
    assert solution is not None
    f = feature_sums(features, solution.coefficients[:, 0])
    if converged and settings.converges and np.abs(f).max() > STRONG:
        # The curvature at f = 0 says little where f is large: judge the end by the curvature there.
        problem = Problem(features, weighting, loss, np.array([ridges[-1]]))
        solution = own_curvature_newton(problem, settings, start=solution.coefficients)
        iterations += int(solution.iterations[0])
        converged = bool(solution.converged[0])
        f = feature_sums(features, solution.coefficients[:, 0])
    w = solution.coefficients[:, 0]
    if not convex:
        # Convex at f = 0 is not yet convex at the solution.
        c = loss.weight(v0, v1)
        Factored(second_moment(features, c * loss.curvature(f, exp_capped(f))), ridges[-1], convex=False)
    decrement = float(solution.decrement[0])
    return SingleFit(
        centers=basis.pivots,
        coefficients=basis.coefficients(w),
        statistic=_statistic(f, v0, v1),
        converged=converged,
        iterations=iterations,
        decrement=decrement,
        trace_error=basis.trace_error,
        spectrum=Eigenbasis.of(first / v0.sum(), reference / v0.sum()).spectrum,
        gap=_gap(f, v0, v1),
    )


def _by_falkon(
    events: Array,
    weighting: Weightings,
    ridges: tuple[float, ...],
    kernel: GaussianKernel,
    candidates: Array,
    settings: FitSettings,
    memory: int,
    rng: np.random.Generator,
) -> SingleFit:
    m = len(candidates)
    landmarks = events[rng.choice(len(events), min(len(events), max(2 * m, 1000)), replace=False)]
    require_memory(8 * (3 * m * m + 2 * m * len(landmarks) + 6 * len(events)), memory, f"Falkon with {m} centres")
    v0, v1 = _loss_weights(weighting)
    problem = FalkonProblem(events, v0, v1, kernel, candidates, landmarks, loss_by_name(settings.loss))
    solution = minimise_falkon(problem, ridges, settings)
    return SingleFit(
        centers=candidates,
        coefficients=solution.coefficients,
        statistic=_statistic(solution.values, v0, v1),
        converged=solution.converged,
        iterations=solution.iterations,
        decrement=solution.decrement,
        trace_error=0.0,
        spectrum=None,
        gap=_gap(solution.values, v0, v1),
    )


def _loss_weights(weighting: Weightings) -> tuple[Array, Array]:
    v0, v1 = weighting.block(slice(None), np.dtype(np.float64))
    return v0[:, 0], v1[:, 0]


def _statistic(f: Array, v0: Array, v1: Array) -> float:
    """t = 2 [sum_{S1} f - a0 sum_{S0} (e^f - 1)], in double precision, which reaches to e^700."""
    return 2 * float(v1 @ f - v0 @ np.expm1(np.minimum(f, 700.0)))


def _gap(f: Array, v0: Array, v1: Array) -> tuple[float, float] | None:
    """The highest f in the reference and the lowest in the data, where f separates the two completely."""
    lowest, highest = float(f[v1 != 0].min()), float(f[v0 != 0].max())
    return (highest, lowest) if lowest > highest else None


def warn_unless_converged(fit: SingleFit, settings: FitSettings, stacklevel: int = 3) -> None:
    """Say how far a fit got, and what helps."""
    if not fit.converged:
        warnings.warn(
            f"the fit stopped after {fit.iterations} passes with a Newton decrement of {fit.decrement:.2g}, above the "
            f"{settings.goal:.2g} asked for; raise the penalty (now {settings.penalty:.3g}), or give "
            "a decreasing sequence of penalties",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
