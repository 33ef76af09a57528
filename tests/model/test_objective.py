from dataclasses import replace

import numpy as np
import pytest

from lanner.model.backend import NUMPY, Arrays
from lanner.model.features import make_features
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import loss_by_name
from lanner.model.nystrom import choose_pivots
from lanner.model.objective import Problem, Solution, cut_back
from lanner.model.weightings import DATA, REFERENCE, UNUSED, Weightings
from tests.conftest import Dense, shaped

EVENTS = shaped(2, 300)
BASIS = choose_pivots(EVENTS[:40], GaussianKernel(1.5), trace_error=1e-3, max_rank=12, rng=np.random.default_rng(1))
RIDGE = np.array([0.3, 2.0])


def make_problem(loss: str, arrays: Arrays = NUMPY) -> Problem:
    roles = np.random.default_rng(2).choice([UNUSED, REFERENCE, DATA], (300, 2), p=[0.1, 0.7, 0.2]).astype(np.int8)
    features = make_features(EVENTS, BASIS, precision="double", memory=10**8, arrays=arrays)
    return Problem(features, Weightings.of(roles, expected=60.0), loss_by_name(loss), RIDGE)


def dense(problem: Problem, fit: int) -> Dense:
    v0, v1 = (v[:, fit] for v in problem.weightings.block(slice(None), np.dtype(np.float64)))
    return Dense(BASIS.features(EVENTS), v0, v1, float(RIDGE[fit]), problem.loss.name)


COEFFICIENTS = np.random.default_rng(3).normal(0, 0.5, (BASIS.rank, 2))


@pytest.mark.parametrize("loss", ["logistic", "extended"])
def test_statistic_and_gradient_are_those_of_the_formula(loss: str, arrays: Arrays) -> None:
    problem = make_problem(loss, arrays)
    t, gradient = problem.evaluate(arrays.put(COEFFICIENTS))
    for fit in range(2):
        truth = dense(make_problem(loss), fit)
        w = COEFFICIENTS[:, fit]
        assert t[fit] == pytest.approx(truth.statistic(w), rel=1e-10)
        np.testing.assert_allclose(arrays.get(gradient)[:, fit], truth.gradient(w), rtol=1e-8, atol=1e-9)


def test_nothing_is_learned_at_zero() -> None:
    t, _ = make_problem("logistic").evaluate(np.zeros((BASIS.rank, 2)))
    assert t.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("loss", ["logistic", "extended"])
def test_an_anchored_gradient_is_linear_in_the_coefficients(loss: str) -> None:
    """To second order in f about an anchor: the gradient there, and the curvature there times the way from it."""
    problem = make_problem(loss)
    anchor = 0.5 * COEFFICIENTS
    _, gradient = replace(problem, anchor=anchor).evaluate(COEFFICIENTS)
    for fit in range(2):
        truth, there = dense(problem, fit), anchor[:, fit]
        expected = truth.gradient(there) + truth.hessian(there) @ (COEFFICIENTS[:, fit] - there)
        np.testing.assert_allclose(gradient[:, fit], expected, rtol=1e-8, atol=1e-9)


def test_an_anchor_at_zero_needs_no_coefficients() -> None:
    problem = make_problem("logistic")
    _, by_name = replace(problem, anchor="zero").evaluate(COEFFICIENTS)
    _, by_value = replace(problem, anchor=np.zeros_like(COEFFICIENTS)).evaluate(COEFFICIENTS)
    np.testing.assert_allclose(by_name, by_value, rtol=1e-12, atol=1e-12)


def test_some_of_the_fits_keep_their_own_ridge_and_anchor() -> None:
    problem = replace(make_problem("extended"), anchor=0.5 * COEFFICIENTS)
    _, whole = problem.evaluate(COEFFICIENTS)
    _, part = problem.take(np.array([1])).evaluate(COEFFICIENTS[:, [1]])
    np.testing.assert_allclose(part[:, 0], whole[:, 1], rtol=1e-12)


def test_huge_coefficients_do_not_overflow() -> None:
    t, gradient = make_problem("extended").evaluate(np.full((BASIS.rank, 2), 1e4))
    assert np.isfinite(t).all()
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize(
    ("before", "after", "length"),
    [(-1.0, 1.0, 0.5), (-1.0, 3.0, 0.25), (-1.0, 1e9, 0.1), (-1.0, 0.1, 0.7), (-1.0, np.inf, 0.1), (-1.0, np.nan, 0.1)],
)
def test_a_step_is_cut_back_to_where_its_slope_vanishes(before: float, after: float, length: float) -> None:
    assert cut_back(np.array(before), np.array(after)) == pytest.approx(length)


def test_batches_are_joined_in_order() -> None:
    first, second = (
        Solution(np.full((2, n), n), np.full(n, n), np.full(n, n > 1), np.full(n, n), np.full(n, n)) for n in (1, 3)
    )
    joined = Solution.joined([first, second])
    assert joined.statistic.tolist() == joined.iterations.tolist() == joined.decrement.tolist() == [1, 3, 3, 3]
    assert joined.coefficients.tolist() == [[1, 3, 3, 3]] * 2
    assert joined.converged.tolist() == [False, True, True, True]
