"""What nuisances do to events: values and derivatives against differences and closed forms."""

import numpy as np
import pytest

from lanner.uncertainties.effects import (
    Effect,
    Effects,
    Exact,
    GlobalNormalisation,
    KnownRatio,
    Nuisances,
    Quadratic,
    Yield,
)

RNG = np.random.default_rng(1)
X = RNG.exponential(size=(50, 1))


def scale(features: np.ndarray, nu: float) -> np.ndarray:
    """An exponential whose mean grows by e^(0.15 nu), at a fixed yield."""
    shift = 0.15 * nu
    return np.asarray(features[:, 0] * (1 - np.exp(-shift)) - shift)


EFFECTS: dict[str, Effect] = {
    "quadratic": Quadratic(RNG.normal(size=50), RNG.normal(size=50)),
    "yield": Yield(0.3, RNG.random(50)),
    "exact": Exact(scale, X),
}


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.parametrize("nu", [-2.5, -0.7, 0.0, 0.4, 3.0])
def test_slope_and_curvature_are_the_derivatives(name: str, nu: float) -> None:
    effect, step = EFFECTS[name], 1e-4
    value, slope, curvature = effect.at(nu)
    below, above = effect.at(nu - step)[0], effect.at(nu + step)[0]
    np.testing.assert_allclose(slope, (above - below) / (2 * step), atol=1e-6)
    np.testing.assert_allclose(curvature, (above - 2 * value + below) / step**2, atol=1e-5)


@pytest.mark.parametrize("name", EFFECTS)
def test_nothing_happens_at_the_central_value(name: str) -> None:
    np.testing.assert_allclose(EFFECTS[name].at(0.0)[0], 0.0, atol=1e-15)


@pytest.mark.parametrize("name", EFFECTS)
def test_some_of_the_events_have_what_they_had_among_all(name: str) -> None:
    rows = np.array([7, 3, 44])
    for part, whole in zip(EFFECTS[name].take(rows).at(0.6), EFFECTS[name].at(0.6), strict=True):
        np.testing.assert_array_equal(part, whole[rows])


def test_beyond_one_uncertainty_a_quadratic_goes_on_in_a_straight_line() -> None:
    effect = Quadratic(np.array([0.2]), np.array([-0.4]))
    values = np.array([effect.at(nu)[0][0] for nu in (1.0, 2.0, 3.0)])
    assert np.diff(values) == pytest.approx([0.2 - 0.8] * 2)


def test_a_process_that_is_everything_is_a_normalisation() -> None:
    whole = GlobalNormalisation("luminosity", 0.03).of(X)
    np.testing.assert_allclose(whole.at(1.7)[0], 1.7 * 0.03)
    np.testing.assert_allclose(whole.at(1.7)[1], 0.03)
    np.testing.assert_allclose(whole.at(1.7)[2], 0.0, atol=1e-15)


def test_nuisances_act_one_after_the_other() -> None:
    both = Nuisances((GlobalNormalisation("luminosity", 0.1), KnownRatio("scale", scale)))
    assert both.names == ("luminosity", "scale")
    log_r, slopes, curvatures = both.of(X).at(np.array([0.5, -1.0]))
    np.testing.assert_allclose(log_r, 0.05 + scale(X, -1.0))
    assert slopes.shape == curvatures.shape == (50, 2)
    taken = both.of(X).take(np.arange(5)).at(np.array([0.5, -1.0]))
    np.testing.assert_array_equal(taken[1], slopes[:5])


def test_no_nuisances_change_nothing() -> None:
    log_r, slopes, _ = Effects((), 4).at(np.empty(0))
    assert log_r.tolist() == [0.0] * 4
    assert slopes.shape == (4, 0)
