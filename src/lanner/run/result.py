"""`SearchResult`: the verdict of a search, and all that is needed to check it."""

from __future__ import annotations

import json
import math
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.inference.null import Null
from lanner.inference.plan import Plan
from lanner.inference.significance import EmpiricalP, z_of_log_p
from lanner.model.ratio import LearnedRatio
from lanner.reprs import as_html, as_text

SCHEMA = "lanner.result/1"
_PACKAGES = ("lanner", "numpy", "scipy", "scikit-learn", "uproot", "awkward", "h5py", "pyarrow", "hist", "matplotlib")


@dataclass(frozen=True)
class Extrapolation:
    """A p-value from a law that was fitted to, or predicted for, the null: to stand beside the empirical one."""

    p_value: float
    z_score: float


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found.

    `p_value` and `z_score` are empirical, from the null toys. `chi2` (None where no chi2 describes the toys) and
    `analytic` extrapolate beyond them. `reference_draws` is t for several draws of the reference, of which the
    first is `statistic`.
    """

    statistic: float
    null: Null
    reference_draws: NDArray[np.float64]
    ratio: LearnedRatio
    plan: Plan
    data_size: int
    reference_total: int  # events of the reference that was given
    warnings: tuple[str, ...] = ()
    # Kernel coefficients (rank, k) of some null toys' ratios, with the centres of `ratio`: the bands of plots.
    null_coefficients: NDArray[np.float64] | None = None
    inputs: tuple[tuple[str, str], ...] = ()  # names and descriptions of the files, where there were any
    digests: tuple[tuple[str, str], ...] = ()  # of the reference's and the data's events, to know them again
    seconds: float = 0.0

    @property
    def empirical(self) -> EmpiricalP:
        """Exceedances and toys behind the p-value."""
        return self.null.empirical(self.statistic)

    @property
    def p_value(self) -> float:
        """(k + 1) / (n + 1): never 0, and an upper bound where no toy reaches t."""
        return self.empirical.p_value

    @property
    def p_value_interval(self) -> tuple[float, float]:
        """Clopper-Pearson, 95 %."""
        return self.empirical.interval

    @property
    def z_score(self) -> float:
        """Z of the empirical p-value; a lower bound where no toy reaches t."""
        return self.empirical.z_score

    @property
    def chi2(self) -> Extrapolation | None:
        """From the chi2 fitted to the toys (the paper's asymptotic formula)."""
        fit = self.null.chi2
        return None if fit is None else Extrapolation(fit.p_value(self.statistic), fit.z_score(self.statistic))

    @property
    def analytic(self) -> Extrapolation:
        """From the analytic null: no toy in it."""
        log_p = float(self.null.analytic.logsf(self.statistic))
        return Extrapolation(math.exp(log_p), z_of_log_p(log_p))

    def verdict(self) -> str:
        """The outcome in one sentence."""
        p, bound = self.empirical, self.empirical.is_bound
        sign = "<" if bound else "="
        numbers = f"p {sign} {p.p_value:.2g}, Z {'>' if bound else '='} {p.z_score:.2f}"
        beyond = self.analytic.z_score if self.null.analytic_confirmed else None
        if self.plan.fixed is not None:
            numbers += "; the shape alone was tested"
        if bound:
            says = "no law agrees with the toys" if beyond is None else f"the analytic null says Z = {beyond:.1f}"
            numbers += f"; none of {p.toys} toys reaches t, beyond them {says}"
        if p.z_score >= 3 or (bound and beyond is not None and beyond >= 3):
            words = "The data depart from the reference"
        elif bound and self.statistic > self._far():
            words = "The data depart from the reference, far beyond all toys"
        elif p.z_score >= 2:
            words = "There is a hint that the data depart from the reference"
        elif bound:
            words = "No toy reaches the data, but there are too few to tell how far they depart"
        else:
            words = "The data are compatible with the reference"
        return f"{words} ({numbers})."

    def _far(self) -> float:
        """As far above the highest toy as that is above their median."""
        finite = self.null.statistics[np.isfinite(self.null.statistics)]
        return float(2 * finite.max() - np.median(finite)) if finite.size else math.inf

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays of the fit, as plain JSON."""
        low, high = self.p_value_interval
        z_low, z_high = self.empirical.z_interval
        fit, chi2, analytic = self.null.chi2, self.chi2, self.analytic
        return {
            "schema": SCHEMA,
            "verdict": self.verdict(),
            "statistic": _number(self.statistic),
            "p_value": self.p_value,
            "p_value_interval": [low, high],
            "p_value_is_bound": self.empirical.is_bound,
            "z_score": _number(self.z_score),
            "z_score_interval": [_number(z_low), None if z_high is None else _number(z_high)],
            "chi2": None if chi2 is None else {"p_value": _number(chi2.p_value), "z_score": _number(chi2.z_score)},
            "analytic": {
                "p_value": _number(analytic.p_value),
                "z_score": _number(analytic.z_score),
                "confirmed": self.null.analytic_confirmed,
                "mean": self.null.analytic.mean,
                "spread": self.null.analytic.std,
            },
            "null": {
                "kind": self.null.kind,
                "toys": len(self.null),
                "exceedances": self.empirical.exceedances,
                "dof": None if fit is None else fit.dof,
                "dof_error": None if fit is None else fit.dof_error,
                "goodness_of_fit": None if fit is None else fit.goodness_of_fit,
                "not_finite": self.null.not_finite,
                "not_positive": self.null.not_positive,
                "not_converged": self.null.not_converged,
                "statistics": [_number(t) for t in self.null.statistics],
            },
            "reference_draws": [_number(t) for t in self.reference_draws],
            "fit": {
                "converged": self.ratio.converged,
                "iterations": self.ratio.iterations,
                "rank": self.ratio.rank,
                "trace_error": self.ratio.trace_error,
            },
            "samples": {
                "reference": self.reference_total,
                "data": self.data_size,
                "expected": self.plan.expected,
                "reference_per_fit": self.plan.reference_size,
                "digests": dict(self.digests),
            },
            "configuration": self.plan.settings(),
            "chosen": list(self.plan.chosen),
            "seed": self.plan.seed,
            "inputs": dict(self.inputs),
            "warnings": list(self.warnings),
            "versions": versions(),
            "seconds": self.seconds,
        }

    def to_json(self, indent: int | None = 1) -> str:
        """`to_dict` as text; its schema is `lanner/run/result.schema.json`."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __str__(self) -> str:
        return as_text(self.verdict(), self._rows())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.verdict(), self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        low, high = self.p_value_interval
        fit, chi2 = self.null.chi2, self.chi2
        draws = ", ".join(f"{t:.2f}" for t in self.reference_draws)
        empirical, analytic, plan = self.empirical, self.null.analytic, self.plan
        rows = [
            ("t", f"{self.statistic:.3f} (draws of the reference: {draws})"),
            (
                "p, empirical",
                f"{self.p_value:.3g} ({empirical.exceedances} of {len(self.null)} toys), 95 %: {low:.2g} to {high:.2g}",
            ),
            (
                "analytic null",
                f"Z = {self.analytic.z_score:.2f}, t = {analytic.mean:.1f} +- {analytic.std:.1f} expected"
                + ("" if self.null.analytic_confirmed else "; NOT confirmed by the toys"),
            ),
        ]
        if fit is None or chi2 is None:
            n = self.null.not_positive
            hint = f"; a penalty above {plan.penalty:g} makes them stable" if n else ""
            rows.append(("chi2", f"none: {n} of {len(self.null)} toys {'has' if n == 1 else 'have'} t <= 0{hint}"))
        else:
            rows.append(
                ("chi2", f"Z = {chi2.z_score:.2f} (dof {fit.dof:.2f}, goodness of fit p = {fit.goodness_of_fit:.2g})")
            )
        rows += [
            ("features", ", ".join(plan.names)),
            ("samples", f"{self.reference_total} reference, {self.data_size} data, {plan.expected:g} expected"),
            (
                "fit",
                f"width {plan.width:.4g}, penalty {plan.penalty:g}, {plan.centers} centres, rank {self.ratio.rank}",
            ),
        ]
        return rows + [("warning", text) for text in self.warnings]


def versions() -> dict[str, str]:
    """Versions of what the result was made with."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _number(x: float) -> float | None:
    """JSON has neither NaN nor infinity: None. (Z is minus infinity where every toy exceeds t.)"""
    return float(x) if math.isfinite(x) else None
