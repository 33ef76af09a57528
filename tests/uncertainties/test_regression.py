"""Both regressions against closed forms and dense solutions."""

import numpy as np
import pytest
from scipy.special import expit

from lanner import Sample, Scaling
from lanner.errors import NotConvexError
from lanner.uncertainties.regression import Fitted, least_squares, logistic, second_moments
from lanner.uncertainties.smooth import Part, Smooth, halves, stretch_edges

N = 20_000


def problem(x: np.ndarray, weights: np.ndarray, smooth: Smooth | None = None) -> list[Part]:
    if smooth is None:
        scaling = Scaling.learn(Sample.of(x), "robust")
        smooth = Smooth.choose(x, scaling, rng=np.random.default_rng(1), memory=2**30)
    return [
        Part(smooth, x[half], weights[half], stretch_edges(len(x), k), stored=False)
        for k, half in enumerate(halves(len(x)))
    ]


def regressed(x: np.ndarray, weights: np.ndarray, targets: np.ndarray) -> tuple[Fitted, Smooth]:
    parts = problem(x, weights)
    fitted = least_squares(parts, second_moments(parts), [targets[half] for half in halves(len(x))])
    return fitted, parts[0].smooth


def test_ratios_of_weights_are_found_for_all_targets_at_once() -> None:
    x = np.random.default_rng(1).normal(size=(N, 2))
    w = np.random.default_rng(2).uniform(0.5, 1.5, N)
    truth = np.column_stack([0.1 * x[:, 0], 0.2 * np.sin(x[:, 1]), np.full(N, 0.05)])
    fitted, smooth = regressed(x, w, w[:, None] * truth)
    found = smooth.sums(x, fitted.halves.mean(axis=0))
    assert np.sqrt(np.mean((found - truth) ** 2, axis=0)).max() < 2e-3


def test_noise_of_weights_is_averaged_and_not_learned() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(N, 1))
    fitted, smooth = regressed(x, np.ones(N), 0.3 * rng.normal(size=(N, 1)))
    assert np.abs(smooth.sums(x, fitted.halves[0])).max() < 0.1


def test_negative_weights_do_no_harm() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(N, 1))
    signs = np.where(rng.random(N) < 0.2, -1.0, 1.0)  # independent of x: the ratio is that of the weights
    fitted, smooth = regressed(x, signs, signs[:, None] * 0.1 * x)
    np.testing.assert_allclose(
        smooth.sums(np.array([[-1.0], [1.0]]), fitted.halves.mean(axis=0))[:, 0], [-0.1, 0.1], atol=0.02
    )


def test_weights_that_are_mostly_negative_are_refused() -> None:
    x = np.random.default_rng(5).normal(size=(2000, 1))
    with pytest.raises(NotConvexError, match="negative weights of the reference outweigh"):
        regressed(x, np.where(x[:, 0] > 0, -1e9, 1e9), np.ones((2000, 1)))


def test_the_logistic_fit_ends_at_its_minimum() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(N, 1)), rng.normal(0.3, 1.0, (N, 1))
    reference = problem(x, np.ones(N))
    varied = problem(y, np.full(N, 1.1), reference[0].smooth)
    fitted = logistic(reference, varied, second_moments(reference), "a shift")
    smooth, c = reference[0].smooth, fitted.halves[0, :, 0]
    assert fitted.penalties[0] is not None
    ridge = np.repeat((1e-6, *fitted.penalties[0]), smooth.sizes)
    p, q = smooth(reference[0].features), smooth(varied[0].features)
    gradient = p.T @ expit(p @ c) - 1.1 * q.T @ expit(-q @ c) + ridge * c
    f = np.vstack([p, q])
    curvature = (f * (0.25 * np.r_[np.ones(len(p)), np.full(len(q), 1.1)])[:, None]).T @ f + np.diag(ridge)
    assert gradient @ np.linalg.solve(curvature, gradient) < 1e-4
    # The truth: 0.3 x - 0.045 + log 1.1.
    grid = np.linspace(-2, 2, 9)
    found = smooth.sums(grid[:, None], fitted.halves.mean(axis=0))[:, 0]
    np.testing.assert_allclose(found, 0.3 * grid - 0.045 + np.log(1.1), atol=0.05)
