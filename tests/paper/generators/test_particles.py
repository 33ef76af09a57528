from __future__ import annotations

from types import SimpleNamespace

import awkward as ak
import numpy as np
import pytest

from lanner.paper.datasets import susy
from lanner.paper.generators import pythia
from lanner.paper.generators.particles import Final, sum_et, total, transverse

pytest.importorskip("vector", reason="vector comes with the extra physics")


def batch(*particles: tuple[int, float, float, float]) -> SimpleNamespace:
    """One event of massless final particles: code, pT, eta, phi, in the form of Pythia's batches."""
    code, pt, eta, phi = (np.array(x) for x in zip(*particles, strict=True))
    p = {"px": pt * np.cos(phi), "py": pt * np.sin(phi), "pz": pt * np.sinh(eta), "e": pt * np.cosh(eta)}
    momenta = ak.zip({name: ak.Array([values.tolist()]) for name, values in p.items()})
    fields = {"id": ak.Array([code.tolist()]), "status": ak.Array([[1] * len(code)]), "p": momenta}
    return SimpleNamespace(prt=ak.zip(fields, depth_limit=2))


@pytest.mark.skipif(not pythia.installed(), reason="events are generated with pythia8mc")
def test_momentum_balance():
    """All final particles together have no transverse momentum; their parts are what the reconstruction uses."""
    generator, _ = pythia._start(susy.process("chargino"), 5)
    final = Final.of(generator.nextBatch(200))
    everything = total(final.leptons) + total(final.invisible) + total(final.rest)
    np.testing.assert_allclose(everything, 0, atol=1e-5)


def test_photons_are_measured_with_electrons_and_not_with_muons():
    electron, muon, photon = (11, 40.0, 0.0, 0.0), (-13, 30.0, 1.0, 2.0), (22, 10.0, 0.05, 0.0)
    beside_muon = (22, 5.0, 1.0, 2.0)
    final = Final.of(batch(electron, muon, photon, beside_muon))
    found = final.hardest(-1)
    assert found.pt[0] == pytest.approx(50.0)
    assert 0 < found.eta[0] < 0.05
    assert not found.muon[0]
    assert final.hardest(+1).pt[0] == pytest.approx(30.0)
    assert final.hardest(+1).muon[0]
    np.testing.assert_allclose(sum_et(final.rest), [5.0])


def test_an_event_without_a_lepton_has_one_of_no_momentum():
    found = Final.of(batch((1, 20.0, 0.0, 0.0))).hardest(0)
    assert (found.pt[0], found.eta[0], found.phi[0]) == (0.0, 0.0, 0.0)


def test_hadrons_balance_leptons_and_neutrinos():
    final = Final.of(batch((11, 40.0, 0.0, 0.0), (12, 25.0, 0.3, 1.5), (1, 5.0, 6.0, 0.0)))
    expected = -transverse(np.array([40.0]), np.array([0.0])) - transverse(np.array([25.0]), np.array([1.5]))
    np.testing.assert_allclose(final.hadrons(final.hardest(0)), expected)
    assert ak.num(final.seen())[0] == 0  # |eta| = 6 is beyond the calorimeters
