"""DIMUON: pp -> mu mu. Drell-Yan as reference; a Z' or a contact interaction as new physics (Sec. 5).

`delta_phi` is phi1 - phi2 of the harder and the softer muon, between 0 and 2 pi: muons back to back, where most are,
lie in the middle at pi, and no event is cut off from its neighbours.

The contact interaction interferes with Drell-Yan, so its events are not a signal on top of the reference: the sample
"contact-1.0" is the whole distribution n(x|1) of Drell-Yan with the interaction, as in the paper. See `contact`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

from lanner.errors import InputError
from lanner.paper.generators import contact, detector, mixing
from lanner.paper.generators.particles import hardest
from lanner.paper.generators.pythia import Process, Run, Running, run
from lanner.paper.generators.vectors import generated, momenta
from lanner.typing import Array, Columns, Progress

LOW_LEVEL = ("pt1", "pt2", "eta1", "eta2", "delta_phi")
HIGH_LEVEL = ("mll",)
EXPECTED = 20_000.0  # N(0)
REFERENCE_SIZE = 100_000
ZPRIME_EVENTS = {"zprime-200": 80.0, "zprime-300": 40.0, "zprime-600": 15.0}
CONTACT = {"contact-1.0": 1.0, "contact-1.2": 1.2, "contact-1.5": 1.5}  # c_W in TeV^-2
# The paper's N(S); for a contact interaction N(1) - N(0) at N(0) = 20 000, from `contact.YIELDS`.
SIGNALS = ZPRIME_EVENTS | {name: EXPECTED * (contact.YIELDS[c] - 1) for name, c in CONTACT.items()}

ENERGY = 13_000.0  # GeV
MUON_MASS = 0.10566
MASS_MARGIN = 0.97  # events below this fraction of the mass cut, 4.3 standard deviations away, never pass it


@dataclass(frozen=True)
class Cuts:
    """Which events are kept (GeV)."""

    pt: float = 20.0
    eta: float = 2.1
    mass: float = 100.0

    def __post_init__(self) -> None:
        if not (self.pt >= 0 and self.eta > 0 and self.mass > 10):
            raise InputError(f"{self}: pT and |eta| must be positive, and the mass cut above 10 GeV")


CUTS = Cuts()
# The published files: pT > 20, |eta| < 2.1 and m_ll > 60 GeV give 487 pb here, which is the cross section that their
# authors' code states. N(0) = 20 000 of them are 41/pb, with the Z peak; above 100 GeV, N(0) would be 940/pb.
PUBLISHED = Cuts(mass=60.0)


class Options(Running, total=False):
    """How a sample is made."""

    cuts: Cuts
    energy: float


def process(name: str, *, cuts: Cuts = CUTS, energy: float = ENERGY) -> Process:
    """The process "background" or a signal's, at a centre-of-mass energy in GeV."""
    mixing.check_sample(name, SIGNALS)
    common = (
        f"Beams:eCM = {energy:g}",
        f"PhaseSpace:mHatMin = {MASS_MARGIN * cuts.mass:g}",
        "HadronLevel:all = off",  # it does not change the muons
    )
    drell_yan = ("WeakSingleBoson:ffbar2gmZ = on", "23:onMode = off", "23:onIfAny = 13")
    if name == "background":
        return Process("dimuon-background", common + drell_yan)
    if name in ZPRIME_EVENTS:
        # A sequential Z' (the couplings of the Z), without its interference with Drell-Yan.
        zprime = ("NewGaugeBoson:ffbar2gmZZprime = on", "Zprime:gmZmode = 3", f"32:m0 = {name.removeprefix('zprime-')}")
        return Process(f"dimuon-{name}", (*common, *zprime, "32:onMode = off", "32:onIfAny = 13"))
    return Process(f"dimuon-{name}", common + drell_yan, bias=contact.bias(CONTACT[name]))


def simulate(name: str, n: int, *, cuts: Cuts = CUTS, energy: float = ENERGY, **how: Unpack[Running]) -> Run:
    """n selected events of "background" or of a signal, with the acceptance."""
    reconstructed = partial(reconstruct, cuts=cuts, c_w=CONTACT.get(name))
    return run(process(name, cuts=cuts, energy=energy), reconstructed, n, **how)


def sample(name: str, n: int, **options: Unpack[Options]) -> Columns:
    """n selected events of "background" or of a signal."""
    return simulate(name, n, **options).columns


