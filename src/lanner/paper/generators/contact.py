"""Drell-Yan with the contact interaction c_W J^a.J^a of the left-handed SU(2) current.

The current J^a = sum psi-bar gamma sigma^a/2 psi sums quarks and leptons, so J^3.J^3 holds each pair q, mu twice:
2 c_W T3(q) T3(mu) (q q)(mu mu), which is -c_W/2 for up-type and +c_W/2 for down-type quarks. In the usual notation of
contact terms 4 pi / Lambda^2 = c_W/2, so Lambda = 5.01, 4.58 and 4.09 TeV for c_W = 1, 1.2 and 1.5 TeV^-2. For a quark
of chirality A and a muon of chirality B,

    A_AB = e^2 Q_q Q_mu / s + g_Z^2 g_A(q) g_B(mu) / (s - m_Z^2 + i s Gamma_Z/m_Z),     A_LL += 2 c_W T3(q) T3(mu)
    dsigma/dcos ~ (|A_LL|^2 + |A_RR|^2)(1 + cos)^2 + (|A_LR|^2 + |A_RL|^2)(1 - cos)^2

with the angle between quark and mu-. Above the Z both signs add to the Standard Model's: more events, at large m_ll.

Pythia has one sign for all quarks. So Drell-Yan events are generated, more of them at large mass (`bias`), and accepted
with probability w / (1 + b1 s + b2 s^2), where w is the ratio of the two cross sections at their s, flavour and angle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.paper.generators.vectors import generated
from lanner.typing import Array

# N(1)/N(0) for pT > 20 GeV and |eta| < 2.1 at 13 TeV, with m_ll > 100 GeV, and with the whole Z peak above 60 GeV.
YIELDS = {1.0: 1.0969, 1.2: 1.1213, 1.5: 1.1612}
YIELDS_60 = {1.0: 1.0041, 1.2: 1.0051, 1.5: 1.0067}

SIN2_WEAK, SIN2_EFFECTIVE = 0.2312, 0.2315  # in g_Z and in the couplings, as in Pythia
Z_MASS, Z_WIDTH = 91.1876, 2.4952
# w <= 1 + 9 c s + 24 (c s)^2, with s in TeV^2: at high energy and forward angle, down quarks have
# w = 1 + 8.75 c s + 22.9 (c s)^2.
BOUND = (9.0, 24.0)


def bias(c_w: float) -> tuple[float, float]:
    """b1 and b2: events are generated 1 + b1 s + b2 s^2 times as often as they occur, with s in TeV^2."""
    return BOUND[0] * c_w, BOUND[1] * c_w**2


def cross_section(s: Array, cos: Array, up: NDArray[np.bool_], alpha: Array, c_w: float) -> Array:
    """dsigma/dcos of q q-bar -> mu- mu+ up to factors that do not depend on c_w; s in GeV^2, c_w in TeV^-2."""
    charge, isospin = np.where(up, 2 / 3, -1 / 3), np.where(up, 0.5, -0.5)
    e2 = 4 * np.pi * alpha
    z = e2 / (SIN2_WEAK * (1 - SIN2_WEAK)) / (s - Z_MASS**2 + 1j * s * Z_WIDTH / Z_MASS)
    quark = {"L": isospin - charge * SIN2_EFFECTIVE, "R": -charge * SIN2_EFFECTIVE}
    muon = {"L": -0.5 + SIN2_EFFECTIVE, "R": SIN2_EFFECTIVE}

    def squared(a: str, b: str) -> Array:
        amplitude = -e2 * charge / s + z * quark[a] * muon[b]
        if a == b == "L":
            amplitude = amplitude - c_w * 1e-6 * isospin  # 2 c_W T3(q) T3(mu), T3(mu) = -1/2
        return np.asarray(np.abs(amplitude) ** 2)

    same, opposite = squared("L", "L") + squared("R", "R"), squared("L", "R") + squared("R", "L")
    return same * (1 + cos) ** 2 + opposite * (1 - cos) ** 2


def hard_process(batch: Any) -> tuple[Array, Array, NDArray[np.bool_], Array]:
    """s, the cosine of the angle between quark and mu-, whether the quark is up-type, and alpha(s) of each event.

    The shower boosts the Z without rotating it. So a boost along the Z's momentum leads back to the rest frame in which
    the quarks moved along the beam axis.
    """
    import awkward as ak

    p, info = batch.prt, batch.info
    muons = generated(p[np.abs(p.status) == 23])
    minus, plus = (ak.firsts(muons[muons.id == code]) for code in (13, -13))
    id1 = ak.to_numpy(info.id1)
    cos = np.sign(id1) * ak.to_numpy(minus.boostCM_of_p4(minus + plus).costheta)
    return ak.to_numpy(info.sHat), cos, np.abs(id1) % 2 == 0, ak.to_numpy(info.alphaEM)


def unweight(batch: Any, c_w: float, rng: np.random.Generator) -> tuple[Array, NDArray[np.bool_]]:
    """The weight w of each event, and whether it is accepted for a sample with the interaction."""
    s, cos, up, alpha = hard_process(batch)
    weight = cross_section(s, cos, up, alpha, c_w) / cross_section(s, cos, up, alpha, 0.0)
    b1, b2 = bias(c_w)
    bound = 1 + b1 * (s * 1e-6) + b2 * (s * 1e-6) ** 2
    return weight, rng.random(len(s)) * bound < weight
