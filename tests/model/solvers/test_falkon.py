from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import NotConvexError
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import loss_by_name
from lanner.model.nystrom import trace_tolerance
from lanner.model.solvers.falkon import FalkonProblem, minimise_falkon
from lanner.settings import FitSettings
from tests.conftest import exponential, shaped

# Reduced forms of the paper's shapes: dimensions, width, N0, N(0), penalty.
SHAPES = [(1, 0.3, 20_000, 1000, 1e-6), (5, 3.0, 6000, 1200, 1e-6), (8, 4.5, 6000, 1200, 1e-6)]


def samples(dimensions: int, n0: int, n1: int) -> tuple[np.ndarray, np.ndarray]:
    if dimensions == 1:
        return exponential(n0, n1, seed=8)
    x = shaped(dimensions, n0 + n1, seed=8)
    return x[:n0], x[n0:]


@pytest.mark.parametrize("newton_steps", [1, None])
@pytest.mark.parametrize("loss", ["logistic", "extended"])
@pytest.mark.parametrize(("dimensions", "width", "n0", "n1", "penalty"), SHAPES)
def test_both_solvers_give_the_same_t_on_the_same_pivots(
    dimensions: int, width: float, n0: int, n1: int, penalty: float, loss: str, newton_steps: int | None
) -> None:
    reference, data = samples(dimensions, n0, n1)
    common: dict[str, Any] = {
        "expected": n1,
        "width": width,
        "penalty": penalty,
        "newton_steps": newton_steps,
        "loss": loss,
    }
    newton = lanner.fit_ratio(reference, data, centers=500, rng=1, **common)
    falkon = lanner.fit_ratio(reference, data, centers=newton.centers, solver="falkon", rng=2, **common)
    spread = lanner.analytic_null(newton).std
    assert newton.converged
    assert falkon.converged
    assert falkon.statistic == pytest.approx(newton.statistic, abs=max(0.01 * spread, 0.01 * abs(newton.statistic)))
    np.testing.assert_allclose(falkon.log_ratio(data), newton.log_ratio(data), atol=0.02)


@pytest.mark.parametrize(("dimensions", "width", "n0", "n1", "penalty"), SHAPES)
def test_the_default_rank_is_close_to_all_centres(
    dimensions: int, width: float, n0: int, n1: int, penalty: float
) -> None:
    reference, data = samples(dimensions, n0, n1)
    centers = np.vstack([reference, data])[np.random.default_rng(4).choice(n0 + n1, 1500, replace=False)]
    common: dict[str, Any] = {"expected": n1, "width": width, "penalty": penalty, "rng": 3}
    everything = lanner.fit_ratio(reference, data, centers=centers, solver="falkon", **common)
    default_tolerance = trace_tolerance(penalty=penalty, events=n0 + n1, expected=n1, curvature=0.5)
    thinned = lanner.fit_ratio(reference, data, centers=centers, trace_error=default_tolerance, **common)
    assert thinned.rank < 1500
    assert thinned.statistic == pytest.approx(everything.statistic, abs=0.2 * lanner.analytic_null(thinned).std)


def test_a_decreasing_sequence_of_penalties_ends_at_the_same_minimum() -> None:
    reference, data = exponential(5000, 300)
    common: dict[str, Any] = {"expected": 300, "width": 0.2, "centers": 200, "rng": 1, "solver": "falkon"}
    direct = lanner.fit_ratio(reference, data, penalty=1e-7, **common)
    warmed = lanner.fit_ratio(reference, data, penalty=[1e-3, 1e-5, 1e-7], **common)
    assert warmed.statistic == pytest.approx(direct.statistic, rel=1e-4)
    assert warmed.penalty == 1e-7


def test_the_sequence_means_the_same_in_both_solvers() -> None:
    reference, data = exponential(5000, 300)
    common: dict[str, Any] = {"expected": 300, "width": 0.2, "rng": 1, "penalty": [1e-2, 1e-6], "newton_steps": 1}
    newton = lanner.fit_ratio(reference, data, centers=200, precision="double", **common)
    falkon = lanner.fit_ratio(reference, data, centers=newton.centers, solver="falkon", **common)
    assert falkon.statistic == pytest.approx(newton.statistic, rel=1e-4)


def test_a_concave_problem_is_an_error(rng: np.random.Generator) -> None:
    x = rng.normal(size=(200, 1))
    v0 = np.where(np.abs(x[:, 0]) < 0.5, -3.0, 0.5)
    problem = FalkonProblem(x, v0, np.zeros(200), GaussianKernel(0.3), x[:40], x, loss_by_name("extended"))
    with pytest.raises(NotConvexError, match="negative event weights"):
        minimise_falkon(problem, (1e-3,), FitSettings(newton_steps=1, tolerance=1e-5))
