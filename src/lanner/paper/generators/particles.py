"""Final particles of generated events: charged leptons, what nobody sees, and all the rest, which makes jets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    """The final particles of a batch: an awkward array of momenta for each kind."""

    leptons: Any  # px, py, pz, e, id; electrons with their photons
    invisible: Any
    rest: Any  # px, py, pz, e, id

    @classmethod
    def of(cls, batch: Any) -> Final:
        """Sort the final particles of a batch."""
        import awkward as ak

        p = batch.prt[batch.prt.status > 0]
        code = np.abs(p.id)
        charged, unseen = (code == ELECTRON) | (code == MUON), _among(code, INVISIBLE)
        p = ak.zip({"px": p.p.px, "py": p.p.py, "pz": p.p.pz, "e": p.p.e, "id": p.id}, depth_limit=2)
        leptons, others = p[charged], p[~charged & ~unseen]
        photon = others.id == PHOTON
        leptons, left = _dressed(leptons, others[photon])
        return cls(leptons, p[unseen], ak.concatenate([others[~photon], left], axis=1))

    def hardest(self, charge: int) -> Lepton:
        """The lepton of highest pT of a charge; of either for 0."""
        import awkward as ak

        chosen = self.leptons if charge == 0 else self.leptons[self.leptons.id * charge < 0]
        first = ak.argmax(transverse(chosen), axis=1, keepdims=True)
        px, py, pz, code = (ak.to_numpy(ak.fill_none(ak.firsts(chosen[x][first]), 0)) for x in ("px", "py", "pz", "id"))
        pt = np.hypot(px, py)
        eta = np.arcsinh(np.divide(pz, pt, out=np.zeros_like(pz), where=pt > 0))
        return Lepton(pt, eta, np.arctan2(py, px), np.abs(code) == MUON)

    def seen(self) -> Any:
        """The rest, as far as the calorimeters reach."""
        return self.rest[np.abs(pseudorapidity(self.rest)) < CALORIMETER]


def _dressed(leptons: Any, photons: Any) -> tuple[Any, Any]:
    """Leptons with the momentum of the photons that are measured with them, and the other photons."""
    import awkward as ak

    electrons = leptons[np.abs(leptons.id) == ELECTRON]
    lepton, photon = ak.unzip(ak.cartesian([electrons, photons], nested=True))
    near = distance(lepton, photon) < DRESSING
    moved = {x: electrons[x] + ak.sum(ak.where(near, photon[x], 0.0), axis=2) for x in ("px", "py", "pz", "e")}
    dressed = ak.zip({**moved, "id": electrons.id}, depth_limit=2)
    photon, lepton = ak.unzip(ak.cartesian([photons, electrons], nested=True))
    left = photons[~ak.any(distance(lepton, photon) < DRESSING, axis=2)]
    return ak.concatenate([dressed, leptons[np.abs(leptons.id) == MUON]], axis=1), left


def _among(code: Any, codes: tuple[int, ...]) -> Any:
    found = code == codes[0]
    for other in codes[1:]:
        found = found | (code == other)
    return found


def transverse(p: Any) -> Any:
    """pT."""
    return np.hypot(p.px, p.py)


def pseudorapidity(p: Any) -> Any:
    """eta."""
    return np.arcsinh(p.pz / np.maximum(transverse(p), 1e-12))


def distance(a: Any, b: Any) -> Any:
    """sqrt(deta^2 + dphi^2)."""
    turn = np.arctan2(a.py, a.px) - np.arctan2(b.py, b.px)
    return np.hypot(pseudorapidity(a) - pseudorapidity(b), (turn + np.pi) % (2 * np.pi) - np.pi)


def total(p: Any) -> Array:
    """The transverse momentum (n, 2) of all particles of each event."""
    import awkward as ak

    return np.stack([ak.to_numpy(ak.sum(p.px, axis=1)), ak.to_numpy(ak.sum(p.py, axis=1))], axis=-1)


def direction(phi: Array) -> Array:
    """The transverse unit vector (n, 2)."""
    return np.stack([np.cos(phi), np.sin(phi)], axis=-1)
