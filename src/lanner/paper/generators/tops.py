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
from lanner.paper.generators.kinematics import W_MASS, azimuth, invariant_mass, neutrino_pz
from lanner.typing import Array, Columns

TOP_MASS = 172.5
LISTED = 4  # jets with columns of their own
# The published m_lv of a W scatters about the W mass by this much, so it is not one number for most events.
LV_SPREAD = 0.005
LARGER_PZ = 0.38  # how often its neutrino has the larger of the two pz; which events, its columns do not tell


def features(lepton: Array, met: Array, found: Jets, tags: NDArray[np.int64], rng: np.random.Generator) -> Columns:
    """All columns in GeV and radians, of a lepton (n, 4), missing momentum (n, 2), jets (n, m), and their b tags."""
    rows = np.arange(len(lepton))
    columns = {
        "lepton_pT": np.hypot(lepton[:, 0], lepton[:, 1]),
        "lepton_eta": np.arctanh(lepton[:, 2] / lepton[:, 3]),
        "lepton_phi": azimuth(lepton),
        "missing_energy_magnitude": np.hypot(met[:, 0], met[:, 1]),
        "missing_energy_phi": azimuth(met),
    }
    for i in range(LISTED):
        columns |= {
            f"jet_{i + 1}_pt": found.pt[:, i],
            f"jet_{i + 1}_eta": found.eta[:, i],
            f"jet_{i + 1}_phi": found.phi[:, i],
            f"jet_{i + 1}_btag": tags[:, i].astype(np.float64),
        }
    p = found.four_momentum
    bs = np.argsort(tags == 0, axis=1, kind="stable")[:, :2]
    b = [p[rows, bs[:, 0]], p[rows, bs[:, 1]]]
    jj = _nearest_pair(p, found.valid & (tags == 0))
    lv = leptonic_w(lepton, met, larger=rng.random(len(lepton)) < LARGER_PZ)
    jjj = [invariant_mass(jj + x) for x in b]
    first = np.abs(jjj[0] - TOP_MASS) < np.abs(jjj[1] - TOP_MASS)
    other = np.where(first[:, None], b[1], b[0])
    scatter = 1 + LV_SPREAD * rng.laplace(size=len(lepton))
    columns |= {
        "m_jj": invariant_mass(jj),
        "m_jjj": np.where(first, jjj[0], jjj[1]),
        "m_lv": invariant_mass(lv) * scatter,
        "m_jlv": invariant_mass(lv + other),
        "m_bb": invariant_mass(b[0] + b[1]),
        "m_wbb": np.maximum(invariant_mass(jj + b[0] + b[1]), invariant_mass(lv + b[0] + b[1])),
        "m_wwbb": invariant_mass(lv + jj + b[0] + b[1]),
    }
    return columns


def leptonic_w(lepton: Array, met: Array, larger: NDArray[np.bool_]) -> Array:
    """The four-momentum (n, 4) of lepton and neutrino, which has the larger pz of the two where it is said so."""
    small, large = neutrino_pz(lepton, met)
    pz = np.where(larger, large, small)
    energy = np.sqrt(np.sum(met**2, axis=1) + pz**2)
    return np.asarray(lepton + np.column_stack([met, pz, energy]))


def _nearest_pair(p: Array, allowed: NDArray[np.bool_]) -> Array:
    """Of the pairs of allowed jets the one whose mass is nearest to the W's."""
    pairs = list(combinations(range(p.shape[1]), 2))
    masses = np.stack([invariant_mass(p[:, i] + p[:, j]) for i, j in pairs], axis=1)
    possible = np.stack([allowed[:, i] & allowed[:, j] for i, j in pairs], axis=1)
    best = np.argmin(np.where(possible, np.abs(masses - W_MASS), np.inf), axis=1)
    i, j = np.array(pairs)[best].T
    rows = np.arange(len(p))
    return np.asarray(p[rows, i] + p[rows, j])
