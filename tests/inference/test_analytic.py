"""The analytic null against dense simulations of a linear problem, where everything else is exact."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lanner import settings
from lanner.errors import InputError
from lanner.inference.analytic import analytic_law, analytic_moments, analytic_weights
from lanner.inference.weighted_chi2 import WeightedChi2
from lanner.model.moments import Eigenbasis, Spectrum

SETTINGS: dict[str, Any] = {
    "expected": 100.0,
    "reference_size": 400.0,
    "events": 500.0,
    "penalty": 0.1,
    "loss": "logistic",
}


def _centred(eigenvalues):
    """Features whose mean is 0."""
    return Spectrum(np.asarray(eigenvalues), np.zeros(np.shape(eigenvalues)))


class TestWeights:
    def test_by_hand(self):
        # c penalty n / N(0) is 1 for the logistic loss and 0.5 for the extended one: h = 1/2 in both.
        assert analytic_weights(_centred([1.0]), **SETTINGS) == pytest.approx([1.25 * 0.75])
        assert analytic_weights(_centred([0.5]), **{**SETTINGS, "loss": "extended"}) == pytest.approx([1.25 * 0.75])

    def test_without_penalty_every_feature_counts_once(self):
        weights = analytic_weights(_centred([3.0, 1.0, 0.2]), **{**SETTINGS, "penalty": 1e-15, "reference_size": 1e12})
        assert weights == pytest.approx([1.0, 1.0, 1.0])

    def test_rounding_is_clipped(self):
        assert analytic_weights(_centred([1.0, -1e-9]), **SETTINGS)[1] == 0.0
        assert analytic_law(_centred([1.0, -1e-9]), **SETTINGS).weights.size == 1

    def test_falling(self):
        weights = analytic_weights(_centred([0.1, 1.0]), **SETTINGS)
        assert weights[0] > weights[1]

    @pytest.mark.parametrize("shape_only", [False, True])
    def test_a_mean_takes_a_rank_one_matrix_away(self, shape_only):
        # Without the eigenbasis: eigenvalues of Q C, with f = H^-1 u, t = u Q u and C the covariance of u.
        rng = np.random.default_rng(3)
        phi = rng.exponential(size=(4000, 6)) @ rng.normal(size=(6, 6))
        mean, second = phi.mean(axis=0), phi.T @ phi / len(phi)
        n0, a0 = SETTINGS["expected"], SETTINGS["expected"] / SETTINGS["reference_size"]
        inverse = np.linalg.inv(n0 * second + 2 * SETTINGS["penalty"] * SETTINGS["events"] * np.eye(6))
        form = 2 * inverse - n0 * inverse @ second @ inverse
        covariance = n0 * ((1 + a0) * second - (a0 + shape_only) * np.outer(mean, mean))
        wanted = np.sort(np.linalg.eigvals(form @ covariance).real)[::-1]
        spectrum = Eigenbasis.of(mean, second).spectrum
        found = analytic_weights(spectrum, shape_only=shape_only, **SETTINGS)
        law, moments = WeightedChi2(found), analytic_moments(spectrum, shape_only=shape_only, **SETTINGS)
        assert (moments.mean, moments.std) == pytest.approx((law.mean, law.std), rel=1e-9)
        assert moments.skewness == pytest.approx(8 * (found**3).sum() / law.std**3, rel=1e-9)
        assert found == pytest.approx(wanted, rel=1e-9)


class TestBadInput:
    def test_unknown_loss_lists_the_choices(self):
        with pytest.raises(InputError, match=r"'hinge'.*'logistic', 'extended'"):
            analytic_law(_centred([1.0]), **{**SETTINGS, "loss": "hinge"})

    @pytest.mark.parametrize("name", ["expected", "reference_size", "events", "penalty"])
    @pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
    def test_bad_numbers_are_named(self, name, value):
        with pytest.raises(InputError, match=f"{name} = "):
            analytic_law(_centred([1.0]), **{**SETTINGS, name: value})

    @pytest.mark.parametrize(
        ("eigenvalues", "message"),
        [
            ([1.0, -0.1], "smallest eigenvalue is -0.1"),
            ([-1.0], "smallest eigenvalue is -1"),
            ([1.0, np.nan], "1 of 2 eigenvalues"),
            ([], "not empty"),
            ([[1.0]], "one-dimensional"),
            ([0.0, 0.0], "at least one"),
        ],
    )
    def test_bad_eigenvalues(self, eigenvalues, message):
        with pytest.raises(InputError, match=message):
            analytic_law(_centred(eigenvalues), **SETTINGS)


# phi_j(x) = sqrt(2 s_j) cos(j pi x) with x uniform: S = diag(s_j) exactly and the mean of phi is 0, but for a constant
# feature, of which a fixed number of data leaves nothing.
MOMENTS = 2.0 ** -np.arange(8)
EXPECTED, REFERENCE_SIZE, PENALTY, TOYS = 2000, 8000, 0.02, 3000


def features(x):
    order = np.arange(1, MOMENTS.size + 1)
    waves = np.sqrt(2 * MOMENTS) * np.cos(np.pi * x[:, None] * order)
    return np.hstack([np.ones((len(x), 1)), waves])


@pytest.fixture(
    scope="module",
    params=[("logistic", False), ("extended", False), ("logistic", True)],
    ids=["logistic", "extended", "shape only"],
)
def toys(request):
    """One-step fits of null toys with a known feature law: t to second order and t with e^f."""
    loss, shape_only = request.param
    rng = np.random.default_rng(7)
    # A fine table of phi: an event is a row of it, so a toy is one multinomial draw of its rows.
    bins = 600
    table = features((np.arange(bins) + 0.5) / bins)
    outer = (table[:, :, None] * table[:, None, :]).reshape(bins, -1)
    a0 = EXPECTED / REFERENCE_SIZE
    second_order, exact = np.empty(TOYS), np.empty(TOYS)
    for toy in range(TOYS):
        reference = a0 * rng.multinomial(REFERENCE_SIZE, np.full(bins, 1 / bins))
        data = rng.multinomial(EXPECTED if shape_only else rng.poisson(EXPECTED), np.full(bins, 1 / bins))
        ridge = PENALTY * (REFERENCE_SIZE + data.sum()) * np.eye(MOMENTS.size + 1)
        u = (data - reference) @ table
        if loss == "logistic":
            gradient, hessian = -u / 2, ((reference + data) / 4 @ outer).reshape(ridge.shape) + ridge
        else:
            gradient, hessian = -u, (reference @ outer).reshape(ridge.shape) + ridge
        f = table @ -np.linalg.solve(hessian, gradient)
        second_order[toy] = 2 * (data @ f - reference @ (f + f**2 / 2))
        exact[toy] = 2 * (data @ f - reference @ np.expm1(f))
    null = analytic_law(
        Eigenbasis.of(table.mean(axis=0), table.T @ table / bins).spectrum,
        expected=EXPECTED,
        reference_size=REFERENCE_SIZE,
        events=REFERENCE_SIZE + EXPECTED,
        penalty=PENALTY,
        loss=loss,
        shape_only=shape_only,
    )
    return SimpleNamespace(second_order=second_order, exact=exact, null=null)


class TestAgainstToys:
    # The curvature is the toy's own, which moves t by about sqrt(features/N(0)) at random and, on average, by some
    # features/N(0) = 0.4 %: 1 % is allowed for that, besides four standard errors of the toys. e^f against its
    # second order is of the same size, since <f^2> is about features/N(0).
    @pytest.mark.parametrize("kind", ["second_order", "exact"])
    def test_mean(self, toys, kind):
        t = getattr(toys, kind)
        error = 4 * toys.null.std / np.sqrt(TOYS)
        assert np.mean(t) == pytest.approx(toys.null.mean, abs=error + 0.01 * toys.null.mean)

    # The standard error of a variance is its size times sqrt((kurtosis - 1)/n), with the law's own fourth moment:
    # kurtosis = 3 + 12 sum w^4 / (sum w^2)^2.
    @pytest.mark.parametrize("kind", ["second_order", "exact"])
    def test_variance(self, toys, kind):
        t, weights = getattr(toys, kind), toys.null.weights
        kurtosis = 3 + 12 * np.sum(weights**4) / np.sum(weights**2) ** 2
        error = 4 * np.sqrt((kurtosis - 1) / TOYS)
        assert np.var(t) / toys.null.std**2 == pytest.approx(1.0, abs=error + 0.03)

    @pytest.mark.parametrize("p", [0.5, 0.1, 0.01])
    def test_tail(self, toys, p):
        fraction = np.mean(toys.exact > toys.null.isf(p))
        assert fraction == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / TOYS) + 0.02 * p)

    def test_the_penalty_matters_here(self, toys):
        # Otherwise the tests above could not tell 2h - h^2 from 1: the weights span 1.25 down to half of it or less.
        assert toys.null.weights[-1] < 0.5 * toys.null.weights[0]


@pytest.mark.parametrize("penalty", [settings.PENALTY.least, settings.PENALTY.most])
@pytest.mark.parametrize("expected", [settings.EXPECTED.least, settings.EXPECTED.most])
def test_moments_are_numbers_for_every_penalty_and_expectation_that_is_allowed(penalty: float, expected: float) -> None:
    spectrum = Spectrum(np.array([1.0, 0.1, 1e-3]), np.array([0.1, 0.0, 0.0]))
    moments = analytic_moments(spectrum, expected=expected, reference_size=2e5, events=2e5, penalty=penalty)
    assert all(np.isfinite([moments.mean, moments.std, moments.skewness]))