def generate(
    *,
    cuts: Cuts = CUTS,
    energy: float = ENERGY,
    processes: int = 1,
    progress: Progress | None = None,
    **request: Unpack[mixing.Request],
) -> Columns:
    """A sample of background events and, if asked for, a signal.

    With a contact interaction all events are drawn from n(x|1), and N(1) = events + signal_events are expected. By
    default, the number follows from the interaction's cross section.
    """
    request = {"events": EXPECTED, "signal": None, "signal_events": None} | request
    signal = request["signal"]
    if signal in CONTACT and request["signal_events"] is None:
        request["signal_events"] = request["events"] * (relative_yield(signal, cuts=cuts, energy=energy) - 1)
    how: Running = {"seed": request.get("seed", 0), "processes": processes, "progress": progress}
    made = partial(sample, cuts=cuts, energy=energy, **how)
    return mixing.generate("dimuon", made, SIGNALS, alone=CONTACT, **request)


def relative_yield(
    signal: str, *, cuts: Cuts = CUTS, energy: float = ENERGY, events: int = 20_000, **how: Unpack[Running]
) -> float:
    """N(1)/N(0) of a contact interaction: known for `CUTS` and `PUBLISHED`, otherwise from that many events."""
    if energy == ENERGY and cuts in (CUTS, PUBLISHED):
        return (contact.YIELDS if cuts == CUTS else contact.YIELDS_60)[CONTACT[signal]]
    # Over events x drawn from n(x|1), the mean of n(x|0)/n(x|1) is N(0)/N(1).
    reconstructed = partial(reconstruct, cuts=cuts, c_w=CONTACT[signal], with_weight=True)
    made = run(process(signal, cuts=cuts, energy=energy), reconstructed, events, **how)
    return float(1 / np.mean(1 / made.columns["weight"]))


def reconstruct(
    batch: Any, rng: np.random.Generator, *, cuts: Cuts, c_w: float | None = None, with_weight: bool = False
) -> Columns:
    """The columns of a batch of generated events that pass the cuts."""
    final = generated(batch.prt[batch.prt.status > 0])
    # There are more than two muons only if a radiated photon makes a pair: the hardest of each charge are taken.
    minus, plus = (hardest(final[final.id == code]) for code in (13, -13))
    pt_a, pt_b = (detector.muon_pt(muon.pt, rng) for muon in (minus, plus))
    first = pt_a >= pt_b
    columns = {
        "pt1": np.where(first, pt_a, pt_b),
        "pt2": np.where(first, pt_b, pt_a),
        "eta1": np.where(first, minus.eta, plus.eta),
        "eta2": np.where(first, plus.eta, minus.eta),
        "delta_phi": np.mod(np.where(first, minus.phi - plus.phi, plus.phi - minus.phi), 2 * np.pi),
    }
    columns["mll"] = invariant_mass(**columns)
    keep = (columns["pt2"] > cuts.pt) & (columns["mll"] > cuts.mass)
    keep &= (np.abs(columns["eta1"]) < cuts.eta) & (np.abs(columns["eta2"]) < cuts.eta)
    if c_w is not None:
        weight, accepted = contact.unweight(batch, c_w, rng)
        keep &= accepted
        if with_weight:
            columns["weight"] = weight
    return {name: column[keep] for name, column in columns.items()}


def invariant_mass(pt1: Array, pt2: Array, eta1: Array, eta2: Array, delta_phi: Array) -> Array:
    """m_ll in GeV.

    >>> invariant_mass(*np.array([[50.0], [50.0], [0.0], [0.0], [np.pi]])).round(3).tolist()
    [100.0]
    """
    one = momenta(pt=pt1, eta=eta1, phi=delta_phi, mass=MUON_MASS)
    return np.asarray((one + momenta(pt=pt2, eta=eta2, phi=0.0, mass=MUON_MASS)).mass)


def settings(name: str, *, cuts: Cuts = CUTS, energy: float = ENERGY) -> dict[str, Any]:
    """How a sample is made, to be written beside its events."""
    made = process(name, cuts=cuts, energy=energy)
    return made.settings() | {
        "mass_bias_per_TeV2": made.bias,
        "c_W_per_TeV2": CONTACT.get(name),
        "cuts": asdict(cuts),
        "detector": detector.settings("muon"),
    }
