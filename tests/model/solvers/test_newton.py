import numpy as np
import pytest

from lanner.model.features import make_features
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import loss_by_name
from lanner.model.nystrom import choose_pivots
from lanner.model.objective import Problem, Solution
from lanner.model.solvers.newton import own_curvature_newton, refine
from lanner.model.weightings import DATA, REFERENCE, Weightings
from lanner.settings import FitSettings
from tests.conftest import Dense, shaped

EVENTS = shaped(2, 400)
BASIS = choose_pivots(EVENTS[:60], GaussianKernel(1.0), trace_error=1e-4, max_rank=15, rng=np.random.default_rng(1))
RIDGE = 0.05
CLOSELY = FitSettings(tolerance=1e-9)


def make_problem(loss: str, fits: int = 1) -> Problem:
    """Data from one corner of the reference, so that f is large."""
    roles = np.full((400, fits), REFERENCE, dtype=np.int8)
    for fit in range(fits):
        roles[np.argsort(EVENTS[:, 0])[-60 - 10 * fit :], fit] = DATA
    features = make_features(EVENTS, BASIS, precision="double", memory=10**8)
    return Problem(features, Weightings.of(roles, expected=60.0), loss_by_name(loss), np.full(fits, RIDGE))


def dense(problem: Problem, fit: int = 0) -> Dense:
    v0, v1 = (v[:, fit] for v in problem.weightings.block(slice(None), np.dtype(np.float64)))
    return Dense(BASIS.features(EVENTS), v0, v1, RIDGE, problem.loss.name)


@pytest.mark.parametrize("loss", ["logistic", "extended"])
@pytest.mark.parametrize("steps", [1, 3])
def test_so_many_steps_are_those_of_the_textbook(loss: str, steps: int) -> None:
    problem = make_problem(loss)
    found = own_curvature_newton(problem, FitSettings(newton_steps=steps))
    np.testing.assert_allclose(found.coefficients[:, 0], dense(problem).newton(steps), rtol=1e-5, atol=1e-6)
    assert found.converged.all()


@pytest.mark.parametrize("loss", ["logistic", "extended"])
def test_it_ends_at_the_minimum(loss: str) -> None:
    problem, truth = make_problem(loss), dense(make_problem(loss))
    found = own_curvature_newton(problem, CLOSELY)
    w = truth.minimum()
    assert found.converged.all()
    assert found.statistic[0] == pytest.approx(truth.statistic(w), rel=1e-9)
    np.testing.assert_allclose(found.coefficients[:, 0], w, rtol=1e-6, atol=1e-7)


def test_steps_that_overshoot_are_cut_back() -> None:
    """Full steps of the extended loss go astray from where f is far below its minimum."""
    problem, truth = make_problem("extended"), dense(make_problem("extended"))
    start = np.full((BASIS.rank, 1), -2.0)
    full = start[:, 0] - np.linalg.solve(truth.hessian(start[:, 0]), truth.gradient(start[:, 0]))
    assert truth.value(full) > truth.value(start[:, 0])
    found = own_curvature_newton(problem, CLOSELY, start=start)
    assert found.converged.all()
    np.testing.assert_allclose(found.coefficients[:, 0], truth.minimum(), rtol=1e-5, atol=1e-6)


def test_the_decrement_is_that_of_the_last_step() -> None:
    problem, truth = make_problem("logistic"), dense(make_problem("logistic"))
    found = own_curvature_newton(problem, FitSettings(newton_steps=2))
    assert found.decrement[0] == pytest.approx(truth.decrement(truth.newton(1)), rel=1e-6)


def unfinished(fits: int) -> Solution:
    """The first fit has ended, the others have not."""
    zero = np.zeros(fits)
    return Solution(np.zeros((BASIS.rank, fits)), zero, np.arange(fits) == 0, np.full(fits, 7), zero)


def test_only_fits_that_have_not_converged_are_finished() -> None:
    problem, begun = make_problem("logistic", fits=3), unfinished(3)
    done = refine(problem, begun, CLOSELY)
    assert done.converged.all()
    assert not done.coefficients[:, 0].any()
    assert done.iterations[0] == 7
    assert (done.iterations[1:] > 7).all()
    for fit in (1, 2):
        np.testing.assert_allclose(done.coefficients[:, fit], dense(problem, fit).minimum(), rtol=1e-6, atol=1e-7)
    assert not begun.coefficients.any()  # what was given stays as it was


def test_a_single_step_from_a_given_place() -> None:
    problem, start = make_problem("logistic", fits=2), np.full((BASIS.rank, 2), 0.1)
    done = refine(problem, unfinished(2), CLOSELY, step_from=start)
    truth = dense(problem, 1)
    step = np.linalg.solve(truth.hessian(start[:, 1]), truth.gradient(start[:, 1]))
    np.testing.assert_allclose(done.coefficients[:, 1], start[:, 1] - step, rtol=1e-7, atol=1e-8)
