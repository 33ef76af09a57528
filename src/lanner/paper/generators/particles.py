"""Final particles of generated events: charged leptons, what nobody sees, and all the rest, which makes jets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.paper.generators.vectors import Vectors, generated
from lanner.typing import Array

ELECTRON, MUON, PHOTON = 11, 13, 22
INVISIBLE = (12, 14, 16, 1000022)  # neutrinos and the lightest neutralino
DRESSING = 0.1  # photons this close to an electron are measured with it
CALORIMETER = 5.0  # |eta| that the calorimeters reach


@dataclass(frozen=True, eq=False)
class Lepton:
    """One lepton an event, before the detector; pT = 0 where an event has none."""

    pt: Array
    eta: Array
    phi: Array
    muon: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Final:
    """The final particles of a batch: an awkward array of momenta, with the particles' codes, for each kind."""

    leptons: Vectors  # electrons with their photons
    invisible: Vectors
    rest: Vectors

    @classmethod
    def of(cls, batch: Any) -> Final:
        """Sort the final particles of a batch."""
        import awkward as ak

        p = generated(batch.prt[batch.prt.status > 0])
        charged, unseen = (_among(np.abs(p.id), codes) for codes in ((ELECTRON, MUON), INVISIBLE))
        leptons, others = p[charged], p[~charged & ~unseen]
        photon = others.id == PHOTON
        leptons, left = _dressed(leptons, others[photon])
        return cls(leptons, p[unseen], ak.concatenate([others[~photon], left], axis=1))

    def hardest(self, charge: int) -> Lepton:
        """The lepton of highest pT of a charge; of either for 0."""
        return hardest(self.leptons if charge == 0 else self.leptons[self.leptons.id * charge < 0])

    def hadrons(self, *leptons: Lepton) -> Array:
        """The true transverse momentum (n, 2) of all but the leptons and what is invisible: it balances these."""
        return np.asarray(-total(self.invisible) - sum(transverse(x.pt, x.phi) for x in leptons))

    def seen(self) -> Vectors:
        """The rest, as far as the calorimeters reach."""
        return self.rest[np.abs(_eta(self.rest)) < CALORIMETER]


def _dressed(leptons: Vectors, photons: Vectors) -> tuple[Vectors, Vectors]:
    """Leptons with the momentum of the photons that are measured with them, and the other photons."""
    import awkward as ak

    electrons = leptons[np.abs(leptons.id) == ELECTRON]
    lepton, photon = ak.unzip(ak.cartesian([electrons, photons], nested=True))
    dressed = electrons + ak.sum(photon[_distance(lepton, photon) < DRESSING], axis=2)
    dressed["id"] = electrons.id
    photon, lepton = ak.unzip(ak.cartesian([photons, electrons], nested=True))
    left = photons[~ak.any(_distance(lepton, photon) < DRESSING, axis=2)]
    return ak.concatenate([dressed, leptons[np.abs(leptons.id) == MUON]], axis=1), left


def _eta(p: Vectors) -> Any:
    """The pseudorapidity, which is finite for particles that Pythia makes with no momentum but rounding errors.

    With `eta` of `vector`, other ones of these would be added to electrons, and change their last digits.
    """
    return np.arcsinh(p.z / np.maximum(np.hypot(p.x, p.y), 1e-12))


def _distance(a: Vectors, b: Vectors) -> Any:
    """The square root of deta^2 + dphi^2."""
    return np.hypot(_eta(a) - _eta(b), a.deltaphi(b))


def _among(code: Any, codes: tuple[int, ...]) -> Any:
    found = code == codes[0]
    for other in codes[1:]:
        found = found | (code == other)
    return found


def hardest(p: Vectors) -> Lepton:
    """The particle of highest pT in each event."""
    import awkward as ak

    first = ak.firsts(p[ak.argmax(p.pt, axis=1, keepdims=True)])
    x, y, z, code = (ak.to_numpy(ak.fill_none(first[name], 0)) for name in ("x", "y", "z", "id"))
    pt = np.hypot(x, y)  # to the last digit, on which see `kinematics`
    eta = np.arcsinh(np.divide(z, pt, out=np.zeros_like(z), where=pt > 0))
    return Lepton(pt, eta, np.arctan2(y, x), np.abs(code) == MUON)


def sum_et(p: Vectors) -> Array:
    """The sum of the particles' transverse momenta in each event."""
    import awkward as ak

    return np.asarray(ak.sum(np.hypot(p.px, p.py), axis=1), dtype=np.float64)


def total(p: Vectors) -> Array:
    """The transverse momentum (n, 2) of all particles of each event."""
    import awkward as ak

    return np.stack([ak.to_numpy(ak.sum(p.px, axis=1)), ak.to_numpy(ak.sum(p.py, axis=1))], axis=-1)


def transverse(pt: Array, phi: Array) -> Array:
    """px and py (n, 2)."""
    return np.stack([pt * np.cos(phi), pt * np.sin(phi)], axis=-1)
