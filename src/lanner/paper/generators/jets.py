"""Jets: anti-kT with R = 0.5, CMS's choice at 8 TeV (FastJet: Cacciari, Salam, Soyez, EPJ C 72 (2012) 1896)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.paper.generators import detector
from lanner.paper.generators.pythia import need
from lanner.paper.generators.vectors import Vectors, momenta
from lanner.typing import Array

RADIUS = 0.5
MIN_PT = 5.0  # GeV; the true pT of the softest jets that are measured
MAX_JETS = 6  # in an event; the published events seem to have been selected with as many
# No event has exactly two tags more often: two b jets alone have them in 49 %, with c jets it is somewhat more.
MAX_TAGGED = 0.60
# A jet has the flavour of a b or c quark above this pT (GeV) and closer than this distance.
QUARK_PT, QUARK_DISTANCE = 5.0, 0.4


@dataclass(frozen=True, eq=False)
class Jets:
    """The jets of n events, up to `MAX_JETS` each, roughly in the order of their pT; the rest is not valid."""

    pt: Array
    eta: Array
    phi: Array
    mass: Array
    flavour: NDArray[np.int64]  # 5 for b, 4 for c, 0 for others
    valid: NDArray[np.bool_]

    @property
    def number(self) -> NDArray[np.int64]:
        """How many jets each event has."""
        return np.asarray(self.valid.sum(axis=1))

    @property
    def four_momenta(self) -> Vectors:
        """The jets' four-momenta (n, m)."""
        return momenta(pt=self.pt, eta=self.eta, phi=self.phi, mass=self.mass)

    def take(self, keep: NDArray[np.bool_]) -> Jets:
        """The jets of some of the events."""
        return Jets(**{name: values[keep] for name, values in vars(self).items()})


def cluster(particles: Vectors) -> Vectors:
    """The jets of each event's particles, hardest first."""
    import awkward as ak

    fastjet = need("fastjet")
    need("fastjet._swig").ClusterSequence.set_fastjet_banner_stream(None)
    definition = fastjet.JetDefinition(fastjet.antikt_algorithm, RADIUS)
    found = fastjet.ClusterSequence(particles, definition).inclusive_jets(min_pt=MIN_PT)
    return found[ak.argsort(found.pt, axis=1, ascending=False)]


def measured(particles: Vectors, rng: np.random.Generator, *, smallest: float, largest_eta: float) -> Jets:
    """The jets above a measured pT (GeV) and within |eta|, as a detector sees them."""
    import awkward as ak

    jets = cluster(particles)
    jets = jets[np.abs(jets.eta) < largest_eta]
    flavour = ak.zeros_like(jets.pt, dtype=np.int64)
    for code in (4, 5):
        quarks = particles[(np.abs(particles.id) == code) & (particles.pt > QUARK_PT)]
        jet, quark = ak.unzip(ak.cartesian([jets, quarks], nested=True))
        flavour = ak.where(ak.any(jet.deltaR(quark) < QUARK_DISTANCE, axis=2), code, flavour)
    counts = ak.num(jets)
    true = ak.to_numpy(ak.flatten(jets.pt))
    pt = ak.unflatten(detector.jet_pt(true, ak.to_numpy(ak.flatten(flavour)) == 5, rng), counts)
    passed = pt > smallest
    jets, flavour, pt = jets[passed], flavour[passed], pt[passed]
    listed = detector.smeared(ak.to_numpy(ak.flatten(pt)), detector.JET_ORDER, rng)
    order = ak.argsort(ak.unflatten(listed, ak.num(pt)), axis=1, ascending=False)
    jets, flavour, pt = jets[order], flavour[order], pt[order]

    def table(x: Any, kind: type) -> Any:
        return ak.to_numpy(ak.fill_none(ak.pad_none(x, MAX_JETS, axis=1, clip=True), 0)).astype(kind)

    return Jets(
        pt=table(pt, np.float64),
        eta=table(jets.eta, np.float64),
        phi=table(jets.phi, np.float64),
        mass=table(np.maximum(jets.mass, 0.0) * pt / jets.pt, np.float64),  # measured as well as the momentum
        flavour=table(flavour, np.int64),
        valid=table(ak.local_index(jets.pt) >= 0, np.bool_),
    )


def tag_two(jets: Jets, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """b tags (0, 1 loose, 2 tight) of events in which exactly two jets are tagged, and which events these are.

    The probability that jets i and j are tagged and no other, e_i e_j prod(1 - e_k), is known for each pair. Events are
    kept in proportion to the sum over pairs, up to a common factor: none is lost only because a b jet was missed.
    """
    efficiency = np.where(jets.valid, detector.tag_efficiency(jets.flavour, jets.eta), 0.0)
    none = np.prod(1 - efficiency, axis=1)
    odds = efficiency / (1 - efficiency)
    pairs = list(combinations(range(jets.pt.shape[1]), 2))
    probability = none[:, None] * np.stack([odds[:, i] * odds[:, j] for i, j in pairs], axis=1)
    upto = np.cumsum(probability, axis=1)
    accepted = rng.random(len(none)) * MAX_TAGGED < upto[:, -1]
    chosen = np.argmax(upto >= rng.random(len(none))[:, None] * upto[:, -1:], axis=1)
    tags = np.zeros(jets.pt.shape, dtype=np.int64)
    rows = np.arange(len(tags))
    for k in range(2):
        tags[rows, np.array(pairs)[chosen, k]] = 1 + (rng.random(len(tags)) < detector.TAG_TIGHT)
    return tags, accepted
