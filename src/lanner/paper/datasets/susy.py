"""SUSY: two leptons and missing momentum at 8 TeV. W pairs as reference, chargino pairs as new physics (Sec. 5).

The signal is chi+ chi- -> W+ chi0 W- chi0 with masses of 200 and 100 GeV (Baldi, Sadowski, Whiteson, Nature Commun. 5
(2014) 4308). The columns are those of the published file, in its order and units: see `UNITS`.

Chargino pairs alone are softer than the published signal, whose pairs recoil against 96 GeV in the median and have
leptons above 250 GeV, as if hard jets had been generated with them. Pairs of large mass and transverse momentum
(`PAIR_MASS`, `PAIR_PT`) reproduce it: with 46 % signal, as published, every positive column has a mean within 8 % of 1.

The showers are generated, the hadrons are not: of the features only MET_rel depends on jets, and only on their
directions, which are those of the partons.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

from lanner.errors import InputError
from lanner.paper.generators import detector, jets, kinematics, mixing
from lanner.paper.generators.particles import Final, sum_et, transverse
from lanner.paper.generators.pythia import Process, Run, Running, run
from lanner.paper.generators.spectrum import chargino_pair
from lanner.paper.generators.units import Unit, normalised, physical
from lanner.typing import Array, Columns, Progress

# GeV (or radians) a unit, and what is subtracted first. These are the published file's own numbers: with them its M_R,
# M_TR_2, R, MT2 and axial_MET follow from its low-level features to five digits, the super-razor variables to 2 %. The
# smallest pT of 20 GeV sets the scale, and puts the ends of MT2 and M_Delta_R of W pairs at the W mass.
UNITS = {
    "lepton_1_pT": Unit(78.55),
    "lepton_1_eta": Unit(1.1892),
    "lepton_1_phi": Unit(1.8113),
    "lepton_2_pT": Unit(46.67),
    "lepton_2_eta": Unit(1.2139),
    "lepton_2_phi": Unit(1.8113),
    "missing_energy_magnitude": Unit(80.67),
    "missing_energy_phi": Unit(1.8113),
    "MET_rel": Unit(53.75),
    "axial_MET": Unit(80.28, -25.40),
    "M_R": Unit(150.16),
    "M_TR_2": Unit(70.74),
    "R": Unit(0.5309),
    "MT2": Unit(32.06),
    "S_R": Unit(296.0),
    "M_Delta_R": Unit(42.96),
    "dPhi_r_b": Unit(1.86),
    "cos_theta_r1": Unit(1.0),
}
LOW_LEVEL, HIGH_LEVEL = tuple(UNITS)[:8], tuple(UNITS)[8:]
EXPECTED = 100_000.0  # N(0)
REFERENCE_SIZE = 500_000
SIGNALS = {"chargino": 500.0}  # N(S)

ENERGY = 8000.0
LEPTONIC = ("24:onMode = off", "24:onIfAny = 11 13")
PILEUP = 1800.0  # GeV, the sum ET of twenty other collisions; with it the recoil is as broad as the published one
PAIR_MASS, PAIR_PT = 550.0, 30.0  # GeV; of the chargino pair
SHOWERS = (f"Beams:eCM = {ENERGY:g}", "HadronLevel:all = off")


@dataclass(frozen=True)
class Cuts:
    """Which events are kept (GeV): two leptons of opposite charge, as in the published file."""

    pt: float = 20.0
    eta: float = 2.5

    def __post_init__(self) -> None:
        if not (self.pt > 0 and self.eta > 0):
            raise InputError(f"{self}: pT and |eta| must be positive")


CUTS = Cuts()
JET_PT, JET_ETA = 20.0, 2.5  # least pT (GeV) and largest |eta| of jets that enter MET_rel


def process(name: str) -> Process:
    """The process "background" or "chargino"."""
    mixing.check_sample(name, SIGNALS)
    if name == "background":
        # The shower starts at the scale of the pair, not of the collision: the published pairs recoil softly.
        soft = "SpaceShower:pTmaxMatch = 1"
        return Process("susy-background", (*SHOWERS, "WeakDoubleBoson:ffbar2WW = on", soft, *LEPTONIC))
    pair = ("SUSY:qqbar2chi+chi- = on", "SUSY:idA = 1000024", "SUSY:idB = 1000024")
    heavy = f"PhaseSpace:mHatMin = {PAIR_MASS:g}"
    return Process("susy-chargino", (*SHOWERS, *pair, heavy, *LEPTONIC), chargino_pair())


class Options(Running, total=False):
    """How a sample is made."""

    cuts: Cuts


def simulate(name: str, n: int, *, cuts: Cuts = CUTS, **how: Unpack[Running]) -> Run:
    """n selected events of "background" or a signal, with the acceptance."""
    return run(process(name), partial(reconstruct, cuts=cuts, pair_pt=_pair_pt(name)), n, **how)


def sample(name: str, n: int, **options: Unpack[Options]) -> Columns:
    """n selected events of "background" or a signal."""
    return simulate(name, n, **options).columns


def generate(
    *, cuts: Cuts = CUTS, processes: int = 1, progress: Progress | None = None, **request: Unpack[mixing.Request]
) -> Columns:
    """A sample of background events and, if asked for, a signal."""
    made = partial(sample, cuts=cuts, seed=request.get("seed", 0), processes=processes, progress=progress)
    return mixing.generate("susy", made, SIGNALS, **({"events": EXPECTED} | request))


def reconstruct(batch: Any, rng: np.random.Generator, *, cuts: Cuts, pair_pt: float = 0.0) -> Columns:
    """The columns of a batch of generated events that pass the cuts."""
    final = Final.of(batch)
    true = final.hardest(-1), final.hardest(+1)
    pts = [detector.lepton_pt(lepton.pt, lepton.muon, rng) for lepton in true]
    first = pts[0] >= pts[1]
    measured = (np.stack(pts), *(np.stack([getattr(x, name) for x in true]) for name in ("eta", "phi")))
    (pt1, pt2), (eta1, eta2), (phi1, phi2) = (np.where(first, x, x[::-1]) for x in measured)

    seen = final.seen()
    hadrons = final.hadrons(*true)
    leptons = transverse(pt1, phi1) + transverse(pt2, phi2)
    met = -detector.recoil(hadrons, sum_et(seen), PILEUP, rng) - leptons

    keep = (pt2 > cuts.pt) & (np.abs(eta1) < cuts.eta) & (np.abs(eta2) < cuts.eta)
    keep &= np.hypot(hadrons[:, 0], hadrons[:, 1]) >= pair_pt
    found = jets.cluster(seen[keep])
    found = found[(found.pt > JET_PT) & (np.abs(found.eta) < JET_ETA)]
    one, two = ((pt1[keep], eta1[keep], phi1[keep]), (pt2[keep], eta2[keep], phi2[keep]))
    return normalised(features(one, two, met[keep], found.phi), UNITS)


def features(one: tuple[Array, Array, Array], two: tuple[Array, Array, Array], met: Array, jet_phi: Any) -> Columns:
    """All columns in GeV and radians, of leptons (pT, eta, phi), `met` (n, 2) and lists of jets' phi."""
    import awkward as ak

    (pt1, eta1, phi1), (pt2, eta2, phi2) = one, two
    p1, p2 = kinematics.momentum(*one), kinematics.momentum(*two)
    missing, phi = np.hypot(met[:, 0], met[:, 1]), kinematics.azimuth(met)
    nearest = np.minimum(kinematics.angle_between(phi, phi1), kinematics.angle_between(phi, phi2))
    to_jets = ak.min(kinematics.angle_between(jet_phi, phi), axis=1)
    nearest = np.minimum(nearest, ak.to_numpy(ak.fill_none(to_jets, np.pi)))
    pair = (p1 + p2)[:, :2]
    razor = kinematics.razor(p1, p2, met)
    return {
        "lepton_1_pT": pt1,
        "lepton_1_eta": eta1,
        "lepton_1_phi": phi1,
        "lepton_2_pT": pt2,
        "lepton_2_eta": eta2,
        "lepton_2_phi": phi2,
        "missing_energy_magnitude": missing,
        "missing_energy_phi": phi,
        "MET_rel": kinematics.relative_missing(missing, nearest),
        "axial_MET": np.sum(met * pair, axis=1) / np.hypot(pair[:, 0], pair[:, 1]),  # along the lepton pair
        "M_R": razor.m_r,
        "M_TR_2": razor.m_tr,
        "R": razor.r,
        "MT2": kinematics.mt2(p1[:, :2], p2[:, :2], met),
        "S_R": razor.s_r,
        "M_Delta_R": razor.m_delta_r,
        "dPhi_r_b": razor.delta_phi,
        "cos_theta_r1": razor.cos_theta,
    }


def in_gev(columns: Columns) -> Columns:
    """The columns in GeV and radians instead of the published file's units."""
    return physical(columns, UNITS)


def settings(name: str, *, cuts: Cuts = CUTS) -> dict[str, Any]:
    """How a sample is made, to be written beside its events."""
    made = process(name)
    return made.settings() | {
        "spectrum": made.spectrum,
        "cuts": asdict(cuts),
        "pair_pt": _pair_pt(name),
        "jets": {"radius": jets.RADIUS, "pt": JET_PT, "eta": JET_ETA},
        "detector": detector.settings("muon", "electron", "met") | {"pileup": PILEUP},
        "units": {name: asdict(unit) for name, unit in UNITS.items()},
    }


def _pair_pt(name: str) -> float:
    """The least transverse momentum of the pair in a sample (GeV)."""
    return 0.0 if name == "background" else PAIR_PT
