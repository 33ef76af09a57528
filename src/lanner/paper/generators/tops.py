"""Features of events with two W bosons and two b jets: which jets are the W's and the top quarks', and their masses.

As in the published HIGGS file, checked on its rows: m_jj is the pair of untagged jets nearest to the W mass, m_bb the
two tagged jets, m_lv the lepton and the neutrino that makes a W, m_jjj the W's jets with the tagged jet nearest to the
top mass, m_jlv lepton and neutrino with the other one, m_wbb the tagged pair with the W that makes the larger mass,
m_wwbb everything.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lanner.paper.generators.jets import Jets
from lanner.paper.generators.vectors import Vectors, momenta
from lanner.typing import Array, Columns

W_MASS, TOP_MASS = 80.4, 172.5  # GeV
LISTED = 4  # jets with columns of their own
# The published m_lv scatters by this much about the W mass, which it would otherwise be for most events.
LV_SPREAD = 0.005
LARGER_PZ = 0.38  # the share of published events whose neutrino has the larger |pz|; they cannot be told from others


def features(lepton: Vectors, met: Vectors, found: Jets, tags: NDArray[np.int64], rng: np.random.Generator) -> Columns:
    """All columns in GeV and radians, of a lepton, missing momentum, jets (n, m), and their b tags (n, m)."""
    columns = {
        "lepton_pT": lepton.pt,
        "lepton_eta": lepton.eta,
        "lepton_phi": lepton.phi,
        "missing_energy_magnitude": met.pt,
        "missing_energy_phi": met.phi,
    }
    for i in range(LISTED):
        columns |= {
            f"jet_{i + 1}_pt": found.pt[:, i],
            f"jet_{i + 1}_eta": found.eta[:, i],
            f"jet_{i + 1}_phi": found.phi[:, i],
            f"jet_{i + 1}_btag": tags[:, i].astype(np.float64),
        }
    p = found.four_momenta
    b1, b2 = (p[np.arange(len(p)), b] for b in np.argsort(tags == 0, axis=1, kind="stable")[:, :2].T)
    bb = b1 + b2
    jj = _nearest_pair(p, found.valid & (tags == 0))
    lv = leptonic_w(lepton, met, larger=rng.random(len(p)) < LARGER_PZ)
    jjj = [(jj + b).mass for b in (b1, b2)]
    first = np.abs(jjj[0] - TOP_MASS) < np.abs(jjj[1] - TOP_MASS)
    scatter = 1 + LV_SPREAD * rng.laplace(size=len(p))
    return columns | {
        "m_jj": jj.mass,
        "m_jjj": np.where(first, *jjj),
        "m_lv": lv.mass * scatter,
        "m_jlv": np.where(first, (lv + b2).mass, (lv + b1).mass),
        "m_bb": bb.mass,
        "m_wbb": np.maximum((jj + bb).mass, (lv + bb).mass),
        "m_wwbb": (lv + jj + bb).mass,
    }


def leptonic_w(lepton: Vectors, met: Vectors, larger: NDArray[np.bool_]) -> Vectors:
    """Lepton and neutrino together; where `larger` says so, with the larger of the neutrino's two possible |pz|."""
    pz = np.where(larger, *reversed(neutrino_pz(lepton, met)))
    return lepton + momenta(px=met.px, py=met.py, pz=pz, mass=0.0)


def neutrino_pz(lepton: Vectors, met: Vectors) -> tuple[Array, Array]:
    """The two pz with which neutrino and lepton have the mass of a W, the smaller |pz| first.

    With a = m_W^2/2 + pT(l).pT(nu), pz = (a pz(l) +- E(l) sqrt(a^2 - pT(l)^2 pT(nu)^2)) / pT(l)^2. If mT > m_W there
    is no solution; then the neutrino gets the rapidity of the lepton, and their mass is mT.
    """
    a = W_MASS**2 / 2 + lepton.to_2D().dot(met)
    square = a**2 - lepton.pt2 * met.pt2
    root = np.sqrt(np.maximum(square, 0.0))
    one, two = (a * lepton.pz + np.stack([root, -root]) * lepton.E) / lepton.pt2
    none, along = square < 0, lepton.pz * met.pt / lepton.pt
    smaller = np.abs(one) < np.abs(two)
    return np.where(none, along, np.where(smaller, one, two)), np.where(none, along, np.where(smaller, two, one))


def _nearest_pair(p: Vectors, allowed: NDArray[np.bool_]) -> Vectors:
    """Of the pairs of allowed jets the one whose mass is nearest to the W's."""
    first, second = np.array(list(combinations(range(p.shape[1]), 2))).T
    pairs = p[:, first] + p[:, second]
    misses = np.where(allowed[:, first] & allowed[:, second], np.abs(pairs.mass - W_MASS), np.inf)
    return pairs[np.arange(len(p)), np.argmin(misses, axis=1)]
