"""HIGGS: a lepton, missing momentum and jets with two b quarks at 8 TeV (Sec. 5).

Top pairs are the reference; a heavy Higgs boson H -> W H+ -> W W h -> W W b b with masses of 425, 325 and 125 GeV is
the new physics (Baldi, Sadowski, Whiteson, Nature Commun. 5 (2014) 4308). The columns are those of the published file,
in its order and units: see `UNITS`.

The showers are generated, the hadrons are not: jets of partons, with the response and the resolution of measured jets,
follow the published distributions (no column is further from them than 0.08 in the Kolmogorov-Smirnov distance, and
trees separate signal from background as well, AUC 0.78) in half the time.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

from lanner.errors import InputError
from lanner.paper.generators import detector, jets, mixing, tops
from lanner.paper.generators.particles import Final, sum_et, transverse
from lanner.paper.generators.pythia import Process, Run, Running, run
from lanner.paper.generators.units import Unit, normalised, physical
from lanner.paper.generators.vectors import momenta
from lanner.typing import Columns, Progress

# GeV a unit. These are the published file's own numbers: with them its high-level features follow from its low-level
# ones, and its smallest jet pT of 15 GeV, m_jj at the W mass and m_lv at the W mass set the same scale.
UNITS = {
    "lepton_pT": Unit(54.5),
    "lepton_eta": Unit(1.0267),
    "lepton_phi": Unit(1.8138),
    "missing_energy_magnitude": Unit(58.0),
    "missing_energy_phi": Unit(1.8138),
    "jet_1_pt": Unit(109.2),
    "jet_1_eta": Unit(1.0098),
    "jet_1_phi": Unit(1.8138),
    "jet_1_btag": Unit(2 / 2.173076153),
    "jet_2_pt": Unit(79.4),
    "jet_2_eta": Unit(1.0298),
    "jet_2_phi": Unit(1.8138),
    "jet_2_btag": Unit(2 / 2.214872122),
    "jet_3_pt": Unit(56.95),
    "jet_3_eta": Unit(1.0988),
    "jet_3_phi": Unit(1.8138),
    "jet_3_btag": Unit(2 / 2.548224449),
    "jet_4_pt": Unit(41.1),
    "jet_4_eta": Unit(1.2011),
    "jet_4_phi": Unit(1.8138),
    "jet_4_btag": Unit(2 / 3.101961374),
    "m_jj": Unit(87.2),
    "m_jjj": Unit(179.6),
    "m_lv": Unit(81.4),
    "m_jlv": Unit(193.6),
    "m_bb": Unit(126.6),
    "m_wbb": Unit(330.8),
    "m_wwbb": Unit(510.0),
}
LOW_LEVEL, HIGH_LEVEL = tuple(UNITS)[:21], tuple(UNITS)[21:]
EXPECTED = 100_000.0  # N(0)
REFERENCE_SIZE = 500_000
SIGNALS = {"heavy-higgs": 2000.0}  # N(S)

ENERGY = 8000.0
# The lepton always has the same charge: no feature depends on it.
LEPTON_AND_JETS = ("24:onMode = off", "24:onPosIfAny = 11 13", "24:onNegIfAny = 1 2 3 4 5")
# The shower starts at the scale of the hard process, not of the collision, which would make more forward jets.
SHOWERS = (f"Beams:eCM = {ENERGY:g}", "HadronLevel:all = off", "SpaceShower:pTmaxMatch = 1")
PILEUP = 500.0  # GeV, the sum ET of other collisions; with it the missing momentum is as broad as the published one
CHAIN = (
    *("Higgs:useBSM = on", "HiggsBSM:gg2H2 = on", "HiggsH2:coup2HchgW = 1", "HiggsHchg:coup2H1W = 1"),
    *("35:m0 = 425", "35:doForceWidth = on", "35:mWidth = 1", "35:onMode = off", "35:onIfMatch = 24 37"),
    *("37:m0 = 325", "37:doForceWidth = on", "37:mWidth = 1", "37:onMode = off", "37:onIfMatch = 24 25"),
    *("25:m0 = 125", "25:onMode = off", "25:onIfMatch = 5 -5"),
)


@dataclass(frozen=True)
class Cuts:
    """Which events are kept (GeV): a lepton, four jets, and two b tags among all jets."""

    pt: float = 15.0
    eta: float = 2.5
    jet_pt: float = 15.0
    jet_eta: float = 3.0

    def __post_init__(self) -> None:
        if not (self.pt > 0 and self.eta > 0 and self.jet_pt >= jets.MIN_PT and self.jet_eta > 0):
            raise InputError(f"{self}: pT and |eta| must be positive, jets above {jets.MIN_PT} GeV")


CUTS = Cuts()


def process(name: str) -> Process:
    """The process "background" or "heavy-higgs"."""
    mixing.check_sample(name, SIGNALS)
    if name == "background":
        return Process("higgs-background", (*SHOWERS, "Top:gg2ttbar = on", "Top:qqbar2ttbar = on", *LEPTON_AND_JETS))
    return Process("higgs-heavy-higgs", (*SHOWERS, *CHAIN, *LEPTON_AND_JETS))


class Options(Running, total=False):
    """How a sample is made."""

    cuts: Cuts


def simulate(name: str, n: int, *, cuts: Cuts = CUTS, **how: Unpack[Running]) -> Run:
    """n selected events of "background" or a signal, with the acceptance."""
    return run(process(name), partial(reconstruct, cuts=cuts), n, **how)


def sample(name: str, n: int, **options: Unpack[Options]) -> Columns:
    """n selected events of "background" or a signal."""
    return simulate(name, n, **options).columns


def generate(
    *, cuts: Cuts = CUTS, processes: int = 1, progress: Progress | None = None, **request: Unpack[mixing.Request]
) -> Columns:
    """A sample of background events and, if asked for, a signal."""
    made = partial(sample, cuts=cuts, seed=request.get("seed", 0), processes=processes, progress=progress)
    return mixing.generate("higgs", made, SIGNALS, **({"events": EXPECTED} | request))


def reconstruct(batch: Any, rng: np.random.Generator, *, cuts: Cuts) -> Columns:
    """The columns of a batch of generated events that pass the cuts."""
    final = Final.of(batch)
    lepton = final.hardest(0)
    pt = detector.lepton_pt(lepton.pt, lepton.muon, rng)
    seen = final.seen()
    met = -detector.recoil(final.hadrons(lepton), sum_et(seen), PILEUP, rng) - transverse(pt, lepton.phi)

    found = jets.measured(seen, rng, smallest=cuts.jet_pt, largest_eta=cuts.jet_eta)
    tagged, accepted = jets.tag_two(found, rng)
    keep = accepted & (pt > cuts.pt) & (np.abs(lepton.eta) < cuts.eta) & (found.number >= 4)
    measured = momenta(pt=pt[keep], eta=lepton.eta[keep], phi=lepton.phi[keep], mass=0.0)
    missing = momenta(px=met[keep, 0], py=met[keep, 1])
    return normalised(tops.features(measured, missing, found.take(keep), tagged[keep], rng), UNITS)


def in_gev(columns: Columns) -> Columns:
    """The columns in GeV and radians, and b tags as 0, 1 (loose) and 2 (tight), instead of the published units."""
    return physical(columns, UNITS)


def settings(name: str, *, cuts: Cuts = CUTS) -> dict[str, Any]:
    """How a sample is made, to be written beside its events."""
    return process(name).settings() | {
        "cuts": asdict(cuts),
        "jets": {"radius": jets.RADIUS},
        "detector": detector.settings("muon", "electron", "met", "jet", "tag") | {"pileup": PILEUP},
        "units": {name: asdict(unit) for name, unit in UNITS.items()},
    }
