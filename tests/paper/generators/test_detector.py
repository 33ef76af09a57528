from __future__ import annotations

import numpy as np
import pytest

from lanner.paper.generators import detector


@pytest.mark.parametrize(("pt", "resolution"), [(30.0, 0.0104), (100.0, 0.0141), (1000.0, 0.1005)])
def test_muon_resolution(rng, pt, resolution):
    measured = detector.muon_pt(np.full(200_000, pt), rng)
    assert measured.mean() == pytest.approx(pt, rel=0.001)
    assert measured.std() / pt == pytest.approx(resolution, rel=0.01)
    assert measured.min() > 0


def test_jets_are_measured_worse_when_softer_and_lower_when_b(rng):
    spread = [detector.jet_pt(np.full(50_000, pt), False, rng).std() / pt for pt in (20.0, 50.0, 200.0)]
    assert spread == sorted(spread, reverse=True)
    assert 0.05 < spread[-1] < 0.12
    light, b = (detector.jet_pt(np.full(100_000, 60.0), flag, rng).mean() for flag in (False, True))
    assert (light, b) == (pytest.approx(0.95 * 60, rel=0.01), pytest.approx(0.92 * 60, rel=0.01))


def test_recoil_resolution(rng):
    measured = detector.recoil(np.zeros((100_000, 2)), np.full(100_000, 300.0), 600.0, rng)
    np.testing.assert_allclose(measured.std(axis=0), 0.55 * 30, rtol=0.02)


def test_tags_fade_with_eta():
    flavour, eta = np.array([5, 5, 5, 4, 0]), np.array([0.5, -1.45, 2.0, 0.0, 0.0])
    np.testing.assert_allclose(detector.tag_efficiency(flavour, eta), [0.7, 0.35, 0.0, 0.2, 0.015])


def test_settings_are_the_numbers_of_the_parts_asked_for():
    assert detector.settings("muon") == {"muon_resolution": 0.01, "muon_resolution_slope": 1e-4}
