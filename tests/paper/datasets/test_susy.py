from __future__ import annotations

import json

import awkward as ak
import numpy as np
import pytest

from lanner.errors import InputError
from lanner.paper.datasets import susy
from lanner.paper.generators import pythia

needs_pythia = pytest.mark.skipif(not pythia.installed(), reason="events are generated with pythia8mc")


@pytest.fixture(scope="module")
def background() -> pythia.Run:
    return susy.simulate("background", 1400, seed=1)


@pytest.fixture(scope="module")
def chargino() -> pythia.Run:
    return susy.simulate("chargino", 900, seed=1)


@needs_pythia
def test_columns_cuts_and_acceptance(background, chargino):
    for run, acceptance in ((background, 0.51), (chargino, 0.34)):
        assert tuple(run.columns) == (*susy.LOW_LEVEL, *susy.HIGH_LEVEL)
        assert all(np.isfinite(column).all() for column in run.columns.values())
        c = susy.in_gev(run.columns)
        assert c["lepton_2_pT"].min() > 20
        assert np.all(c["lepton_1_pT"] >= c["lepton_2_pT"])
        assert np.abs(c["lepton_1_eta"]).max() < 2.5
        assert run.acceptance == pytest.approx(acceptance, abs=0.04)


@needs_pythia
def test_published_normalisation(background, chargino):
    """With 46 % signal, positive columns of the published file have mean 1, the others mean 0 and spread 1."""
    for name in susy.UNITS:
        b, s = background.columns[name], chargino.columns[name]
        mean = 0.54 * b.mean() + 0.46 * s.mean()
        if name.endswith(("_eta", "_phi")):
            assert mean == pytest.approx(0, abs=0.12)
            assert np.std(np.append(b, s)) == pytest.approx(1, abs=0.08)
        elif name not in ("axial_MET", "cos_theta_r1"):
            assert mean == pytest.approx(1, abs=0.13), name


@needs_pythia
def test_signal_has_more_missing_momentum_and_recoil(background, chargino):
    b, s = susy.in_gev(background.columns), susy.in_gev(chargino.columns)
    assert np.median(s["missing_energy_magnitude"]) > 1.5 * np.median(b["missing_energy_magnitude"])
    assert np.median(s["M_R"]) > np.median(b["M_R"])


@needs_pythia
def test_mt2_of_w_pairs_ends_at_the_w_mass(background):
    mt2 = susy.in_gev(background.columns)["MT2"]
    assert np.mean(mt2 > 110) < 0.02  # 25 GeV of missing momentum are noise
    assert np.mean(mt2 > 60) > 0.05


@needs_pythia
def test_high_level_follows_from_low_level(background):
    c = susy.in_gev(background.columns)
    one, two = ((c[f"lepton_{i}_pT"], c[f"lepton_{i}_eta"], c[f"lepton_{i}_phi"]) for i in (1, 2))
    phi = c["missing_energy_phi"]
    met = c["missing_energy_magnitude"][:, None] * np.stack([np.cos(phi), np.sin(phi)], axis=1)
    again = susy.features(one, two, met, ak.Array([[]] * len(phi)))
    for name in susy.HIGH_LEVEL:
        if name != "MET_rel":  # it knows of jets
            np.testing.assert_allclose(again[name], c[name], rtol=1e-6, atol=1e-6, err_msg=name)
    assert np.all(c["MET_rel"] <= again["MET_rel"] + 1e-9)
    assert np.mean(c["MET_rel"] < again["MET_rel"] - 1) < 0.4


def test_features_by_hand():
    one = np.array([60.0]), np.array([0.3]), np.array([0.0])
    two = np.array([30.0]), np.array([-0.2]), np.array([np.pi / 2])
    met = np.array([[-40.0, 0.0]])
    made = susy.features(one, two, met, ak.Array([[3.0]]))
    assert made["missing_energy_magnitude"][0] == 40
    assert made["axial_MET"][0] == pytest.approx(-40 * 60 / np.hypot(60, 30))
    # The jet at phi = 3.0 is nearer to the missing momentum, at pi, than the leptons.
    assert made["MET_rel"][0] == pytest.approx(40 * np.sin(np.pi - 3.0))
    assert made["M_TR_2"][0] == pytest.approx(np.sqrt((40 * 90 + 40 * 60) / 2))


@needs_pythia
def test_leptonic_w_transverse_mass_edge():
    """Before the detector, mT of each lepton and its neutrino ends at the W mass."""
    generator, _ = pythia._start(susy.process("background"), 5)
    p = generator.nextBatch(500).prt
    final = p[p.status > 0]
    plus = ak.firsts(final[(final.id == -11) | (final.id == -13)].p)
    neutrino = ak.firsts(final[(final.id == 12) | (final.id == 14)].p)
    (pt, phi), (met, met_phi) = (
        (np.hypot(q.px, q.py).to_numpy(), np.arctan2(q.py, q.px).to_numpy()) for q in (plus, neutrino)
    )
    mt = np.sqrt(2 * pt * met * (1 - np.cos(phi - met_phi)))
    assert np.mean(mt > 84) < 0.06  # the W's width
    assert np.mean((mt > 70) & (mt < 81)) > 0.2  # the Jacobian peak below the edge


def test_names_that_are_no_sample():
    with pytest.raises(InputError, match="'slepton' is not a sample"):
        susy.process("slepton")
    with pytest.raises(InputError, match="'slepton' is not known"):
        susy.generate(signal="slepton")
    with pytest.raises(InputError, match="must be positive"):
        susy.Cuts(pt=0)


def test_settings():
    settings = json.loads(json.dumps(susy.settings("chargino")))
    assert "1000024 200.0" in settings["spectrum"]
    assert settings["pair_pt"] == susy.PAIR_PT
    assert settings["units"]["MT2"]["size"] == 32.06
