"""What a result knows of its systematic uncertainties beside the nuisances themselves, and how it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from lanner.inference.significance import EmpiricalP
from lanner.run.parts import Extrapolation
from lanner.uncertainties.closure import Closure
from lanner.uncertainties.fitted import FittedReference
from lanner.uncertainties.pulls import FeaturePulls


@dataclass(frozen=True)
class WithoutUncertainties:
    """The same test of the same data with the reference taken as exact: what the uncertainties cost, or explain."""

    statistic: float
    empirical: EmpiricalP
    law: str | None = None  # that goes beyond the toys, where they confirm one
    extrapolation: Extrapolation | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        p = self.empirical
        return {
            "statistic": self.statistic,
            "p_value": p.p_value,
            "p_value_is_bound": p.is_bound,
            "z_score": p.z_score,
            "exceedances": p.exceedances,
            "toys": p.toys,
            "law": self.law,
            "extrapolation": None if self.extrapolation is None else asdict(self.extrapolation),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> WithoutUncertainties:
        """What `to_dict` wrote; a statistic that is not finite was written as none."""
        law = plain["extrapolation"]
        statistic = np.inf if plain["statistic"] is None else plain["statistic"]
        return cls(
            float(statistic),
            EmpiricalP(plain["exceedances"], plain["toys"]),
            plain["law"],
            None if law is None else Extrapolation(**law),
        )


@dataclass(frozen=True, eq=False)
class Systematics:
    """Whether learned variations close, what the same test says without uncertainties, and the reference at nu^."""

    closures: tuple[Closure, ...] = ()
    without: WithoutUncertainties | None = None
    fitted: FittedReference | None = None

    def closure_of(self, name: str) -> tuple[Closure, ...]:
        """Of one nuisance, in each direction; none where nothing was learned."""
        return tuple(closure for closure in self.closures if closure.name == name)

    def to_dict(self) -> dict[str, Any]:
        """The entries of a result's JSON; the reference at nu^ is kept as arrays."""
        return {
            "closures": [closure.to_dict() for closure in self.closures],
            "without_uncertainties": None if self.without is None else self.without.to_dict(),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], arrays: Mapping[str, Any] | None) -> Systematics:
        """What `to_dict` wrote, and the arrays beside it; files of earlier versions have neither."""
        without = plain.get("without_uncertainties")
        return cls(
            tuple(_closure(one) for one in plain.get("closures", ())),
            None if without is None else WithoutUncertainties.from_dict(without),
            None if arrays is None else FittedReference.from_arrays(arrays),
        )


def _closure(plain: Mapping[str, Any]) -> Closure:
    pulls = tuple(
        FeaturePulls(one["feature"], *(np.array(one[name], dtype=np.float64) for name in ("edges", "pulls", "bias")))
        for one in plain["pulls"]
    )
    return Closure(**{f.name: plain[f.name] for f in fields(Closure) if f.name != "pulls"}, pulls=pulls)
