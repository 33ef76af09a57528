"""The fit of nuisance parameters alone, against closed forms and chi2."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from lanner.uncertainties.effects import Effects, GlobalNormalisation, KnownRatio, Nuisances, Yield
from lanner.uncertainties.profile import Likelihood, profile

N = 2000.0
REFERENCE = np.random.default_rng(1).exponential(size=(100_000, 1))


def scale_of(size: float) -> Any:
    """log r of an exponential whose mean grows by e^(nu size) at a fixed yield."""

    def log_r(features: np.ndarray, nu: float) -> np.ndarray:
        return np.asarray(features[:, 0] * (1 - np.exp(-nu * size)) - nu * size)

    return log_r


def nuisances(size: float) -> Nuisances:
    return Nuisances((KnownRatio("scale", scale_of(size)), GlobalNormalisation("yield", size)))


def data_at(nu: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    number = rng.poisson(N * np.exp(nu[1] * size))
    return rng.exponential(np.exp(nu[0] * size), size=(number, 1))


def likelihood(data: np.ndarray, a: np.ndarray, size: float, *, shape_only: bool = False) -> Likelihood:
    both = nuisances(size)
    weights = np.full(len(REFERENCE), N / len(REFERENCE))
    return Likelihood(both.of(data), both.of(REFERENCE), weights, a, shape_only)


@pytest.mark.parametrize("shape_only", [False, True])
def test_gradient_and_curvature_are_the_derivatives(shape_only: bool, rng: np.random.Generator) -> None:
    log_l = likelihood(data_at(np.zeros(2), 0.15, rng), np.array([0.3, -1.0]), 0.15, shape_only=shape_only)
    nu = np.array([0.4, -0.2])
    value, gradient, curvature = log_l(nu)
    assert np.isfinite(value)
    np.testing.assert_allclose(gradient, optimize.approx_fprime(nu, lambda x: log_l(x)[0], 1e-5), rtol=1e-3, atol=0.02)
    for k in range(2):
        step = np.eye(2)[k] * 1e-4
        change = (log_l(nu + step)[1] - log_l(nu - step)[1]) / 2e-4
        np.testing.assert_allclose(-change, curvature[k], rtol=1e-3, atol=0.02)


def test_a_normalisation_alone_has_a_closed_form() -> None:
    """n = 1.1 N(0) with an uncertainty of 5 %: n s - N s e^(s nu) = nu."""
    whole = Nuisances((GlobalNormalisation("yield", 0.05),))
    data = np.zeros((2200, 1))
    found = profile(Likelihood(whole.of(data), whole.of(REFERENCE), np.full(len(REFERENCE), N / len(REFERENCE)),
                               np.zeros(1)))  # fmt: skip
    truth = optimize.brentq(lambda nu: 2200 * 0.05 - N * 0.05 * np.exp(0.05 * nu) - nu, -5, 5)
    assert found.nu[0] == pytest.approx(truth, abs=1e-6)
    assert found.expected == pytest.approx(N * np.exp(0.05 * truth))
    assert found.errors[0] == pytest.approx((1 + N * 0.05**2 * np.exp(0.05 * truth)) ** -0.5)


@pytest.mark.parametrize("nu", [(0.0, 0.0), (2.0, 2.0), (1.0, -1.0)])
def test_the_true_values_are_found_within_their_errors(nu: tuple[float, float]) -> None:
    rng, pulls = np.random.default_rng(3), []
    for _ in range(60):
        a = rng.normal(nu, 1.0)
        found = profile(likelihood(data_at(np.array(nu), 0.05, rng), a, 0.05))
        pulls.append((found.nu - nu) / found.errors)
    assert np.abs(np.mean(pulls, axis=0)).max() < 4 / 60**0.5
    assert np.std(pulls) == pytest.approx(1.0, abs=4 / (2 * 120) ** 0.5)


def test_delta_follows_chi2_where_the_nuisances_are_zero() -> None:
    rng = np.random.default_rng(5)
    deltas = [profile(likelihood(data_at(np.zeros(2), 0.05, rng), rng.normal(size=2), 0.05)).delta for _ in range(150)]
    assert stats.kstest(deltas, stats.chi2(2).cdf).pvalue > 1e-3


def test_a_data_set_of_the_varied_model_far_away_is_fitted_too(rng: np.random.Generator) -> None:
    found = profile(likelihood(data_at(np.array([4.0, -4.0]), 0.15, rng), np.array([4.0, -4.0]), 0.15))
    assert found.nu == pytest.approx([4.0, -4.0], abs=0.8)


def test_without_nuisances_there_is_nothing_to_fit() -> None:
    nothing = Effects((), 3)
    found = profile(Likelihood(nothing, nothing, np.ones(3), np.empty(0)))
    assert (len(found.nu), found.delta, found.expected) == (0, 0.0, 3.0)


def test_two_nuisances_that_do_the_same_share_what_they_explain() -> None:
    same = Effects((Yield(0.05, np.ones(2200)),) * 2, 2200)
    reference = Effects((Yield(0.05, np.ones(1000)),) * 2, 1000)
    found = profile(Likelihood(same, reference, np.full(1000, 2.0), np.zeros(2)))
    assert found.nu[0] == pytest.approx(found.nu[1])
    assert found.nu[0] > 0.5
