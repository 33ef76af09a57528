from __future__ import annotations

import json

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.paper.datasets import higgs
from lanner.paper.generators import pythia

needs_pythia = pytest.mark.skipif(not pythia.installed(), reason="events are generated with pythia8mc")


@pytest.fixture(scope="module")
def background() -> pythia.Run:
    return higgs.simulate("background", 900, seed=1)


@pytest.fixture(scope="module")
def signal() -> pythia.Run:
    return higgs.simulate("heavy-higgs", 900, seed=1)


def half(values: np.ndarray) -> tuple[float, float]:
    """The shortest interval with half the events."""
    ordered = np.sort(values)
    n = len(ordered) // 2
    start = int(np.argmin(ordered[n:] - ordered[: len(ordered) - n]))
    return float(ordered[start]), float(ordered[start + n])


@needs_pythia
def test_columns_cuts_and_acceptance(background, signal):
    for run, acceptance in ((background, 0.33), (signal, 0.36)):
        assert tuple(run.columns) == (*higgs.LOW_LEVEL, *higgs.HIGH_LEVEL)
        assert (len(higgs.LOW_LEVEL), len(higgs.HIGH_LEVEL)) == (21, 7)
        assert all(np.isfinite(column).all() for column in run.columns.values())
        c = higgs.in_gev(run.columns)
        assert min(c[f"jet_{i}_pt"].min() for i in (1, 2, 3, 4)) > 15
        assert c["lepton_pT"].min() > 15
        assert run.acceptance == pytest.approx(acceptance, abs=0.05)


@needs_pythia
def test_published_normalisation(background, signal):
    """53 % signal: positive columns of the published file have mean 1, its angles spread 1."""
    for name in higgs.UNITS:
        mean = 0.47 * background.columns[name].mean() + 0.53 * signal.columns[name].mean()
        if name.endswith(("_eta", "_phi")):
            spread = np.std(np.append(background.columns[name], signal.columns[name]))
            assert (mean, spread) == (pytest.approx(0, abs=0.15), pytest.approx(1, abs=0.1)), name
        else:
            assert mean == pytest.approx(1, abs=0.2 if name.endswith("btag") else 0.12), name


@needs_pythia
def test_two_b_tags_at_most(background):
    c = higgs.in_gev(background.columns)
    tags = np.stack([c[f"jet_{i}_btag"].round(6) for i in (1, 2, 3, 4)])
    assert set(np.unique(tags)) == {0.0, 1.0, 2.0}
    listed = np.bincount((tags > 0).sum(axis=0), minlength=3) / tags.shape[1]
    assert len(listed) == 3
    assert listed[2] > 0.7


@needs_pythia
def test_masses_of_w_top_and_higgs(background, signal):
    b, s = higgs.in_gev(background.columns), higgs.in_gev(signal.columns)
    low, high = half(s["m_bb"])
    assert low < 110 < high  # 125 GeV less what leaves the jets and neutrinos take
    assert high - low < 50
    assert half(b["m_bb"])[1] - half(b["m_bb"])[0] > 60  # no peak of the background
    for sample in (b, s):
        assert half(sample["m_jj"])[0] < 80.4 < half(sample["m_jj"])[1] + 3
        # A W where there is a solution, and the transverse mass, which is larger, where there is none
        assert np.median(sample["m_lv"]) == pytest.approx(80.4, abs=0.5)
        assert sample["m_lv"].min() > 75
    assert half(b["m_jjj"])[0] < 165 < half(b["m_jjj"])[1]
    assert 330 < np.median(s["m_wwbb"]) < 470


@needs_pythia
def test_nothing_is_printed(capfd):
    higgs.sample("background", 5)
    out, err = capfd.readouterr()
    assert out + err == ""


def test_names_that_are_no_sample():
    with pytest.raises(InputError, match="'top' is not a sample"):
        higgs.process("top")
    with pytest.raises(InputError, match="jets above"):
        higgs.Cuts(jet_pt=1)


def test_settings():
    settings = json.loads(json.dumps(higgs.settings("heavy-higgs")))
    assert "35:m0 = 425" in settings["pythia"]
    assert settings["detector"]["tag_b"] == 0.7
