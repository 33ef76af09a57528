import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lanner.errors import ConvergenceWarning
from lanner.model.kernel import GaussianKernel
from lanner.model.single_fit import SingleFit, fit_single, warn_unless_converged
from lanner.model.weightings import DATA, REFERENCE, Weightings
from lanner.settings import FitSettings
from tests.conftest import Dense, shaped

EVENTS = shaped(2, 400)
CENTERS = EVENTS[::20]
EXPECTED, PENALTY, KERNEL = 80.0, 1e-4, GaussianKernel(1.5)
ROLES = np.repeat(np.array([REFERENCE, DATA], dtype=np.int8), [320, 80])
V0, V1 = (ROLES == REFERENCE) * EXPECTED / 320, (ROLES == DATA) * 1.0

CLOSELY: dict[str, Any] = {"precision": "double", "tolerance": 1e-8}


def fit(penalties: tuple[float, ...] = (PENALTY,), **settings: Any) -> SingleFit:
    return fit_single(
        EVENTS,
        Weightings.of(ROLES[:, None], expected=EXPECTED),
        events_in_objective=400.0,
        expected=EXPECTED,
        kernel=KERNEL,
        candidates=CENTERS,
        settings=FitSettings(**(CLOSELY | settings)),
        penalties=penalties,
        memory=10**8,
        rng=np.random.default_rng(1),
        thinned=False,
    )


def kernel_matrix(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.exp(-((x[:, None] - y) ** 2).sum(axis=2) / (2 * KERNEL.width**2))


def dense(loss: str) -> Dense:
    """Features from the eigenvectors of the centres' kernel matrix: another basis of the same functions."""
    values, vectors = np.linalg.eigh(kernel_matrix(CENTERS, CENTERS))
    return Dense(kernel_matrix(EVENTS, CENTERS) @ vectors / np.sqrt(values), V0, V1, PENALTY * 400, loss)


@pytest.mark.parametrize("solver", ["newton", "falkon"])
@pytest.mark.parametrize("loss", ["logistic", "extended"])
def test_the_fit_is_the_minimum_of_the_objective(loss: str, solver: str) -> None:
    found, truth = fit(loss=loss, solver=solver, tolerance=1e-5), dense(loss)
    w = truth.minimum()
    assert found.converged
    assert found.statistic == pytest.approx(truth.statistic(w), rel=1e-4)
    f = kernel_matrix(EVENTS, found.centers) @ found.coefficients
    np.testing.assert_allclose(f, truth.phi @ w, atol=2e-3)


def test_one_newton_step_is_the_papers_mode() -> None:
    truth = dense("logistic")
    assert fit(newton_steps=1).statistic == pytest.approx(truth.statistic(truth.newton(1)), rel=1e-5)


def test_the_score_is_t_to_second_order() -> None:
    """q = 2 w.u - N(0) w.S.w of the step with the reference's curvature, in the centres' own basis."""
    truth = dense("logistic")
    u = truth.phi.T @ (V1 - V0)
    s = (truth.phi * V0[:, None]).T @ truth.phi  # N(0) S
    w = np.linalg.solve(s + 2 * PENALTY * 400 * np.eye(len(u)), u)
    found = fit(statistic="score")
    assert found.statistic == pytest.approx(2 * w @ u - w @ s @ w, rel=1e-6)
    assert (found.converged, found.iterations) == (True, 1)


def test_the_spectrum_is_that_of_the_reference_alone() -> None:
    phi = dense("logistic").phi[:320]
    truth = np.linalg.eigvalsh(phi.T @ phi / 320)[::-1]
    np.testing.assert_allclose(fit().spectrum.values, truth, atol=1e-9)
    assert fit(solver="falkon").spectrum is None


def test_penalties_before_the_last_do_not_move_the_minimum() -> None:
    assert fit((1e-2, 1e-3, PENALTY)).statistic == pytest.approx(fit().statistic, rel=1e-6)


def test_samples_that_overlap_have_no_gap() -> None:
    assert fit().gap is None


def test_a_fit_that_stopped_early_warns_where_it_was_asked_for() -> None:
    settings = FitSettings(penalty=PENALTY)

    def asked() -> None:
        warn_unless_converged(replace(fit(), converged=False, iterations=7), settings, stacklevel=2)

    with pytest.warns(ConvergenceWarning, match=r"after 7 passes.*raise the penalty \(now 0.0001\)") as said:
        asked()
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unless_converged(fit(), settings)
