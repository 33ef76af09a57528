from __future__ import annotations

import numpy as np
import pytest

from lanner.paper.generators import contact

ALPHA = 1 / 128


def ratio(mass: float, cos: float, up: bool, c_w: float) -> float:
    def at(c: float) -> float:
        s, angle = np.array([mass**2]), np.array([cos])
        return float(contact.cross_section(s, angle, np.array([up]), np.array([ALPHA]), c)[0])

    return at(c_w) / at(0.0)


@pytest.mark.parametrize(("c_w", "scale"), [(1.0, 5.01), (1.2, 4.58), (1.5, 4.09)])
def test_scale_in_the_usual_notation(c_w, scale):
    # 4 pi / Lambda^2 = c_W / 2, from the size of the term that the code adds to A_LL at s -> infinity
    s, one, alpha = np.array([1e20]), np.ones(1), np.full(1, ALPHA)
    term = np.sqrt(contact.cross_section(s, one, one > 0, alpha, c_w)[0] / 4)  # (1 + cos)^2 = 4; per GeV^2
    assert np.sqrt(4 * np.pi / term) / 1000 == pytest.approx(scale, abs=0.01)


@pytest.mark.parametrize("up", [True, False])
def test_more_events_for_up_and_down_quarks_growing_with_mass_and_coupling(up):
    masses = (150, 300, 600, 1200, 2400)
    ratios = [ratio(m, 0.5, up, 1.0) for m in masses]
    assert all(r > 1 for r in ratios)
    assert ratios == sorted(ratios)
    assert 1 < ratio(600, 0.5, up, 1.0) < ratio(600, 0.5, up, 1.2) < ratio(600, 0.5, up, 1.5)
    assert ratio(600, 0.5, up, -1.0) < 1  # the other sign interferes destructively


def test_it_is_left_handed():
    assert ratio(1000, -1.0, True, 1.5) == pytest.approx(1.0)


def test_asymmetry_of_the_standard_model():
    # On the Z peak A_FB = 3/4 A_q A_mu with A = 2 v a / (v^2 + a^2); interference with the photon vanishes there.
    cos = np.linspace(-1, 1, 20_001)
    for up, charge, isospin in ((True, 2 / 3, 0.5), (False, -1 / 3, -0.5)):
        s = np.full_like(cos, contact.Z_MASS**2)
        density = contact.cross_section(s, cos, np.full(cos.shape, up), np.full_like(cos, ALPHA), 0.0)
        measured = (density[cos > 0].sum() - density[cos < 0].sum()) / density.sum()
        left, right = isospin - charge * contact.SIN2_EFFECTIVE, -charge * contact.SIN2_EFFECTIVE
        quark = (left**2 - right**2) / (left**2 + right**2)
        left, right = -0.5 + contact.SIN2_EFFECTIVE, contact.SIN2_EFFECTIVE
        muon = (left**2 - right**2) / (left**2 + right**2)
        assert measured == pytest.approx(0.75 * quark * muon, abs=0.003)


def test_the_bound_holds_everywhere():
    mass, cos = np.meshgrid(np.geomspace(50, 9000, 300), np.linspace(-1, 1, 41))
    s, alpha = mass.ravel() ** 2, np.full(mass.size, ALPHA)
    for c_w in (1.0, 1.2, 1.5):
        b1, b2 = contact.bias(c_w)
        bound = 1 + b1 * s * 1e-6 + b2 * (s * 1e-6) ** 2
        for up in (True, False):
            flavour = np.full(mass.size, up)
            w = contact.cross_section(s, cos.ravel(), flavour, alpha, c_w)
            w = w / contact.cross_section(s, cos.ravel(), flavour, alpha, 0.0)
            assert np.all(w <= bound)


def test_against_pythias_own_contact_term():
    """Pythia has one sign for all quarks: -1 is right for up-type, +1 for down-type ones."""
    pytest.importorskip("pythia8mc", reason="events are generated with pythia8mc")
    import awkward as ak

    from lanner.paper.generators.pythia import Process, _start

    common = ("Beams:eCM = 13000", "PartonLevel:all = off", "HadronLevel:all = off", "PhaseSpace:mHatMin = 800")

    def run(scale: float, eta: int, n: int = 6000):
        lines: tuple[str, ...] = ("ContactInteractions:QCffbar2mumubar = on", f"ContactInteractions:Lambda = {scale:g}")
        lines += (f"ContactInteractions:etaLL = {eta}", "ContactInteractions:nQuarkNew = 5")
        pythia, _ = _start(Process("contact", common + lines), 12)
        info = pythia.nextBatch(n).info
        up = ak.to_numpy(np.abs(info.id1)) % 2 == 0
        return pythia.infoPython().sigmaGen(), up, info

    none, up0, info = run(1e7, 1)  # Drell-Yan
    s, alpha = ak.to_numpy(info.sHat), ak.to_numpy(info.alphaEM)
    # tHat = (p1 - p3)^2 = -s (1 - cos)/2, with the muon as particle 3 and the quark as particle 1 or 2
    cos = np.sign(ak.to_numpy(info.id1)) * (1 + 2 * ak.to_numpy(info.tHat) / s)
    w = contact.cross_section(s, cos, up0, alpha, 1.0) / contact.cross_section(s, cos, up0, alpha, 0.0)
    lam = 1000 * np.sqrt(8 * np.pi / 1.0)
    for up, eta in ((True, -1), (False, 1)):
        with_term, up1, _ = run(lam, eta)
        expected = w[up0 == up].mean()
        assert with_term * np.mean(up1 == up) / (none * np.mean(up0 == up)) == pytest.approx(expected, rel=0.08)
