"""What toys with a signal reach, at several strengths of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lanner._util.text import at_most, text_table
from lanner.comparison.table import LEVELS as SHOWN
from lanner.comparison.table import chance, spread_of_z
from lanner.inference.null import Null
from lanner.inference.significance import empirical_z
from lanner.typing import Array

LEVELS = (*SHOWN, 5.0)
# The laws that go beyond the toys, the best first.
_LAWS = {"analytic": "analytic null", "tail": "fitted tail", "empirical": "toys alone"}


@dataclass(frozen=True, eq=False)
class Strength:
    """What toy data with a signal gave at one strength, judged in several ways; None where a law does not exist."""

    signal_events: float
    statistics: Array
    z_empirical: Array  # bounded by the number of null toys
    z_analytic: Array | None = None
    z_chi2: Array | None = None
    z_tail: Array | None = None

    @property
    def best(self) -> str:
        """The law to quote: of a single statistic the analytic null, of a combination the tail fitted to its toys."""
        return next(kind for kind in _LAWS if getattr(self, f"z_{kind}") is not None)

    def band(self, kind: str | None = None) -> tuple[float, float, float]:
        """16 %, 50 % and 84 % quantiles of Z."""
        z = getattr(self, f"z_{kind or self.best}")
        if z is None:
            return (float("nan"),) * 3
        low, middle, high = np.quantile(z, [0.16, 0.5, 0.84])
        return float(low), float(middle), float(high)

    def probability(self, level: float, kind: str | None = None) -> float:
        """How often Z reaches a level."""
        z = getattr(self, f"z_{kind or self.best}")
        return float("nan") if z is None else float(np.mean(z >= level))

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, for each law that there is."""
        return {"signal_events": self.signal_events, "experiments": len(self.statistics)} | {
            kind: {
                "z_16_50_84": list(self.band(kind)),
                "probability": {f"{level:g} sigma": self.probability(level, kind) for level in LEVELS},
            }
            for kind in ("empirical", "analytic", "chi2", "tail")
            if getattr(self, f"z_{kind}") is not None
        }


@dataclass(frozen=True, eq=False)
class Power:
    """Strengths of a signal, and the null they were judged by.

    Parameters
    ----------
    null : Null
        The null toys and the laws beside them.
    strengths : tuple of Strength
        What toys with the signal gave at each strength: `statistics`, `band()`, `probability(level)`.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, signal = rng.exponential(size=(4000, 1)), rng.normal(4.0, 0.1, (400, 1))
    >>> found = lanner.power(reference, signal, expected=200, signal_events=[5, 20], toys=90, experiments=10)
    >>> [strength.signal_events for strength in found.strengths]
    [5.0, 20.0]
    """

    null: Null
    strengths: tuple[Strength, ...]

    @property
    def reach(self) -> float:
        """The largest Z that the null toys can show by themselves."""
        return self.null.empirical(np.inf).z_score

    @property
    def most(self) -> float:
        """The largest Z that the law which is quoted can show."""
        return largest_z(self.null, self.strengths[0].best)

    def to_dict(self) -> dict[str, Any]:
        """The power as plain JSON.

        Returns
        -------
        dict
            The number of null toys, the largest Z they can show, and every strength.
        """
        return {
            "null_toys": len(self.null),
            "largest_empirical_z": self.reach,
            "largest_z": None if np.isinf(self.most) else self.most,
            "strengths": [s.to_dict() for s in self.strengths],
        }

    def __str__(self) -> str:
        law = _LAWS[self.strengths[0].best]
        lines = [["signal", "median Z (16 %, 84 %)", "empirical median", *(f"P({x:g} sigma)" for x in LEVELS)]]
        for s in self.strengths:
            chances = [chance(s.probability(level), level, self.most) for level in LEVELS]
            empirical = at_most(s.band("empirical")[1], self.reach)
            lines.append([f"{s.signal_events:g}", spread_of_z(s.band(), self.most), empirical, *chances])
        counts = f"{len(self.null)} null toys: empirical Z up to {self.reach:.2f}; Z below is that of the {law}"
        return f"{counts}\n\n{text_table(lines)}"


def largest_z(null: Null, law: str) -> float:
    """The largest Z that a law can show."""
    if law == "empirical":
        return float(null.empirical(np.inf).z_score)
    tail = null.trusted_tail
    return float("inf") if law == "analytic" or tail is None else float(tail.z_score(np.inf))


def judged(mean: float, t: Array, null: Null) -> Strength:
    """Z of toys with a signal."""
    tail = null.trusted_tail
    empirical = empirical_z(t, null.statistics)
    return Strength(
        float(mean),
        t,
        empirical,
        None if null.analytic is None else np.asarray(null.analytic.z_score(t)),
        None if null.chi2 is None else np.array([null.chi2.z_score(x) for x in t]),
        # Below its threshold the tail is no law: there the toys are many.
        None
        if tail is None
        else np.array([tail.z_score(x) if x > tail.threshold else z for x, z in zip(t, empirical, strict=True)]),
    )
