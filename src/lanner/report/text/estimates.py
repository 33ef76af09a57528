"""p and Z as a report shows them: from the toys, then from laws that go beyond them, each with what speaks for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from lanner.inference.weighted_chi2 import WeightedChi2
from lanner.report.text import words
from lanner.run.result import SearchResult

_GRID = 200  # points at which the analytic law is evaluated for its goodness of fit
Row = dict[str, Any]


def estimates(result: SearchResult) -> list[Row]:
    """One row for each p-value, the result first."""
    if result.combined is not None:
        return [_empirical(result), _tail(result)]
    return [_empirical(result), _analytic(result), _chi2(result)]


def draws(result: SearchResult) -> list[Row]:
    """The result with other draws of the reference."""
    found = [(float(t), result.null.empirical(float(t))) for t in result.reference_draws]
    return [{"t": t, "p": p.p_value, "z": p.z_score} for t, p in found]


def _empirical(result: SearchResult) -> Row:
    p = result.empirical
    low, high = p.interval
    z_low, z_high = p.z_interval
    sequential = ", and toys were made until so many were" if p.sequential else ""
    return {
        "name": "empirical (the result)",
        "extrapolation": False,
        "p": words.p_value(p.p_value),
        "z": words.z_score(p.z_score),
        "remark": ("As far as the toys go: " if p.is_bound else "")
        + f"{p.exceedances} of {words.count(p.toys, 'toy')} at or above t{sequential}. 95 % interval of p: "
        f"{words.number(low, 2)} to {words.number(high, 2)}; of Z: {words.z_score(z_low)} "
        + ("and above" if z_high is None else f"to {words.z_score(z_high)}"),
    }


def _analytic(result: SearchResult) -> Row:
    null, found, law = result.null, result.analytic, result.null.analytic
    assert found is not None
    assert law is not None
    toys = null.statistics[np.isfinite(null.statistics)]
    fits = _agreement(toys, law)
    seen = f"; the toys have {toys.mean():.1f} ± {toys.std(ddof=1):.1f}" if toys.size > 1 else ""
    return {
        "name": "analytic null",
        "extrapolation": True,
        "p": words.p_value(found.p_value),
        "z": words.z_score(found.z_score),
        "remark": ("" if null.analytic_confirmed else "The toys do not confirm it: do not use it. ")
        + f"It predicts t = {law.mean:.1f} ± {law.std:.1f}{seen}. "
        + ("" if fits is None else f"Agreement with the toys: p = {words.p_value(fits)} (Kolmogorov-Smirnov)"),
    }


def _chi2(result: SearchResult) -> Row:
    null, found = result.null, result.chi2
    if null.chi2 is None or found is None:
        why = f"{words.count(null.not_positive, 'toy')} with t ≤ 0, {null.not_finite} not finite"
        return {"name": "fitted χ²", "extrapolation": True, "p": "none", "z": "none", "remark": f"No χ² fits: {why}"}
    return {
        "name": "fitted χ²",
        "extrapolation": True,
        "p": words.p_value(found.p_value),
        "z": words.z_score(found.z_score),
        "remark": f"{null.chi2.dof:.2f} ± {null.chi2.dof_error:.2f} degrees of freedom. Goodness of fit: "
        f"p = {words.p_value(null.chi2.goodness_of_fit)} (Kolmogorov-Smirnov, refitted in each replicate)",
    }


def _tail(result: SearchResult) -> Row:
    tail, found = result.null.tail, result.tail
    row = {"name": "fitted tail", "extrapolation": True}
    if tail is None or found is None or found.z_error is None:
        return row | {"p": "none", "z": "none", "remark": "Too few toys to fit a tail to"}
    if result.statistic <= tail.threshold:
        return row | {"p": "none", "z": "none", "remark": "The data lie where toys are many: no tail is needed"}
    return row | {
        "p": f"{'< ' if found.is_bound else ''}{words.p_value(found.p_value)}",
        "z": f"{'> ' if found.is_bound else ''}{words.z_score(found.z_score)} ± {words.z_score(found.z_error)}",
        "remark": ("" if tail.describes else "The toys do not look like it: do not use it. ")
        + f"A generalised Pareto law of shape {tail.shape:.2f} through the {tail.above} highest toys. Goodness of fit: "
        f"p = {words.p_value(tail.goodness_of_fit)} (Kolmogorov-Smirnov, refitted in each replicate)"
        + (". The data lie further out than it can be trusted: these are its last values" if found.is_bound else ""),
    }


def _agreement(toys: Any, law: WeightedChi2) -> float | None:
    """Kolmogorov-Smirnov p-value of the toys under the analytic law, which has nothing fitted to them."""
    if toys.size < 8:
        return None
    grid = np.linspace(0.0, max(float(toys.max()), law.mean), _GRID)
    return float(stats.kstest(np.interp(toys, grid, law.cdf(grid)), "uniform").pvalue)
