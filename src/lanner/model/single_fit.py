"""One fit of one data set: the engine behind `fit_ratio` and the scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lanner._util.machine import require_memory
from lanner.errors import ConvergenceWarning, InputError
from lanner.model.backend import arrays_on
from lanner.model.features import PRECISIONS, Features, feature_sums, make_features
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import Loss, exp_capped, null_curvature
from lanner.model.moments import Eigenbasis, Factored, Spectrum, moments, second_moment
from lanner.model.nystrom import MAX_RANK, choose_pivots, trace_tolerance
from lanner.model.objective import Problem
from lanner.model.score import Score, weighted_difference
from lanner.model.solvers.batched_newton import minimise
from lanner.model.solvers.falkon import FalkonProblem, minimise_falkon
from lanner.model.solvers.newton import own_curvature_newton
from lanner.model.weightings import REFERENCE, Weightings
from lanner.typing import Array

SOLVERS = ("newton", "falkon")
STATISTICS = ("likelihood-ratio", "score")
# What the Newton decrement may be at the end: the error of t is below 2 sqrt(t) times that, so 1e-3 is
# 0.15 % of the spread sqrt(2 dof) of t. Double precision can do better at little cost; Falkon, whose centres
# are not thinned, is held back by the rounding in an ill-conditioned kernel matrix.
TOLERANCE = {"single": 1e-3, "double": 1e-7, "falkon": 1e-3}


# |f| beyond which a fit is finished with its own curvature.
STRONG = 1.5


@dataclass(frozen=True)
class Settings:
    """How to fit."""

    loss: Loss
    penalties: tuple[float, ...]
    newton_steps: int | None = None
    solver: str = "newton"
    precision: str = "single"
    tolerance: float | None = None
    trace_error: float | None = None
    max_rank: int = MAX_RANK
    statistic: str = "likelihood-ratio"
    device: str = "cpu"

    @property
    def goal(self) -> float:
        """The Newton decrement to reach."""
        if self.tolerance is not None:
            return self.tolerance
        return TOLERANCE["falkon" if self.solver == "falkon" else self.precision]


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
    settings: Settings,
    memory: int,
    rng: np.random.Generator,
) -> SingleFit:
    """Fit events of which `weighting`, of one column, says which are reference (first) and data (last)."""
    ridges = tuple(p * events_in_objective for p in settings.penalties)
    if settings.solver == "falkon":
        return _by_falkon(events, weighting, ridges, kernel, candidates, settings, memory, rng)
    trace_error = settings.trace_error
    if trace_error is None:
        trace_error = trace_tolerance(
            penalty=settings.penalties[-1],
            events=events_in_objective,
            expected=expected,
            curvature=null_curvature(settings.loss),
        )
    rank = min(len(candidates), settings.max_rank)
    require_memory(8 * len(candidates) * min(rank, 256), memory, f"choosing pivots among {len(candidates)} candidates")
    basis = choose_pivots(candidates, kernel, trace_error=trace_error, max_rank=rank, rng=rng, memory=memory)
    arrays = arrays_on(settings.device)
    features = make_features(events, basis, precision=settings.precision, memory=arrays.budget(memory), arrays=arrays)
    if settings.statistic == "score":
        return _by_score(features, weighting, ridges[-1], settings)
    return _by_newton(features, weighting, ridges, settings)


def _by_score(features: Features, weighting: Weightings, ridge: float, settings: Settings) -> SingleFit:
    """One Newton step from f = 0 with the reference's curvature, and t to second order."""
    v0, v1 = _loss_weights(weighting)
    first_data = int(np.count_nonzero(weighting.roles[:, 0] == REFERENCE))
    expected = float(v0.sum())
    first, second = moments(features, v0[:first_data], slice(0, first_data))
    score = Score(Eigenbasis.of(first / expected, second / expected), expected, features.arrays)
    rotated = score.rotate(weighted_difference(features, weighting))
    solution = score.solution(rotated, ridge / (expected * null_curvature(settings.loss)))
    w = solution.coefficients[:, 0]
    return SingleFit(
        centers=features.basis.pivots,
        coefficients=features.basis.coefficients(w),
        statistic=float(solution.statistic[0]),
        converged=True,
        iterations=1,
        decrement=0.0,
        trace_error=features.basis.trace_error,
        spectrum=score.basis.spectrum,
        gap=_gap(feature_sums(features, w), v0, v1),
    )


