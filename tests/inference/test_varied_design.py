"""Null toys at a fixed design of nuisance parameters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lanner.inference.varied_design import Design, mixed
from lanner.uncertainties.effects import GlobalNormalisation, KnownRatio, Nuisances

X = np.random.default_rng(1).exponential(size=(5000, 1))
WEIGHTS = np.ones(len(X))


def scale(size: float) -> KnownRatio:
    return KnownRatio("scale", lambda x, nu: x[:, 0] * (1 - np.exp(-nu * size)) - nu * size)


def test_only_what_shapes_the_reference_has_points() -> None:
    nuisances = Nuisances((GlobalNormalisation("yield", 0.1), scale(0.1), scale(1e-3)))
    design = Design.of(nuisances.of(X), WEIGHTS)
    assert design.points.tolist() == [[0, 0, 0], [0, 1, 0], [0, -1, 0], [0, 2, 0], [0, -2, 0]]
    assert len(Design.of(Nuisances(()).of(X), WEIGHTS)) == 1


@given(arrays(float, 2, elements=st.floats(-2.5, 2.5)))
def test_weights_are_shares_that_lie_at_nu_along_each_axis(nu: np.ndarray) -> None:
    eye = np.eye(2)
    points = np.stack([0 * eye[0], *(s * step * eye[k] for k in (0, 1) for step in (1.0, 2.0) for s in (1, -1))])
    weights = Design(points).weights(nu)
    assert weights is not None
    assert weights.min() >= -1e-12
    assert weights.sum() == pytest.approx(1.0)
    if np.abs(nu).sum() <= 1:
        np.testing.assert_allclose(weights @ points, nu, atol=1e-12)


def test_far_outside_there_are_none() -> None:
    design = Design(np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert design.weights(np.array([3.0, 0.0])) is None
    assert design.weights(np.array([0.0, 30.0])) is not None  # along it nothing depends on the point


def test_toys_of_several_points_stand_together() -> None:
    toys = [np.arange(100.0), np.arange(100.0) + 1000]
    statistic, null = mixed(np.array([0.75, 0.25]), toys, [50.0, 1010.0])
    assert statistic == 50.0
    assert len(null) == 100
    # Of the first 75 toys of the one 25 reach it, of the first 25 of the other 15.
    assert np.count_nonzero(null >= statistic) == 25 + 15
