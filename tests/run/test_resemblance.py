"""What was learned beside each nuisance: alike where it is the nuisance itself, unlike where it is something else."""

from typing import Any

import numpy as np
import pytest

import lanner
from lanner.run.resemblance import cosines
from lanner.run.uncertain import Nuisance
from lanner.uncertainties.fitted import AtEvents

REFERENCE = np.random.default_rng(1).exponential(size=(40_000, 1))
HOW: dict[str, Any] = {"expected": 1000, "toys": 150, "seed": 2, "progress": False, "uncertainty_cost": False}


def stretched(size: float) -> lanner.KnownRatio:
    return lanner.KnownRatio("scale", lambda x, nu: x[:, 0] * (1 - np.exp(-nu * size)) - nu * size)


def bent(x: np.ndarray, nu: float) -> np.ndarray:
    return np.asarray(0.02 * nu * np.cos(2 * x[:, 0]))


def found(data: np.ndarray, *uncertainties: Any) -> dict[str, Nuisance]:
    result = lanner.search(REFERENCE, data, uncertainties=uncertainties, **HOW)
    return {nuisance.name: nuisance for nuisance in result.nuisances}


@pytest.mark.parametrize("sign", [1, -1])
def test_a_nuisance_whose_uncertainty_is_too_small_is_recognised_with_its_sign(sign: int) -> None:
    """The scale is off by 20 %, and was said to be known to 0.5 %."""
    data = np.random.default_rng(3).exponential(np.exp(0.2 * sign), size=(1000, 1))
    alike = found(data, stretched(0.005), lanner.Normalisation("yield", 0.02), lanner.KnownRatio("bend", bent))
    assert alike["scale"].resemblance is not None
    assert sign * alike["scale"].resemblance > 0.85
    assert alike["scale"].resemblance_of_toys is not None
    assert abs(alike["scale"].resemblance) > alike["scale"].resemblance_of_toys
    for other in ("yield", "bend"):
        assert abs(alike[other].resemblance or 0.0) < 0.5


def test_a_narrow_peak_looks_like_no_nuisance() -> None:
    rng = np.random.default_rng(4)
    data = np.vstack([rng.exponential(size=(1000, 1)), rng.normal(2.5, 0.03, (60, 1))])
    for nuisance in found(data, stretched(0.02), lanner.Normalisation("yield", 0.02)).values():
        assert abs(nuisance.resemblance or 1.0) < 0.35


def test_a_departure_in_the_number_looks_like_a_normalisation() -> None:
    data = np.random.default_rng(5).exponential(size=(1400, 1))
    alike = found(data, stretched(0.02), lanner.Normalisation("yield", 0.005))
    assert alike["yield"].resemblance == pytest.approx(1.0, abs=0.05)
    assert abs(alike["scale"].resemblance or 0.0) < 0.3


def test_cosines_are_those_of_the_weighted_functions_and_without_their_means_of_the_shape(
    rng: np.random.Generator,
) -> None:
    d = rng.normal(size=(500, 2)).astype(np.float32)
    f, weights, ratio = rng.normal(size=(500, 3)) + 0.5, rng.uniform(0.5, 1.5, 500), rng.uniform(0.8, 1.2, 500)
    at_nu, v = AtEvents(ratio, d, np.eye(2)), weights * ratio
    direct = [[np.sum(v * g * h) / np.sqrt(np.sum(v * g * g) * np.sum(v * h * h)) for h in d.T] for g in f.T]
    np.testing.assert_allclose(cosines(f, at_nu, weights, centred=False), direct, rtol=1e-6)
    covariance = np.cov(np.hstack([f, d]).T, aweights=v)
    correlation = (covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance))))[:3, 3:]
    np.testing.assert_allclose(cosines(f, at_nu, weights, centred=True), correlation, rtol=1e-5, atol=1e-7)


def test_nothing_learned_or_a_nuisance_that_does_nothing_resembles_nothing() -> None:
    at_nu = AtEvents(np.ones(3), np.array([[1.0, 0.0]] * 3, dtype=np.float32), np.eye(2))
    f = np.column_stack([np.zeros(3), np.ones(3)])
    assert cosines(f, at_nu, np.ones(3), centred=False).tolist() == [[0.0, 0.0], [1.0, 0.0]]
