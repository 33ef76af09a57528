"""`SearchResult`: the verdict of a search, and all that is needed to check it."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.text import as_html, as_text
from lanner.inference.null import LEAST_TOYS, Null
from lanner.inference.plan import Plan
from lanner.inference.sequential import Stopping
from lanner.inference.significance import EmpiricalP, z_of_log_p
from lanner.model.ratio import LearnedRatio

SCHEMA = "lanner.result/3"
_PACKAGES = ("lanner", "numpy", "scipy", "scikit-learn", "uproot", "awkward", "h5py", "pyarrow", "hist", "matplotlib")


_LISTED = 10_000  # toys in the JSON; a folder keeps all of them beside it


@dataclass(frozen=True)
class Extrapolation:
    """A p-value from a law that was fitted to, or predicted for, the null: to stand beside the empirical one."""

    p_value: float
    z_score: float
    z_error: float | None = None  # of a law that was fitted
    is_bound: bool = False  # further out than the law can be trusted: Z is at least this

    def words(self) -> str:
        """Z, with its error if there is one."""
        sign = ">" if self.is_bound else "="
        return f"Z {sign} {self.z_score:.1f}" + ("" if self.z_error is None else f" ± {self.z_error:.1f}")


@dataclass(frozen=True)
class ScaleResult:
    """What one width and penalty of several has to say by itself."""

    width: float
    penalty: float
    deviation: float  # the size of log-ratios that the penalty looks for
    rank: int
    statistic: float
    exceedances: int  # toys at or above the statistic
    toys: int
    local_p: float  # by the frozen map that makes scales comparable: smooth, and not counted
    local_z: float  # its Z: not corrected for the number of scales
    null_mean: float
    null_spread: float
    analytic_mean: float
    analytic_spread: float

    @property
    def empirical(self) -> EmpiricalP:
        """By the toys."""
        return EmpiricalP(self.exceedances, self.toys)


@dataclass(frozen=True)
class Combined:
    """How several scales became one p-value."""

    kind: str  # of combination
    frozen: int  # toys that made the scales comparable, apart from those that are counted
    speaks: int  # the scale with the smallest p: its ratio is the one shown
    scales: tuple[ScaleResult, ...]


_TOYS_FROM = {
    "reference": "the reference",
    "permutation": "reference and data together",
    "generator": "the generator",
}


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found.

    `p_value` and `z_score` are empirical, from the null toys. Beyond them extrapolate, of a single statistic,
    `analytic` and `chi2` (None where no chi2 describes the toys), of a combination of scales, `tail`. `reference_draws`
    is the statistic for several draws of the reference, of which the first is `statistic`. `ratio` and `plan` are, of
    several scales, those of the one that speaks.
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
    stopping: Stopping | None = None  # where the number of toys was not fixed beforehand
    combined: Combined | None = None  # where there are several scales
    seconds: float = 0.0

    @property
    def empirical(self) -> EmpiricalP:
        """Exceedances and toys behind the p-value."""
        found = None if self.stopping is None else self.stopping.judge(self.statistic, self.null.statistics)
        return self.null.empirical(self.statistic) if found is None else found

    @property
    def p_value(self) -> float:
        """(k + 1) / (n + 1): never 0; where no toy reaches t, the smallest that so many toys can give."""
        return self.empirical.p_value

    @property
    def p_value_interval(self) -> tuple[float, float]:
        """Clopper-Pearson, 95 %."""
        return self.empirical.interval

    @property
    def z_score(self) -> float:
        """Z of the empirical p-value; where no toy reaches t, the largest that so many toys can give."""
        return self.empirical.z_score

    @property
    def chi2(self) -> Extrapolation | None:
        """From the chi2 fitted to the toys (the paper's asymptotic formula)."""
        fit = self.null.chi2
        return None if fit is None else Extrapolation(fit.p_value(self.statistic), fit.z_score(self.statistic))

    @property
    def analytic(self) -> Extrapolation | None:
        """From the analytic null of a single statistic: no toy in it."""
        if self.null.analytic is None:
            return None
        log_p = float(self.null.analytic.logsf(self.statistic))
        return Extrapolation(math.exp(log_p), z_of_log_p(log_p))

    @property
    def tail(self) -> Extrapolation | None:
        """From the tail fitted to the toys of a combination."""
        if self.null.tail is None:
            return None
        tail = self.null.tail
        log_p, error = tail.log_p(self.statistic), tail.z_error(self.statistic)
        return Extrapolation(math.exp(log_p), z_of_log_p(log_p), error, is_bound=self.statistic > tail.limit)

    @property
    def beyond(self) -> tuple[str, Extrapolation] | None:
        """The law that goes beyond the toys, by name, if there is one that they confirm."""
        if self.analytic is not None and self.null.analytic_confirmed:
            return "analytic null", self.analytic
        tail = self.null.trusted_tail
        if tail is not None and self.tail is not None and self.statistic > tail.threshold:
            return "tail fitted to them", self.tail
        return None

    def verdict(self) -> str:
        """The outcome in one sentence."""
        p, bound = self.empirical, self.empirical.is_bound
        numbers = f"p = {p.p_value:.2g}, Z = {p.z_score:.2f}"
        name, law = self.beyond or ("", None)
        beyond = None if law is None else law.z_score
        if bound:
            numbers += f", as far as {p.toys} toys go: none reaches t; "
            numbers += self._unknown() if law is None else f"beyond them the {name} says {law.words()}"
        if self.plan.fixed is not None:
            numbers += "; the shape alone was tested"
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

    def _unknown(self) -> str:
        """Why nothing is said of what lies beyond the toys."""
        few = self.null.tail is None if self.null.analytic is None else len(self.null) < LEAST_TOYS
        return "more toys would tell how far beyond" if few else "beyond them no law agrees with the toys"

    def _far(self) -> float:
        """As far above the highest toy as that is above their median."""
        finite = self.null.statistics[np.isfinite(self.null.statistics)]
        return float(2 * finite.max() - np.median(finite)) if finite.size else math.inf

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays of the fit, as plain JSON."""
        low, high = self.p_value_interval
        z_low, z_high = self.empirical.z_interval
        fit, chi2, tail = self.null.chi2, self.chi2, self.tail
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
            "analytic": self._analytic(),
            "tail": None
            if tail is None
            else {
                "p_value": _number(tail.p_value),
                "z_score": _number(tail.z_score),
                "z_error": None if tail.z_error is None else _number(tail.z_error),
                "is_bound": tail.is_bound,
            }
            | asdict(self.null.tail)  # type: ignore[arg-type]
            | {"describes": self.null.tail.describes, "limit": self.null.tail.limit},  # type: ignore[union-attr]
            "combined": None if self.combined is None else asdict(self.combined),
            "null": {
                "kind": self.null.kind,
                "toys": len(self.null),
                "exceedances": self.empirical.exceedances,
                "counted": self.empirical.toys,
                "sequential": self.empirical.sequential,
                "stopping": None if self.stopping is None else asdict(self.stopping),
                "dof": None if fit is None else fit.dof,
                "dof_error": None if fit is None else fit.dof_error,
                "goodness_of_fit": None if fit is None else fit.goodness_of_fit,
                "not_finite": self.null.not_finite,
                "not_positive": self.null.not_positive,
                "not_converged": self.null.not_converged,
                "statistics": [_number(t) for t in self.null.statistics[:_LISTED]],
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
            "configuration": self.plan.to_dict(),
            "chosen": [str(c) for c in self.plan.chosen],
            "seed": self.plan.seed,
            "inputs": dict(self.inputs),
            "warnings": list(self.warnings),
            "versions": versions(),
            "seconds": self.seconds,
        }

    def _analytic(self) -> dict[str, Any] | None:
        law, found = self.null.analytic, self.analytic
        if law is None or found is None:
            return None
        return {
            "p_value": _number(found.p_value),
            "z_score": _number(found.z_score),
            "confirmed": self.null.analytic_confirmed,
            "mean": law.mean,
            "spread": law.std,
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
        draws = ", ".join(f"{t:.2f}" for t in self.reference_draws)
        empirical, plan = self.empirical, self.plan
        until = ", until so many did" if empirical.sequential else ""
        rows = [
            ("combined" if self.combined else "t", f"{self.statistic:.3f} (draws of the reference: {draws})"),
            (
                "p, empirical",
                f"{self.p_value:.3g} ({empirical.exceedances} of {empirical.toys} toys{until}), "
                f"95 %: {low:.2g} to {high:.2g}",
            ),
            *(self._single_rows() if self.combined is None else self._combined_rows(self.combined)),
            ("features", ", ".join(plan.names)),
            ("samples", f"{self.reference_total} reference, {self.data_size} data, {plan.expected:g} expected"),
            ("toys from", _TOYS_FROM[plan.null]),
            (
                "fit" if self.combined is None else "shown",
                f"width {plan.width:.4g}, penalty {plan.penalty:.3g}, {plan.centers} centres, rank {self.ratio.rank}",
            ),
        ]
        return rows + [("warning", text) for text in self.warnings]

    def _single_rows(self) -> list[tuple[str, str]]:
        law, found, fit, chi2 = self.null.analytic, self.analytic, self.null.chi2, self.chi2
        assert law is not None
        assert found is not None
        rows = [
            (
                "analytic null",
                f"Z = {found.z_score:.2f}, t = {law.mean:.1f} +- {law.std:.1f} expected"
                + ("" if self.null.analytic_confirmed else "; NOT confirmed by the toys"),
            )
        ]
        if fit is None or chi2 is None:
            n = self.null.not_positive
            hint = f"; a penalty above {self.plan.penalty:g} makes them stable" if n else ""
            rows.append(("chi2", f"none: {n} of {len(self.null)} toys {'has' if n == 1 else 'have'} t <= 0{hint}"))
        else:
            rows.append(
                ("chi2", f"Z = {chi2.z_score:.2f} (dof {fit.dof:.2f}, goodness of fit p = {fit.goodness_of_fit:.2g})")
            )
        return rows

    def _combined_rows(self, combined: Combined) -> list[tuple[str, str]]:
        rows = [
            (
                "scales",
                f"{len(combined.scales)}, combined by the {combined.kind} "
                + ("mean of p" if combined.kind == "harmonic" else "p")
                + f"; local Z, for log-ratios of about {_listed(s.deviation for s in combined.scales)} (*: speaks):",
            )
        ]
        if self.tail is not None:
            trusted = "" if self.null.trusted_tail is not None else "; the toys do NOT look like it"
            rows.append(("fitted tail", f"{self.tail.words()}, an extrapolation{trusted}"))
        widths = sorted({s.width for s in combined.scales})
        for width in widths:
            local = ", ".join(
                f"{s.local_z:.2f}{'*' if k == combined.speaks else ''}"
                for k, s in sorted(enumerate(combined.scales), key=lambda scale: scale[1].deviation)
                if s.width == width
            )
            rows.append((f"width {width:.3g}", f"local Z = {local}"))
        return rows


def _listed(numbers: Iterable[float]) -> str:
    """Different numbers in the order of their size.

    >>> _listed([2.0, 0.2, 2.0])
    '0.2, 2'
    """
    return ", ".join(dict.fromkeys(f"{x:.2g}" for x in sorted(numbers)))


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