def _by_newton(features: Features, weighting: Weightings, ridges: Sequence[float], settings: Settings) -> SingleFit:
    loss, basis = settings.loss, features.basis
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
            newton_steps=settings.newton_steps if last else 1,
            tolerance=settings.goal,
            start=None if solution is None else solution.coefficients,
        )
        iterations += int(solution.iterations[0])
        converged = converged and bool(solution.converged[0])
    assert solution is not None
    f = feature_sums(features, solution.coefficients[:, 0])
    if converged and settings.newton_steps is None and np.abs(f).max() > STRONG:
        # The curvature at f = 0 says little where f is large: judge the end by the curvature there.
        problem = Problem(features, weighting, loss, np.array([ridges[-1]]))
        solution = own_curvature_newton(
            problem, newton_steps=None, tolerance=settings.goal, start=solution.coefficients
        )
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
    settings: Settings,
    memory: int,
    rng: np.random.Generator,
) -> SingleFit:
    m = len(candidates)
    landmarks = events[rng.choice(len(events), min(len(events), max(2 * m, 1000)), replace=False)]
    require_memory(8 * (3 * m * m + 2 * m * len(landmarks) + 6 * len(events)), memory, f"Falkon with {m} centres")
    v0, v1 = _loss_weights(weighting)
    problem = FalkonProblem(events, v0, v1, kernel, candidates, landmarks, settings.loss)
    solution = minimise_falkon(problem, ridges, newton_steps=settings.newton_steps, tolerance=settings.goal)
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


def warn_unless_converged(fit: SingleFit, settings: Settings, stacklevel: int = 3) -> None:
    """Say how far a fit got, and what helps."""
    if not fit.converged:
        warnings.warn(
            f"the fit stopped after {fit.iterations} passes with a Newton decrement of {fit.decrement:.2g}, above the "
            f"{settings.goal:.2g} asked for; raise the penalty (now {settings.penalties[-1]:.3g}), or give "
            "a decreasing sequence of penalties",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def as_number(value: object, name: str) -> float:
    """A number, or an error that names the argument."""
    try:
        if isinstance(value, str) or np.ndim(value) != 0:  # type: ignore[arg-type]
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(f"{name}={value!r} is not a number; give one") from None


def check_settings(
    *,
    loss: Loss,
    penalty: float | Sequence[float],
    newton_steps: int | None,
    solver: str,
    precision: str,
    tolerance: float | None,
    trace_error: float | None,
    max_rank: int = MAX_RANK,
    statistic: str = "likelihood-ratio",
    device: str = "cpu",
) -> Settings:
    """Settings from what a user gave, or an `InputError` that says what to give."""
    several = isinstance(penalty, Sequence | np.ndarray) and not isinstance(penalty, str) and np.ndim(penalty) == 1
    penalties = tuple(as_number(p, "penalty") for p in (penalty if several else [penalty]))  # type: ignore[union-attr]
    if not penalties or not all(np.isfinite(p) and p > 0 for p in penalties):
        raise InputError(f"penalty={penalty!r}: it must be a positive number, such as 1e-6, or several")
    if any(later >= earlier for earlier, later in pairwise(penalties)):
        raise InputError(f"penalty={penalty!r}: a sequence of penalties must decrease")
    if newton_steps is not None:
        steps = as_number(newton_steps, "newton_steps")
        if not steps.is_integer() or steps < 1:
            raise InputError(f"newton_steps={newton_steps!r}: give 1 (the paper's mode) or more, or None to converge")
        newton_steps = int(steps)
    if solver not in SOLVERS:
        raise InputError(f"solver={solver!r} is not known; choose one of {', '.join(map(repr, SOLVERS))}")
    if precision not in PRECISIONS:
        raise InputError(f"precision={precision!r} is not known; choose 'single' or 'double'")
    if tolerance is not None and not 0 < as_number(tolerance, "tolerance") < np.inf:
        raise InputError(f"tolerance={tolerance!r}: the Newton decrement to reach must be positive, such as 1e-3")
    if trace_error is not None and not 0 <= as_number(trace_error, "trace_error") < 1:
        raise InputError(f"trace_error={trace_error!r}: the part of the kernel to leave out must be in [0, 1)")
    if statistic not in STATISTICS:
        raise InputError(f"statistic={statistic!r} is not known; choose one of {', '.join(map(repr, STATISTICS))}")
    if statistic == "score" and solver != "newton":
        raise InputError(f"statistic='score' needs no solver, and solver={solver!r} has no eigenvalues: leave it out")
    if device != "cpu":
        arrays_on(device)  # an error now, and not after the events are read
        if solver == "falkon":
            raise InputError(f"device={device!r}: solver='falkon' runs on the CPU alone; use solver='newton'")
    return Settings(
        loss, penalties, newton_steps, solver, precision, tolerance, trace_error, max_rank, statistic, device
    )
