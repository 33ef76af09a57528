from __future__ import annotations

import numpy as np
import pytest

from lanner.paper.generators.vectors import momenta

pytest.importorskip("vector", reason="vector comes with the extra physics")


def test_components_follow_from_pt_eta_phi_and_mass(rng):
    pt, eta, phi = rng.uniform(5, 90, 100), rng.normal(0, 2, 100), rng.uniform(-np.pi, np.pi, 100)
    p = momenta(pt=pt, eta=eta, phi=phi, mass=4.2)
    np.testing.assert_allclose(p.px, pt * np.cos(phi))
    np.testing.assert_allclose(p.pz, pt * np.sinh(eta))
    np.testing.assert_allclose(p.E, np.sqrt((pt * np.cosh(eta)) ** 2 + 4.2**2))
    np.testing.assert_allclose(p.eta, eta, rtol=1e-9, atol=1e-12)


def test_sums_are_cartesian_and_exact():
    total = momenta(px=np.array([3.0]), py=1.0) + momenta(px=np.array([-2.0]), py=5.0)
    assert (total.px.tolist(), total.py.tolist()) == ([1.0], [6.0])
    assert set(total.dtype.names) == {"x", "y"}
