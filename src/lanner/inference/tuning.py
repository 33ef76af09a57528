"""Tuning by the paper's protocol (Sec. 3): from the reference alone, so that no signal is preferred.

1. The width is the 90th percentile of the distances between reference events.
2. The penalty is as small as stays stable: ten times the smallest at which all toys of a trial converge, none has
   t <= 0, their mean t is where the analytic null puts it, and it is at most a tenth of the expected events (a fit
   beyond follows single events). The ten is for the thousands of toys after the forty of the trial: at the smallest
   itself some of them had t < 0 (measured).
3. The number of centres is the smallest, from sqrt(n) up, on the plateau of t: of its analytic mean, which has no
   noise of toys on it.

Steps 2 and 3 run on a part of the reference with the same N(0)/N0: the mean of t depends on that ratio and on the
penalty, not on the number of events. Fits of fewer events are less stable, so the choice errs on the safe side.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from lanner.errors import InputError
from lanner.events import Sample
from lanner.inference.multiscale import Ladder
from lanner.inference.plan import plan_one
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.units import learn_units
from lanner.model.fit import default_centers
from lanner.model.kernel import pairwise_width
from lanner.settings import FitSettings
from lanner.typing import Progress

PENALTIES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
# One Newton step is a regulariser of its own. Converged fits are unstable here in a few per cent of toys, with t down
# to -1e4 (measured in 1-D), which a handful of toys may not show.
PENALTIES_OF_ONE_STEP = (*PENALTIES, 1e-9, 1e-10)
TOYS = 40
EVENTS = 20_000  # of the reference that steps 2 and 3 use
_MARGIN = 10.0  # over the smallest stable penalty
_PER_EVENT = 0.1  # the largest mean of t, in units of the expected events
_AGREEMENT = 0.15  # what the mean t may differ from the analytic one, beside four standard errors
_PLATEAU = 0.1  # what the analytic mean of t may be below the plateau, in units of the spread of t


@dataclass(frozen=True)
class Trial:
    """What toys did at one setting."""

    centers: int
    penalty: float
    rank: int
    mean: float
    spread: float
    analytic_mean: float
    analytic_spread: float
    not_converged: int
    not_positive: int
    toys: int
    seconds_per_toy: float
    expected: float  # events of the full problem

    @property
    def stable(self) -> bool:
        """Whether toys converge, are positive, average where the analytic null says, and follow no single events."""
        if self.not_converged or self.not_positive or not np.isfinite(self.mean):
            return False
        if self.analytic_mean > _PER_EVENT * self.expected:
            return False
        allowed = 4 * self.analytic_spread / self.toys**0.5 + _AGREEMENT * self.analytic_mean
        return bool(abs(self.mean - self.analytic_mean) <= allowed)


@dataclass(frozen=True)
class Tuning:
    """The settings chosen, and the trials behind them."""

    width: float
    penalty: float
    centers: int
    quantiles: tuple[tuple[float, float], ...]  # of the pairwise distances
    penalties: tuple[Trial, ...]
    plateau: tuple[Trial, ...]
    events: int  # reference events used

    def settings(self) -> dict[str, float | int]:
        """What `search` takes."""
        return {"width": self.width, "penalty": self.penalty, "centers": self.centers}

    def to_dict(self) -> dict[str, Any]:
        """The settings and every trial, as plain JSON."""
        found = self.settings() | asdict(self)
        for name in ("penalties", "plateau"):
            found[name] = [asdict(trial) | {"stable": trial.stable} for trial in getattr(self, name)]
        return found

    def __str__(self) -> str:
        lines = [
            f"width    {self.width:.4g} (90th percentile of the pairwise distances)",
            f"penalty  {self.penalty:g}{self._why_penalty()}",
            f"centers  {self.centers}{self._why_centers()}",
            "",
            "penalty    rank   mean t  analytic  not converged  t <= 0  stable",
        ]
        lines += [
            f"{t.penalty:<9g}{t.rank:>6d}{t.mean:>9.2f}{t.analytic_mean:>10.2f}{t.not_converged:>15d}"
            f"{t.not_positive:>8d}  {'yes' if t.stable else 'no'}"
            for t in self.penalties
        ]
        if self.plateau:
            lines += ["", "centers    rank   mean t  spread  analytic  s/toy"]
            lines += [
                f"{t.centers:<9d}{t.rank:>6d}{t.mean:>9.2f}{t.spread:>8.2f}{t.analytic_mean:>10.2f}{t.seconds_per_toy:>7.3f}"
                for t in self.plateau
            ]
        return "\n".join(lines)

    def _why_penalty(self) -> str:
        stable = [t.penalty for t in self.penalties if t.stable]
        if len(self.penalties) < 2 or not stable:
            return " (given)"
        return f" ({self.penalty / min(stable):.0f} times the smallest at which all toys of a trial are stable)"

    def _why_centers(self) -> str:
        if not self.plateau:
            return ""
        return f" (on the plateau of the analytic mean, tried on {self.events} events and scaled to all)"


def tune(
    reference: Sample,
    *,
    expected: float,
    settings: FitSettings,
    memory: int,
    plateau: bool = True,
    toys: int = TOYS,
    relabelled: bool = False,
    progress: Progress | None = None,
) -> Tuning:
    """Choose what the settings leave open. With `plateau` false the number of centres is about 10 sqrt(n), untried.

    With `relabelled` true the sample is reference and data pooled, and toys call `expected` of its events data.
    """
    seed, centers, penalty = settings.seed, settings.centers, settings.penalty
    rng = rng_of(seed, Stream.TUNING)
    units = learn_units(reference, settings)
    scaled = units.apply(reference.features)
    levels = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
    quantiles = tuple((q, pairwise_width(scaled, quantile=q, rng=rng_of(seed, Stream.WIDTH))) for q in levels)
    width = settings.width if isinstance(settings.width, float) else dict(quantiles)[0.9]
    part = reference.take(rng.permutation(len(reference))[:EVENTS])
    part_expected = expected * len(part) / len(reference)
    n = len(reference) + (0 if relabelled else int(expected))
    # Candidates scale with the events, so that their density among the events is that of the full problem.
    wanted = default_centers(n) if centers is None else centers
    part_centers = max(50, min(len(part) // 3, round(wanted * len(part) / len(reference))))
    # The trials are fits of the likelihood ratio at one width, whatever statistic the search will use.
    tried_with = replace(settings, statistic="likelihood-ratio", width=width, reference_size=None)
    trials = _Trials(part, part_expected, tried_with, memory, toys, relabelled, expected)
    penalties = (PENALTIES if settings.converges else PENALTIES_OF_ONE_STEP) if penalty is None else (penalty,)
    grid = _centers_grid(len(part), part_centers) if plateau and centers is None else []
    total, done = len(penalties) + len(grid), 0

    def attempt(trial_penalty: float, trial_centers: int) -> Trial:
        nonlocal done
        found = trials.run(trial_penalty, trial_centers)
        done += 1
        if progress is not None:
            progress("tuning", done, total)
        return found

    tried: list[Trial] = []
    for candidate in sorted(penalties, reverse=True):
        tried.append(attempt(candidate, part_centers))
        if penalty is None and not tried[-1].stable:
            done = len(penalties)
            break  # what is smaller is less stable still
    if penalty is None:
        stable = [t.penalty for t in tried if t.stable]
        if not stable:
            raise InputError(
                f"toys are unstable even at a penalty of {max(penalties):g}: the reference is too small for "
                f"{expected:g} expected events, or its features have extreme tails; transform them, or give penalty="
            )
        penalty = min(_MARGIN * min(stable), max(stable))
    scan = [attempt(penalty, m) for m in grid]
    if centers is None:
        centers = _on_plateau(scan, n, len(reference) / len(part)) if scan else wanted
    return Tuning(width, penalty, centers, quantiles, tuple(tried), tuple(scan), len(part))


def stable_penalty(
    reference: Sample,
    data: Sample | None,
    *,
    expected: float | None,
    settings: FitSettings,
    memory: int,
    progress: Progress | None = None,
) -> float:
    """The smallest stable penalty; for a permutation, that of the pooled sample relabelled, blind to who is who."""
    relabelled = settings.null == "permutation" and data is not None
    if relabelled:
        assert data is not None
        sample = Sample(np.vstack([reference.features, data.features]), reference.names)
        wanted = float(len(data))
    else:
        # Stability is a matter of the fit, not of the weights, which would thin the toys' data.
        sample = Sample(reference.features, reference.names)
        number = expected if expected is not None else 0.0 if data is None else len(data)
        wanted = min(float(number), 0.2 * len(reference))
    return tune(
        sample,
        expected=wanted,
        settings=settings,
        memory=memory,
        plateau=False,
        relabelled=relabelled,
        progress=progress,
    ).penalty


@dataclass(frozen=True, eq=False)
class _Trials:
    """Toys of a part of the reference at any penalty and number of centres."""

    part: Sample  # in random order
    expected: float
    settings: FitSettings
    memory: int
    toys: int
    relabelled: bool
    full_expected: float

    def run(self, penalty: float, centers: int) -> Trial:
        reference, data, null = self.part, None, "reference"
        if self.relabelled:
            size = max(1, round(self.expected))
            reference, data, null = self.part.take(slice(size, None)), self.part.take(slice(0, size)), "permutation"
        settings = replace(self.settings, null=null, penalty=penalty, centers=centers)
        plan = plan_one(reference, data, expected=self.expected, settings=settings)
        experiment = Ladder.prepare((plan,), reference, data, memory=self.memory).first
        start = time.perf_counter()
        solution = experiment.fit_toys(range(self.toys))
        seconds = (time.perf_counter() - start) / self.toys
        analytic = experiment.analytic_null()
        t = solution.statistic
        return Trial(
            centers=centers,
            penalty=plan.penalty,
            rank=experiment.basis.rank,
            mean=float(t.mean()),
            spread=float(t.std(ddof=1)),
            analytic_mean=analytic.mean,
            analytic_spread=analytic.std,
            not_converged=int(np.count_nonzero(~solution.converged)),
            not_positive=int(np.count_nonzero(~(t > 0))),
            toys=self.toys,
            seconds_per_toy=seconds,
            expected=self.full_expected,
        )


def _centers_grid(events: int, most: int) -> list[int]:
    """From a quarter of sqrt(n) to the number wanted, doubling."""
    grid, m = [], max(10, int(events**0.5) // 4)
    while m < most:
        grid.append(m)
        m *= 2
    return [*grid, most]


def _on_plateau(scan: Sequence[Trial], n: int, events_ratio: float) -> int:
    """The smallest number, sqrt(n) or more, whose mean t is that of the largest; scaled to the full problem."""
    last = scan[-1]
    flat = [t for t in scan if last.analytic_mean - t.analytic_mean <= _PLATEAU * last.analytic_spread]
    return max(int(n**0.5), round(min(t.centers for t in flat) * events_ratio))
