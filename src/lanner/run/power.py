"""`power`: how likely a search is to find a given signal, at several strengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events import match_columns
from lanner.inference.experiment import Experiment
from lanner.inference.null import Null
from lanner.inference.seeds import Stream, generator
from lanner.inference.significance import fit_chi2
from lanner.inference.toys import ReferenceScheme
from lanner.machine import memory_budget
from lanner.model.fit import MIN_REFERENCE
from lanner.model.problem import Solution
from lanner.model.weightings import Draw
from lanner.run.planning import FitOptions, check_expected, check_sample, plan_search
from lanner.run.store import array_digest
from lanner.run.toys import run_toys

LEVELS = (2.0, 3.0, 5.0)


@dataclass(frozen=True, eq=False)
class Strength:
    """What toy data with a signal gave at one strength."""

    signal_events: float
    statistics: NDArray[np.float64]
    z_empirical: NDArray[np.float64]  # bounded by the number of null toys
    z_analytic: NDArray[np.float64]
    z_chi2: NDArray[np.float64] | None

    def band(self, kind: str = "analytic") -> tuple[float, float, float]:
        """16 %, 50 % and 84 % quantiles of Z."""
        z = getattr(self, f"z_{kind}")
        if z is None:
            return (float("nan"),) * 3
        low, middle, high = np.quantile(z, [0.16, 0.5, 0.84])
        return float(low), float(middle), float(high)

    def probability(self, level: float, kind: str = "analytic") -> float:
        """How often Z reaches a level."""
        z = getattr(self, f"z_{kind}")
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

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        kinds = ("empirical", "analytic", *(() if self.null.chi2 is None else ("chi2",)))
        return {
            "null_toys": len(self.null),
            "largest_empirical_z": self.reach,
            "strengths": [
                {
                    "signal_events": s.signal_events,
                    "experiments": len(s.statistics),
                    **{
                        kind: {
                            "z_16_50_84": list(s.band(kind)),
                            "probability": {f"{level:g} sigma": s.probability(level, kind) for level in LEVELS},
                        }
                        for kind in kinds
                    },
                }
                for s in self.strengths
            ],
        }

    def __str__(self) -> str:
        lines = [
            f"{len(self.null)} null toys: empirical Z up to {self.reach:.2f}; beyond, the analytic null extrapolates",
            "",
            "signal   median Z (16 %, 84 %)     empirical median   P(2 sigma)  P(3 sigma)  P(5 sigma)",
        ]
        for s in self.strengths:
            low, middle, high = s.band()
            chances = "".join(f"{s.probability(level):>12.0%}" for level in LEVELS)
            lines.append(
                f"{s.signal_events:<9g}{middle:>6.2f} ({low:.2f}, {high:.2f}){s.band('empirical')[1]:>22.2f}{chances}"
            )
        return "\n".join(lines)


def power(
    reference: Any,
    signal: Any,
    *,
    expected: float,
    signal_events: Sequence[float],
    toys: int = 300,
    experiments: int = 100,
    alone: bool = False,
    label: str = "signal",
    output: str | Path | None = None,
    memory: float | str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Power:
    """Inject a signal into toy data at several strengths and see what a search would find.

    Each of `experiments` toy data sets has Poisson(expected) reference events and Poisson(s) signal events, for each s
    of `signal_events`; or, with `alone`, Poisson(s) events of the signal and nothing else, where that is a model of all
    data (an interference, another simulator). `options` are those of `search`; all toys are kept in `output`, from
    which an interrupted run resumes, those with the signal under its `label`: several signals can share one folder and
    its null toys.
    """
    check_expected(expected)
    fit = FitOptions(**options)
    if fit.null != "reference":
        raise InputError(f"null={fit.null!r}: the power is that of null='reference'")
    reference = check_sample(reference, "reference", MIN_REFERENCE)
    signal = match_columns(reference, check_sample(signal, "signal", 1), labels=("reference", "signal"))
    largest = max(signal_events, default=0.0)
    if not signal_events or min(signal_events) < 0 or largest + 5 * largest**0.5 > len(signal):
        raise InputError(
            f"signal_events={list(signal_events)!r}: give strengths well below the {len(signal)} signal events"
        )
    budget = memory_budget(memory)
    plan = plan_search(reference, None, expected=expected, options=fit, memory=budget)
    experiment = Experiment.prepare(plan, reference, signal, memory=budget)
    work = toys + experiments * len(signal_events)
    made = run_toys(
        experiment,
        toys,
        folder=None if output is None else Path(output) / "toys",
        events_digest=array_digest(reference.features, reference.weights),
        progress=None if progress is None else lambda done, _: progress(done, work),
    )
    chi2 = fit_chi2(made.statistics, rng=generator(plan.seed, Stream.CALIBRATION))
    null = Null(plan.null, made.statistics, made.converged, experiment.analytic_null(), chi2)
    strengths = []
    for k, mean in enumerate(signal_events):

        def fit_signal(numbers: Sequence[int], told: Callable[[int], None] | None, mean: float = mean) -> Solution:
            return experiment.fit([_with_signal(experiment, i, mean, alone) for i in numbers], told)

        t = run_toys(
            experiment,
            experiments,
            folder=None if output is None else Path(output) / f"{label}-{mean:g}",
            events_digest=array_digest(reference.features, reference.weights, signal.features),
            about={"signal_events": float(mean), "alone": alone},
            fit=fit_signal,
            progress=None
            if progress is None
            else lambda done, _, before=toys + k * experiments: progress(before + done, work),  # type: ignore[misc]
        ).statistics
        strengths.append(
            Strength(
                float(mean),
                t,
                np.array([null.empirical(x).z_score for x in t]),
                np.asarray(null.analytic.z_score(t)),
                None if chi2 is None else np.array([chi2.z_score(x) for x in t]),
            )
        )
    return Power(null, tuple(strengths))


def _with_signal(experiment: Experiment, i: int, mean: float, alone: bool) -> Draw:
    """A null toy of another stream, with Poisson(mean) of the signal's events among its data, or as its data."""
    scheme = experiment.scheme
    assert isinstance(scheme, ReferenceScheme)
    # Toys of `power` lie far beyond any number of null toys, so that the two never share one.
    strength = 1 + round(1000 * mean)
    toy = scheme.toy(10**9 * strength + i)
    rng = generator(scheme.seed, Stream.POWER, strength, i)
    number = min(int(rng.poisson(mean)), scheme.data_size)
    signal = scheme.reference + rng.choice(scheme.data_size, number, replace=False)
    if alone:
        return replace(toy, data=signal, left_out=np.concatenate([toy.left_out, toy.data]))
    return replace(toy, data=np.concatenate([toy.data, signal]))
