"""Variations that were learned: functions of x that give log r of any events, and can be kept as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.typing import Array
from lanner.uncertainties.effects import Effect, Effects, GlobalNormalisation, Nuisances, Quadratic, Variation, Yield
from lanner.uncertainties.smooth import Smooth

LIMIT = np.log(20.0)  # of |log r|: far more than an uncertainty of 100 %
_KINDS = ("log", "ratio", "share", "normalisation")


@dataclass(frozen=True, eq=False)
class LearnedVariation:
    """log r at nu = 1 and -1 as functions of x, and the parabola through them and 0.

    The functions psi . c are log r itself, or r - 1 where `kind` is "ratio". Of a one-sided variation, which has one
    column of coefficients, log r(x; -1) = -log r(x; 1).
    """

    name: str
    smooth: Smooth
    coefficients: Array  # (functions, 2 or 1): up and down
    kind: str

    def of(self, features: Array) -> Effect:
        """What it does to events."""
        return self.effect(self.smooth.sums(features, self.coefficients))

    def effect(self, values: Array) -> Effect:
        """What it does to events, given psi . c of each, (events, columns)."""
        log_r = log_ratios(values, self.kind)
        if log_r.shape[1] == 1:
            return Quadratic(log_r[:, 0], np.zeros(len(log_r)))
        up, down = log_r.T
        return Quadratic((up - down) / 2, (up + down) / 2)


@dataclass(frozen=True, eq=False)
class LearnedShare:
    """The yield of a process, whose share of the reference was learned as a function of x."""

    name: str
    size: float
    smooth: Smooth
    coefficients: Array  # (functions, 1)

    def of(self, features: Array) -> Effect:
        """What it does to events."""
        return self.effect(self.smooth.sums(features, self.coefficients))

    def effect(self, values: Array) -> Effect:
        """What it does to events, given psi . c of each."""
        return Yield(self.size, np.clip(values[:, 0], 0.0, 1.0))


def log_ratios(values: Array, kind: str) -> Array:
    """log r from psi . c, within its limits.

    >>> log_ratios(np.array([0.5, -1.2]), "ratio").round(3).tolist()
    [0.405, -2.996]
    """
    if kind == "ratio":
        values = np.log(np.maximum(1.0 + values, np.exp(-LIMIT)))
    return np.clip(values, -LIMIT, LIMIT)


@dataclass(frozen=True, eq=False)
class LearnedNuisances(Nuisances):
    """All nuisances of a search, of which those that were learned are functions of the same psi(x)."""

    def of(self, features: Array) -> Effects:
        """What they do to events; psi is computed once for all of them."""
        learned = [v for v in self.variations if isinstance(v, LearnedVariation | LearnedShare)]
        effects: dict[str, Effect] = {}
        if learned:
            values = learned[0].smooth.sums(features, np.hstack([v.coefficients for v in learned]))
            for variation in learned:
                columns = variation.coefficients.shape[1]
                effects[variation.name] = variation.effect(values[:, :columns])
                values = values[:, columns:]
        each = tuple(effects[v.name] if v.name in effects else v.of(features) for v in self.variations)
        return Effects(each, len(features))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as arrays, for a file; a function that somebody knows cannot be kept."""
        arrays: dict[str, NDArray[Any]] = {"names": np.array(self.names, dtype=str)}
        kinds, sizes = [], []
        for k, variation in enumerate(self.variations):
            kind, size = "", 0.0
            if isinstance(variation, GlobalNormalisation):
                kind, size = "normalisation", variation.size
            elif isinstance(variation, LearnedShare):
                kind, size = "share", variation.size
            elif isinstance(variation, LearnedVariation):
                kind = variation.kind
            if not kind:
                raise InputError(
                    f"the uncertainty {variation.name!r} is a function of Python, which cannot be kept in a file: give "
                    "weights or samples of it, or do without the file"
                )
            if isinstance(variation, LearnedShare | LearnedVariation):
                arrays[f"coefficients{k}"] = variation.coefficients
                arrays |= {f"smooth_{name}": array for name, array in variation.smooth.to_arrays().items()}
            kinds.append(kind)
            sizes.append(size)
        return arrays | {"kinds": np.array(kinds, dtype=str), "sizes": np.array(sizes)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> LearnedNuisances:
        """The nuisances that were kept."""
        kept = {name.removeprefix("smooth_"): a for name, a in arrays.items() if name.startswith("smooth_")}
        smooth = Smooth.from_arrays(kept) if kept else None
        variations: list[Variation] = []
        for k, (name, kind, size) in enumerate(zip(arrays["names"], arrays["kinds"], arrays["sizes"], strict=True)):
            if kind == "normalisation":
                variations.append(GlobalNormalisation(str(name), float(size)))
                continue
            if kind not in _KINDS or smooth is None:
                raise InputError(f"the kept uncertainty {str(name)!r} is of an unknown kind: learn it again")
            c = arrays[f"coefficients{k}"]
            variations.append(
                LearnedShare(str(name), float(size), smooth, c)
                if kind == "share"
                else LearnedVariation(str(name), smooth, c, str(kind))
            )
        return cls(tuple(variations))
