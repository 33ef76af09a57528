"""Parts of a result: laws that extrapolate, what each scale and term finds by itself, and how they became one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lanner.inference.significance import EmpiricalP


@dataclass(frozen=True)
class Extrapolation:
    """A p-value from a law that was fitted to the null toys or predicted for them, to stand beside the empirical."""

    p_value: float  # the chance of a statistic at least as large, if the law holds that far out
    z_score: float  # the same in one-sided standard deviations
    z_error: float | None = None  # standard error of `z_score` from that of the fit; None for a law that was not fitted
    is_bound: bool = False  # whether the data lie further out than the law is trusted: then Z is at least `z_score`


@dataclass(frozen=True)
class ScaleResult:
    """What one scale, a kernel width with a penalty, finds by itself."""

    width: float
    penalty: float
    deviation: float  # the size of log-ratios that the penalty is tuned to
    rank: int
    statistic: float
    exceedances: int  # toys at or above the statistic
    toys: int
    local_p: float  # by the smooth map that makes scales comparable: not a count of toys
    local_z: float  # Z of local_p, not corrected for the number of scales
    null_mean: float
    null_spread: float
    analytic_mean: float
    analytic_spread: float

    @property
    def empirical(self) -> EmpiricalP:
        """The empirical p-value of this scale alone."""
        return EmpiricalP(self.exceedances, self.toys)


@dataclass(frozen=True)
class TermResult:
    """What a term beside the scales finds by itself: the number of events, or those out of reach of the centres."""

    label: str
    width: float | None  # of the centres' kernel; None for the number of events
    statistic: float  # -ln p, before calibration
    exceedances: int  # toys at or above it
    toys: int
    local_p: float
    local_z: float


@dataclass(frozen=True)
class Spread:
    """How much Z depends on what is random in the method, as standard deviations of Z."""

    subsamples: float = 0.0  # from which of the reference events a fit takes
    splits: float = 0.0  # from which events give the moments, and which toys
    maps: float = 0.0  # from the toys that make scales comparable

    @property
    def total(self) -> float:
        """All of them together."""
        return math.hypot(self.subsamples, self.splits, self.maps)


@dataclass(frozen=True)
class Combined:
    """How the p-values of several scales became one."""

    combination: str  # "harmonic", "smallest", "product" or "average"
    n_map_toys: int  # toys used to make the scales comparable, which the p-value does not count
    dominant_scale: int  # index of the most significant scale, whose ratio is the one shown
    scales: tuple[ScaleResult, ...]
    terms: tuple[TermResult, ...] = ()  # what no scale can see

    @property
    def leading_term(self) -> TermResult | None:
        """The most significant term, where it is more significant than every scale."""
        found = min(self.terms, key=lambda term: term.local_p, default=None)
        if found is None or found.local_p >= self.scales[self.dominant_scale].local_p:
            return None
        return found
