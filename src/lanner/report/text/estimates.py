"""Every p-value of a result: from the toys, then from laws that extrapolate beyond them, each with what supports it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from lanner._util.text import count
from lanner.inference.null import LEAST_TOYS
from lanner.inference.weighted_chi2 import WeightedChi2
from lanner.report.text.verdict import law_z
from lanner.report.text.words import (
    as_extreme,
    empirical_p,
    empirical_z,
    equation,
    number,
    p_value,
    with_error,
    z_score,
)
from lanner.run.parts import Extrapolation
from lanner.run.result import SearchResult
from lanner.typing import Array

_GRID = 200  # points at which the analytic law is evaluated for its goodness of fit
_REFITTED = "(Kolmogorov-Smirnov, refitted in each replicate)"


@dataclass(frozen=True)
class Estimate:
    """One p-value and its Z as text. `remark` is short; `details` are sentences for where there is room."""

    name: str
    p: str
    z: str
    remark: str
    details: str = ""
    is_extrapolation: bool = True

    @property
    def line(self) -> str:
        """The estimate in one line."""
        if self.p == "none":
            return self.remark
        kind = "extrapolation; " if self.is_extrapolation else ""
        return f"{equation('p', self.p)}, {equation('Z', self.z)} ({kind}{self.remark})"

    @property
    def sentences(self) -> str:
        """What supports the estimate, in full."""
        return f"{self.remark[0].upper()}{self.remark[1:]}. {self.details}".rstrip()


def estimates(result: SearchResult) -> list[Estimate]:
    """Every p-value, the result first."""
    if result.combined is not None:
        return [_empirical(result), _tail(result)]
    return [_empirical(result), _analytic(result), _chi2(result)]


def _empirical(result: SearchResult) -> Estimate:
    p = result.empirical
    (low, high), (z_low, z_high) = p.interval, p.z_interval
    until = ", and toys were made until so many were" if p.sequential else ""
    remark = f"{as_extreme(p)}{until}; 95 % interval of p: {number(low, 2)} to {number(high, 2)}"
    if p.is_all and z_high is not None:
        details = f"95 % interval of Z: {z_score(z_high)} and below."
    else:
        details = f"95 % interval of Z: {z_score(z_low)} " + (
            "and above." if z_high is None else f"to {z_score(z_high)}."
        )
    return Estimate("empirical", empirical_p(p), empirical_z(p), remark, details, is_extrapolation=False)


def _analytic(result: SearchResult) -> Estimate:
    null, law = result.null, result.null.analytic
    assert law is not None
    toys = null.statistics[np.isfinite(null.statistics)]
    remark = "confirmed by the toys" if null.analytic_confirmed else "the toys do not confirm it: do not use it"
    if len(toys) < LEAST_TOYS:
        remark = "too few toys to confirm it"
    details = f"It predicts t = {with_error(law.mean, law.std)}"
    if toys.size > 1:
        details += f"; the toys have {with_error(toys.mean(), toys.std(ddof=1))}"
    fits = _agreement(toys, law)
    if fits is not None:
        details += f". Agreement with the toys: p = {p_value(fits)} (Kolmogorov-Smirnov)"
    return _law("analytic null", result.analytic, remark, details + ".")


def _chi2(result: SearchResult) -> Estimate:
    null, fit = result.null, result.null.chi2
    if fit is None:
        why = f"no χ² fits: {count(null.not_positive, 'toy')} with t ≤ 0, {null.not_finite} not finite"
        hint = f"A penalty above {number(result.plan.penalty)} makes them stable." if null.not_positive else ""
        return _law("fitted χ²", None, why, hint)
    details = f"Goodness of fit: p = {p_value(fit.goodness_of_fit)} {_REFITTED}."
    return _law("fitted χ²", result.chi2, f"{with_error(fit.dof, fit.dof_error)} degrees of freedom", details)


def _tail(result: SearchResult) -> Estimate:
    tail, found = result.null.tail, result.tail
    if tail is None:
        return _law("fitted tail", None, "too few toys to fit a tail to")
    if found is None:
        return _law("fitted tail", None, "not needed: the data lie where there are many toys")
    remark = f"fitted to the {tail.above} highest toys"
    if found.is_bound:
        remark += "; the data lie further out than it can be trusted, so only a limit is quoted"
    if not tail.describes:
        remark = f"the toys do not look like it: do not use it; {remark}"
    details = f"It is a generalised Pareto law of shape {z_score(tail.shape)}. "
    details += f"Goodness of fit: p = {p_value(tail.goodness_of_fit)} {_REFITTED}."
    return _law("fitted tail", found, remark, details)


def _law(name: str, law: Extrapolation | None, remark: str, details: str = "") -> Estimate:
    if law is None:
        return Estimate(name, "none", "none", remark, details)
    p = p_value(law.p_value)
    return Estimate(name, f"< {p}" if law.is_bound and p[0] != "<" else p, law_z(law), remark, details)


def _agreement(toys: Array, law: WeightedChi2) -> float | None:
    """Kolmogorov-Smirnov p-value of the toys under the analytic law, which has nothing fitted to them."""
    if toys.size < 8:
        return None
    grid = np.linspace(0.0, max(float(toys.max()), law.mean), _GRID)
    return float(stats.kstest(np.interp(toys, grid, law.cdf(grid)), "uniform").pvalue)
