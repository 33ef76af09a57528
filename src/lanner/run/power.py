"""`power`: how likely a search is to find a given signal, at several strengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.text import at_most, text_table
from lanner.errors import InputError
from lanner.inference.combination import frozen_toys
from lanner.inference.null import Null
from lanner.run.evaluate import Combiner
from lanner.run.execution.local import Executor, executor_of
from lanner.run.injection import Injection
from lanner.run.planning import FitOptions, default_toys

LEVELS = (2.0, 3.0, 5.0)
# The laws that go beyond the toys, the best first.
_LAWS = {"analytic": "analytic null", "tail": "fitted tail", "empirical": "toys alone"}


@dataclass(frozen=True, eq=False)
class Strength:
    """What toy data with a signal gave at one strength, judged in several ways; None where a law does not exist."""

    signal_events: float
    statistics: NDArray[np.float64]
    z_empirical: NDArray[np.float64]  # bounded by the number of null toys
    z_analytic: NDArray[np.float64] | None = None
    z_chi2: NDArray[np.float64] | None = None
    z_tail: NDArray[np.float64] | None = None

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


@dataclass(frozen=True, eq=False)
class Power:
    """Strengths of a signal, and the null they were judged by."""

    null: Null
    strengths: tuple[Strength, ...]

    @property
    def reach(self) -> float:
        """The largest Z that the null toys can show by themselves."""
        return self.null.empirical(np.inf).z_score

    @property
    def most(self) -> float:
        """The largest Z that the law which is quoted can show."""
        tail = self.null.trusted_tail
        law = {"analytic": np.inf, "tail": np.inf if tail is None else tail.z_score(np.inf), "empirical": self.reach}
        return float(law[self.strengths[0].best])

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "null_toys": len(self.null),
            "largest_empirical_z": self.reach,
            "largest_z": None if np.isinf(self.most) else self.most,
            "strengths": [
                {
                    "signal_events": s.signal_events,
                    "experiments": len(s.statistics),
                    **{
                        kind: {
                            "z_16_50_84": list(s.band(kind)),
                            "probability": {f"{level:g} sigma": s.probability(level, kind) for level in LEVELS},
                        }
                        for kind in ("empirical", "analytic", "chi2", "tail")
                        if getattr(s, f"z_{kind}") is not None
                    },
                }
                for s in self.strengths
            ],
        }

    def __str__(self) -> str:
        law = _LAWS[self.strengths[0].best]
        chances = [f"P({level:g} sigma)" for level in LEVELS]
        lines = [["signal", "median Z (16 %, 84 %)", "empirical median", *chances]]
        for s in self.strengths:
            low, middle, high = (at_most(z, self.most) for z in s.band())
            # A level beyond what can be shown is not one that is never reached.
            often = [f"{s.probability(level):.0%}" if level <= self.most else "unknown" for level in LEVELS]
            empirical = at_most(s.band("empirical")[1], self.reach)
            lines.append([f"{s.signal_events:g}", f"{middle} ({low}, {high})", empirical, *often])
        counts = f"{len(self.null)} null toys: empirical Z up to {self.reach:.2f}; Z below is that of the {law}"
        return f"{counts}\n\n{text_table(lines)}"


def power(
    reference: Any,
    signal: Any,
    *,
    expected: float,
    signal_events: Sequence[float],
    toys: int | None = None,
    experiments: int = 100,
    alone: bool = False,
    label: str = "signal",
    output: str | Path | None = None,
    memory: float | str | None = None,
    executor: Executor | str = "local",
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Power:
    """Inject a signal into toy data at several strengths and see what a search would find.

    Each of `experiments` toy data sets has Poisson(expected) reference events and Poisson(s) signal events, for each s
    of `signal_events`; or, with `alone`, Poisson(s) events of the signal and nothing else, where that is a model of all
    data (an interference, another simulator). `options` are those of `search`; all toys are kept in `output`, from
    which an interrupted run resumes, those with the signal under its `label`: several signals can share one folder and
    its null toys. `executor` is who makes them.
    """
    fit = FitOptions(**options)
    injection = Injection.plan(
        reference,
        signal,
        expected=expected,
        options=fit,
        alone=alone,
        output=output,
        memory=memory,
        device=device,
    )
    largest = max(signal_events, default=0.0)
    if not signal_events or min(signal_events) < 0 or largest + 5 * largest**0.5 > len(injection.signal):
        raise InputError(
            f"signal_events={list(signal_events)!r}: give strengths well below the {len(injection.signal)} events of "
            "the signal"
        )
    toys = default_toys(injection.recipe.plans) if toys is None else toys
    work = toys + experiments * len(signal_events)

    def told(before: int) -> Callable[[int, int], None] | None:
        return None if progress is None else lambda done, _: progress(before + done, work)

    with executor_of(executor).start(injection.recipe, memory=injection.budget) as workers:
        made = injection.null(workers, toys, told(0))
        how = Combiner.of(workers.ladder, fit.combination, made, frozen_toys(toys))
        null = how.null(workers.ladder, made)
        strengths = []
        for k, mean in enumerate(signal_events):
            found = injection.toys(workers, mean, experiments, label=label, progress=told(toys + k * experiments))
            strengths.append(_judged(mean, how.statistic(found.statistics), null))
    return Power(null, tuple(strengths))


def _judged(mean: float, t: NDArray[np.float64], null: Null) -> Strength:
    """Z of toys with a signal."""
    tail = null.trusted_tail
    empirical = np.array([null.empirical(x).z_score for x in t])
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
