"""Networks with nuisance parameters: loss and slope against sums by hand, and what they find."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from lanner.comparison import Network  # noqa: E402
from lanner.comparison.tests.network.profiled import ProfiledNetwork, ProfiledObjective  # noqa: E402
from lanner.comparison.tests.network.stack import Architecture  # noqa: E402
from tests.inference.test_varied_fit import ladder, only  # noqa: E402

RNG = np.random.default_rng(1)
EVENTS, NETWORKS = 300, 2
LAYERS = Architecture((1, 3, 1))


def objective() -> tuple[ProfiledObjective, list[np.ndarray]]:
    x, d = RNG.normal(size=(1, EVENTS)), RNG.normal(size=(2, EVENTS)) / 3
    reference, data = RNG.uniform(0, 0.5, (NETWORKS, EVENTS)), (RNG.random((NETWORKS, EVENTS)) < 0.3) * 1.0
    away = RNG.normal(size=(NETWORKS, 2))
    parts = [x, reference, data, d, away]
    x, reference, data, d, away = (torch.from_numpy(a.astype(np.float32)) for a in parts)
    return ProfiledObjective(LAYERS, x, reference, data, slopes=d, away=away, unit=4.0), parts


def test_the_value_is_the_likelihood_and_the_slope_its_derivative() -> None:
    made, (x, reference, data, d, away) = objective()
    parameters = RNG.normal(size=(NETWORKS, LAYERS.parameters + 2)) / 3

    def log_l(theta: np.ndarray) -> np.ndarray:
        values = []
        for b in range(NETWORKS):
            w1, b1, w2, b2 = np.split(theta[b, : LAYERS.parameters], [3, 6, 9])
            hidden = 1 / (1 + np.exp(-(w1[:, None] * x + b1[:, None])))
            nu = 4.0 * theta[b, LAYERS.parameters :]
            g = w2 @ hidden + b2 + nu @ d
            off = nu - away[b]
            values.append(data[b] @ g - reference[b] @ np.expm1(g) - off @ off / 2)
        return np.array(values)

    t, slope = made.evaluate(torch.from_numpy(parameters.astype(np.float32)))
    np.testing.assert_allclose(t.numpy(), 2 * log_l(parameters), rtol=1e-4)
    for k in range(parameters.shape[1]):
        step = np.zeros_like(parameters)
        step[:, k] = 1e-5
        numeric = -(log_l(parameters + step) - log_l(parameters - step)) / 2e-5
        np.testing.assert_allclose(slope.numpy()[:, k], numeric, rtol=2e-3, atol=2e-2)
    some = made.take(np.array([1])).evaluate(torch.from_numpy(parameters[1:].astype(np.float32)))[0]
    assert float(some[0]) == pytest.approx(float(t[1]), rel=1e-6)


def test_the_curvature_is_that_of_the_reference_and_of_the_prior() -> None:
    made, (_, reference, _, d, _) = objective()
    curvature = made.curvature(torch.zeros(NETWORKS, LAYERS.parameters + 2)).numpy()
    expected = 16 * ((reference[0] * d) @ d.T + np.eye(2))
    np.testing.assert_allclose(curvature[0, -2:, -2:], expected, rtol=1e-4)


def test_tau_is_at_least_delta_and_a_shift_is_explained() -> None:
    experiment = only(ladder(loss="extended"))
    network = ProfiledNetwork(Network(clip=5.0, starts=1), experiment)
    draws = [*experiment.data_draws(1), *(experiment.scheme.toy(i) for i in range(2))]
    tau, delta = network.statistics(draws)
    assert (tau >= delta - 0.2).all()
    assert (tau - delta < 60).all()
