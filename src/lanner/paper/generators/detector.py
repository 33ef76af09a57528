"""What a detector like CMS or ATLAS measures of leptons, jets and missing momentum: resolutions and efficiencies.

Every number is stated here with where it is from. Angles of leptons are taken as exact: their resolution, below 0.001,
is far smaller than any structure of the features. Lepton efficiencies are left out: they are nearly flat in the
regions used, so they change no distribution.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.typing import Array

# CMS muons, tracker: 1 to 2 % at pT < 100 GeV and below 10 % at 1 TeV (JINST 7 (2012) P10002).
MUON_RESOLUTION = 0.01
MUON_RESOLUTION_SLOPE = 1e-4  # per GeV
# CMS electrons, tracker and calorimeter: 1.7 % in the barrel to 4.5 % in the endcaps at pT = 45 GeV
# (JINST 10 (2015) P06005).
ELECTRON_RESOLUTION = 0.02
# CMS missing momentum from particle flow: 0.5 to 0.65 sqrt(sum ET) for each component (JINST 6 (2011) P09001). To the
# event's own sum ET come the underlying event and other collisions, about 90 GeV each at 8 TeV: see `recoil`.
MET_RESOLUTION = 0.55  # sqrt(GeV)
# CMS jets at 8 TeV: sigma/pT = N/pT + S/sqrt(pT) + C in quadrature, with pile-up (JINST 12 (2017) P02014). Jets here
# are made of partons: what hadronisation moves out of the cone and neutrinos carry out of b jets is in their response.
JET_NOISE = 5.0  # GeV
JET_STOCHASTIC = 0.9  # sqrt(GeV)
JET_CONSTANT = 0.05
JET_RESPONSE = 0.95
JET_RESPONSE_B = 0.92
JET_ORDER = 0.30  # jets are listed in the order of a pT that scatters this much, as in the published file
# CMS b tags: 70 % efficient, with 20 % of c jets and 1.5 % of the others (JINST 8 (2013) P04013), of which 82 % pass a
# tight tag as well. Tags fade where jets leave the inner tracker, in the published HIGGS file between these |eta|.
TAG_B, TAG_C, TAG_LIGHT = 0.70, 0.20, 0.015
TAG_TIGHT = 0.82
TAG_FULL_ETA, TAG_LAST_ETA = 1.1, 1.8


def smeared(pt: Any, relative: Any, rng: np.random.Generator) -> Array:
    """pT with a relative resolution, log-normal with mean pT so that no pT becomes negative.

    >>> smeared(np.array([50.0]), 0.0, np.random.default_rng(0)).tolist()
    [50.0]
    """
    width = np.sqrt(np.log1p(np.square(relative)))
    return np.asarray(pt * np.exp(width * rng.standard_normal(np.shape(pt)) - width**2 / 2))


def muon_pt(pt: Any, rng: np.random.Generator) -> Array:
    """The measured pT of muons."""
    return smeared(pt, np.hypot(MUON_RESOLUTION, MUON_RESOLUTION_SLOPE * pt), rng)


def lepton_pt(pt: Any, muon: Any, rng: np.random.Generator) -> Array:
    """The measured pT of muons and electrons."""
    resolution = np.where(muon, np.hypot(MUON_RESOLUTION, MUON_RESOLUTION_SLOPE * pt), ELECTRON_RESOLUTION)
    return smeared(pt, resolution, rng)


def tag_efficiency(flavour: NDArray[np.int64], eta: Array) -> Array:
    """The probability of a b tag, of jets with b quarks (5), c quarks (4) and others (0)."""
    inside = np.clip((TAG_LAST_ETA - np.abs(eta)) / (TAG_LAST_ETA - TAG_FULL_ETA), 0.0, 1.0)
    return np.asarray(inside * np.select([flavour == 5, flavour == 4], [TAG_B, TAG_C], TAG_LIGHT))


def jet_pt(pt: Array, b: Any, rng: np.random.Generator) -> Array:
    """The measured pT of jets of true pT, with and without b quarks."""
    safe = np.maximum(pt, 1.0)
    resolution = np.sqrt((JET_NOISE / safe) ** 2 + JET_STOCHASTIC**2 / safe + JET_CONSTANT**2)
    return smeared(pt * np.where(b, JET_RESPONSE_B, JET_RESPONSE), np.minimum(resolution, 0.6), rng)


def recoil(true: Array, sum_et: Array, pileup: float, rng: np.random.Generator) -> Array:
    """The measured transverse momentum (n, 2) of all but the leptons; `pileup` is the sum ET of other collisions."""
    width = MET_RESOLUTION * np.sqrt(sum_et + pileup)
    return np.asarray(true + width[:, None] * rng.standard_normal(true.shape))


def settings(*parts: str) -> dict[str, float]:
    """The constants above whose names begin with one of `parts`, to be written beside the events."""
    return {name.lower(): value for name, value in globals().items() if name.startswith(tuple(map(str.upper, parts)))}
