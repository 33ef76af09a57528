from __future__ import annotations

import json

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.paper.datasets import dimuon
from lanner.paper.generators import contact, pythia

needs_pythia = pytest.mark.skipif(not pythia.installed(), reason="events are generated with pythia8mc")


@pytest.fixture(scope="module")
def z() -> pythia.Run:
    """Drell-Yan with the Z peak, as in the published files."""
    return dimuon.simulate("background", 2000, seed=1, cuts=dimuon.PUBLISHED)


def peak(mll: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """Where most events are, and half the width of the middle 68 %, in a window."""
    inside = np.sort(mll[(mll > low) & (mll < high)])
    half = len(inside) // 2
    start = np.argmin(inside[half:] - inside[: len(inside) - half])  # the shortest half
    sixteen, eighty_four = np.percentile(inside, [16, 84])
    return float(inside[start : start + half].mean()), float(eighty_four - sixteen) / 2


@needs_pythia
def test_z_peak(z):
    position, width = peak(z.columns["mll"], 76, 106)
    assert position == pytest.approx(91.2, abs=0.4)
    assert 1.2 < width < 3.0  # 1.25 from the Z, 0.7 from the detector, a tail from radiation


@needs_pythia
def test_cuts_order_and_angle(z):
    c = z.columns
    assert c["mll"].min() > 60
    assert c["pt2"].min() > 20
    assert np.all(c["pt1"] >= c["pt2"])
    assert max(np.abs(c["eta1"]).max(), np.abs(c["eta2"]).max()) < 2.1
    assert c["delta_phi"].min() >= 0
    assert c["delta_phi"].max() < 2 * np.pi
    assert np.median(c["delta_phi"]) == pytest.approx(np.pi, abs=0.05)
    assert np.mean(np.abs(c["delta_phi"] - np.pi) < 0.5) > 0.7  # back to back, as far as the Z's pT allows
    low_level = {name: c[name] for name in dimuon.LOW_LEVEL}
    np.testing.assert_allclose(dimuon.invariant_mass(**low_level), c["mll"])


@needs_pythia
def test_acceptance(z):
    # 487 pb of 1492 pb above 58.2 GeV
    assert z.acceptance == pytest.approx(0.327, abs=0.02)
    assert len(z.columns["pt1"]) == 2000


@needs_pythia
@pytest.mark.parametrize(("mass", "width"), [(200, 5.5), (300, 8.3), (600, 18.0)])
def test_zprime_peaks_and_widths(mass, width):
    mll = dimuon.sample(f"zprime-{mass}", 600, seed=3)["mll"]
    position, measured = peak(mll, 0.85 * mass, 1.1 * mass)
    assert position == pytest.approx(mass, rel=0.015)
    # The half width of the middle 68 % of a Breit-Wigner is 0.92 of its full width Gamma times the window's effect;
    # muons of mass/2 add their resolution, and radiation a tail.
    resolution = mass * np.hypot(0.01, 1e-4 * mass / 2) / np.sqrt(2)
    assert 0.5 * np.hypot(width, resolution) < measured < 2.0 * np.hypot(width, resolution)


@needs_pythia
def test_contact_interaction_has_more_events_at_large_mass():
    drell_yan = dimuon.sample("background", 650, seed=5)["mll"]
    eft = dimuon.sample("contact-1.5", 650, seed=5)["mll"]
    # Drell-Yan has 3e-4 of its events above 1 TeV, the interaction with c_W = 1.5 about 2 %.
    assert np.mean(eft > 1000) > 0.008
    assert np.mean(drell_yan > 1000) < 0.006
    np.testing.assert_allclose(np.mean(eft < 120), np.mean(drell_yan < 120) / contact.YIELDS[1.5], atol=0.08)


@needs_pythia
def test_yield_of_the_contact_interaction_is_that_of_its_table():
    close = dimuon.Cuts(mass=100.5)  # not in the table, so it is computed
    assert dimuon.relative_yield("contact-1.5", cuts=close, events=650) - 1 == pytest.approx(0.163, abs=0.05)
    assert dimuon.relative_yield("contact-1.5") == contact.YIELDS[1.5]
    assert dimuon.relative_yield("contact-1.5", cuts=dimuon.PUBLISHED) == contact.YIELDS_60[1.5]
    for table in (contact.YIELDS, contact.YIELDS_60):
        assert 1 < table[1.0] < table[1.2] < table[1.5]


def fake_sample(name, n, **options):
    """As many events as asked for; their pt1 tells what they are."""
    kinds = {"background": 0.0, "zprime-300": 1.0, "contact-1.2": 2.0}
    return {"pt1": np.full(n, kinds[name]), "index": np.arange(float(n))}


def test_numbers_of_events(monkeypatch):
    monkeypatch.setattr(dimuon, "sample", fake_sample)
    made = dimuon.generate(events=100, signal="zprime-300", signal_events=10, seed=1)
    assert np.bincount(made["pt1"].astype(int)).tolist() == [100, 10]
    assert 0 < np.flatnonzero(made["pt1"])[0] < 60  # shuffled
    default = dimuon.generate(events=100, signal="zprime-300")
    assert np.count_nonzero(default["pt1"]) == dimuon.SIGNALS["zprime-300"]
    sizes = [len(dimuon.generate(events=100, poisson=True, seed=s)["pt1"]) for s in range(200)]
    assert np.var(sizes) == pytest.approx(100, rel=0.35)
    assert len(dimuon.generate(events=0)["pt1"]) == 0


def test_all_events_feel_a_contact_interaction(monkeypatch):
    monkeypatch.setattr(dimuon, "sample", fake_sample)
    made = dimuon.generate(events=20_000, signal="contact-1.2")["pt1"]
    assert np.all(made == 2)
    assert len(made) == round(20_000 * contact.YIELDS[1.2])
    assert len(dimuon.generate(events=100, signal="contact-1.2", signal_events=7)["pt1"]) == 107


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"signal": "zprime-250"}, "'zprime-250' is not known.*'zprime-300'"),
        ({"events": -1.0}, "events=-1.0"),
        ({"signal": "contact-1.0", "signal_events": np.nan}, "signal_events=nan"),
    ],
)
def test_requests_that_make_no_sense(options, message):
    with pytest.raises(InputError, match=message):
        dimuon.generate(**options)


def test_samples_and_cuts_that_make_no_sense():
    with pytest.raises(InputError, match="'zprime-250' is not a sample"):
        dimuon.process("zprime-250")
    with pytest.raises(InputError, match="mass cut above 10 GeV"):
        dimuon.Cuts(mass=5)


def test_settings_say_how_the_events_were_made():
    settings = json.loads(json.dumps(dimuon.settings("contact-1.2", cuts=dimuon.PUBLISHED)))
    assert settings["cuts"] == {"pt": 20.0, "eta": 2.1, "mass": 60.0}
    assert "WeakSingleBoson:ffbar2gmZ = on" in settings["pythia"]
    assert settings["c_W_per_TeV2"] == 1.2
    assert settings["detector"] == {"muon_resolution": 0.01, "muon_resolution_slope": 1e-4}
