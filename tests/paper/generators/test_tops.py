from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lanner.paper.generators import tops
from lanner.paper.generators.jets import Jets
from lanner.paper.generators.vectors import momenta

pytest.importorskip("vector", reason="vector comes with the extra physics")


def random_momenta(rng: np.random.Generator, n: int, scale: float) -> Any:
    """Transverse momenta in all directions."""
    pt, phi = rng.exponential(scale, n), rng.uniform(-np.pi, np.pi, n)
    return momenta(px=pt * np.cos(phi), py=pt * np.sin(phi))


def test_neutrino_makes_a_w(rng):
    lepton = momenta(pt=rng.uniform(20, 100, 500), eta=rng.normal(0, 1, 500), phi=rng.uniform(-3, 3, 500), mass=0.0)
    met = random_momenta(rng, 500, 30)
    mt = np.sqrt(2 * lepton.pt * met.pt * (1 - np.cos(lepton.phi - met.phi)))
    for larger in (False, True):
        mass = tops.leptonic_w(lepton, met, np.full(500, larger)).mass
        np.testing.assert_allclose(mass[mt < tops.W_MASS - 0.1], tops.W_MASS, rtol=1e-6)
        np.testing.assert_allclose(mass[mt > tops.W_MASS + 0.1], mt[mt > tops.W_MASS + 0.1], rtol=1e-6)
    small, large = tops.neutrino_pz(lepton, met)
    assert np.all(np.abs(small) <= np.abs(large))


def test_masses_of_a_top_pair_are_found(rng):
    """Two tops at rest, each decayed by hand: every invariant mass is known."""
    n = 200
    top, w, zero = 172.5, 80.4, np.zeros(n)

    def decay(parent, mass_one, mass_two):
        """Two bodies back to back in the parent's rest frame."""
        m = parent.mass
        p = np.sqrt((m**2 - (mass_one + mass_two) ** 2) * (m**2 - (mass_one - mass_two) ** 2)) / (2 * m)
        cos, phi = rng.uniform(-0.9, 0.9, n), rng.uniform(-np.pi, np.pi, n)
        sin = np.sqrt(1 - cos**2)
        x, y, z = p * sin * np.cos(phi), p * sin * np.sin(phi), p * cos
        pair = momenta(px=x, py=y, pz=z, mass=mass_one), momenta(px=-x, py=-y, pz=-z, mass=mass_two)
        return [body.boost_p4(parent) for body in pair]

    rest = momenta(px=zero, py=zero, pz=zero, mass=top)
    (w1, b1), (w2, b2) = (decay(rest, w, 0.0) for _ in range(2))
    (lepton, neutrino), (q1, q2) = decay(w1, 0.0, 0.0), decay(w2, 0.0, 0.0)
    four = [b1, b2, q1, q2]
    jets = Jets(
        **{x: np.stack([getattr(p, x) for p in four], axis=1) for x in ("pt", "eta", "phi")},
        mass=np.zeros((n, 4)),
        flavour=np.tile([5, 5, 0, 0], (n, 1)),
        valid=np.ones((n, 4), dtype=bool),
    )
    met = momenta(px=neutrino.px, py=neutrino.py)
    made = tops.features(lepton, met, jets, np.tile([2, 1, 0, 0], (n, 1)), rng)
    np.testing.assert_allclose(made["m_jj"], w, rtol=1e-6)
    np.testing.assert_allclose(made["m_jjj"], top, rtol=1e-6)
    np.testing.assert_allclose(made["m_bb"], (b1 + b2).mass, rtol=1e-6)
    np.testing.assert_allclose(made["lepton_eta"], lepton.eta)
    np.testing.assert_array_equal(made["jet_1_btag"], 2.0)
    # Of the neutrino's two pz one is the true one, and makes a top with its b.
    assert 0.3 < np.mean(np.abs(made["m_jlv"] - top) < 0.1) < 1.0
