"""Searches with systematic uncertainties, shared by the tests of this folder."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np

import lanner
from lanner.errors import ClosureWarning
from lanner.report.characterise import Characterisation, characterise
from lanner.run.result import SearchResult
from lanner.typing import Columns
from lanner.uncertainties.declared import Uncertainty

HOSTILE = ('<script>alert("nu")</script>', r"$\frac{ & <img src=x onerror=alert(3)>")


@dataclass(frozen=True)
class UncertainCase:
    """A search and its samples."""

    result: SearchResult
    reference: Columns
    data: Columns

    def characterise(self) -> Characterisation:
        return characterise(self.result, self.reference, self.data)


def make_uncertain_case(names: tuple[str, str, str] = ("luminosity", "energy scale", "parton shower")) -> UncertainCase:
    """Three nuisances: exact, learned and closing, and one that varies too fast to be learned."""
    rng = np.random.default_rng(7)
    reference = {"mass": rng.exponential(1.0, 12_000), "eta": rng.uniform(-2, 2, 12_000)}
    data = {"mass": rng.exponential(1.1, 300), "eta": rng.uniform(-2, 2, 300)}
    up, down = ({**reference, "mass": reference["mass"] * factor} for factor in (1.05, 1 / 1.05))
    wild = np.exp(0.9 * np.sign(np.sin(6 * reference["eta"]) * np.sin(9 * reference["mass"])))
    uncertainties: list[Uncertainty] = [
        lanner.Normalisation(names[0], 0.03),
        lanner.Shifted(names[1], up, down),
        lanner.Weights(names[2], up=wild),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClosureWarning)
        result = lanner.search(
            reference, data, expected=280, toys=90, seed=3, centers=100, uncertainties=uncertainties, progress=False
        )
    return UncertainCase(result, reference, data)


@cache
def the_uncertain_case() -> UncertainCase:
    return make_uncertain_case()


@cache
def hostile_uncertain_case() -> UncertainCase:
    """The same with names that try to run, to load and to be typeset."""
    return make_uncertain_case((*HOSTILE, "_" + "long" * 40))
