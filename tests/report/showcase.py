"""One small search with a bump, shared by the tests of this folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from lanner.report.characterise import Characterisation, characterise
from lanner.report.page import render
from lanner.run.result import SearchResult
from lanner.run.search import search
from lanner.typing import Columns

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', r"$\frac{")


@dataclass(frozen=True)
class Case:
    """A search, its samples, and variables that it did not use."""

    result: SearchResult
    reference: Columns
    data: Columns
    extra_reference: Columns
    extra_data: Columns

    def characterise(self) -> Characterisation:
        return characterise(
            self.result,
            self.reference,
            self.data,
            extra_reference=self.extra_reference,
            extra_data=self.extra_data,
        )


def make_case(names: tuple[str, str, str, str, str] = ("mass", "eta", "charge", "energy", "njet")) -> Case:
    """Two features, of which the first has a bump; extra ones that follow the first (energy) or nothing at all."""
    rng = np.random.default_rng(7)
    mass, eta, charge, energy, njet = names

    def events(n: int, bump: int) -> tuple[Columns, Columns]:
        m = np.concatenate([rng.exponential(1.0, n), rng.normal(3.0, 0.1, bump)])
        rows = len(m)
        fitted = {mass: m, eta: rng.uniform(-2, 2, rows), charge: rng.choice([-1.0, 1.0], rows)}
        extra = {energy: 50 * m + rng.normal(0, 1, rows), njet: rng.poisson(2.0, rows).astype(float)}
        return fitted, extra

    reference, extra_reference = events(8000, 0)
    data, extra_data = events(400, 25)
    result = search(
        reference, data, expected=400, toys=60, seed=3, width=0.7, penalty=1e-5, centers=300, scaling="standard"
    )
    return Case(result, reference, data, extra_reference, extra_data)


@cache
def the_case() -> Case:
    return make_case()


@cache
def the_findings() -> Characterisation:
    return the_case().characterise()


@cache
def hostile_case() -> Case:
    """The same search, with names that try to run, to load and to be typeset."""
    return make_case((*HOSTILE, "a\x00b\u202ec\nd", "_" + "long" * 40))


@cache
def hostile_report() -> str:
    """A report in which everything that can come from outside is hostile."""
    case = hostile_case()
    inputs = (("reference", HOSTILE[0]), (HOSTILE[1], HOSTILE[1]))
    tuning = {HOSTILE[0]: HOSTILE[1], HOSTILE[1]: [{HOSTILE[0]: HOSTILE[1]}]}
    return render(
        replace(case.result, warnings=HOSTILE, inputs=inputs),
        characterisation=case.characterise(),
        tuning=tuning,
        title="".join(HOSTILE),
    )
