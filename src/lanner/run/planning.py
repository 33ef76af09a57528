"""From what a user asks for to a plan: checks, and the settings that were left open."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import megabytes
from lanner.errors import CountWarning, InputError, MemoryBudgetError, NullWarning
from lanner.events import Sample
from lanner.events.sample import check_varies
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.combination import check_combination
from lanner.inference.plan import Plan, make_plan
from lanner.inference.scales import DEVIATIONS, QUANTILES, ladder_of_widths, penalty_for
from lanner.inference.seeds import Stream, generator
from lanner.inference.tuning import Tuning, tune
from lanner.model.fit import check_enough
from lanner.model.loss import loss_by_name
from lanner.model.moments import MOST_ROWS
from lanner.model.single_fit import STATISTICS, Settings, check_settings

MANY_SIGMA = 5.0
# Below this many reference events per expected one, toys that share them are too much alike (docs/p-value.md).
MIN_RATIO = 20.0
# Of the reference, one part in so many gives the score its moments and is never a toy's data (see inference/toys.py).
_APART = 4
_LEAST_MEMORY = 64_000_000  # bytes
TOYS, SCORE_TOYS = 300, 1000


@dataclass(frozen=True)
class FitOptions:
    """The options that `search`, `calibrate`, `power` and `tune` share. None: chosen from the reference."""

    null: str | None = None  # None: the reference, or a permutation if that is small
    statistic: str | None = None
    combination: str = "harmonic"
    scaling: str | None = "standard"
    width: float | str | None = None  # None: a ladder; "auto": one
    penalty: float | None = None
    centers: int | None = None
    newton_steps: int | None = None
    loss: str = "logistic"
    seed: int = 0
    precision: str = "single"
    tolerance: float | None = None
    trace_error: float | None = None
    reference_size: int | None = None

    def settings(self) -> Settings:
        """The settings of a fit, checked."""
        return check_settings(
            loss=loss_by_name(self.loss),
            penalty=1e-6 if self.penalty is None else self.penalty,
            newton_steps=self.newton_steps,
            solver="newton",
            precision=self.precision,
            tolerance=self.tolerance,
            trace_error=self.trace_error,
        )

    def chosen_statistic(self) -> str:
        """The score where widths are left open, the likelihood ratio where one is given."""
        if self.statistic is None:
            return "score" if self.width is None else "likelihood-ratio"
        if self.statistic not in STATISTICS:
            raise InputError(
                f"statistic={self.statistic!r} is not known; choose one of {', '.join(map(repr, STATISTICS))}"
            )
        return self.statistic

    def single_width(self) -> float | None:
        """A width that was given; None where one or several are to be chosen."""
        if isinstance(self.width, str):
            if self.width != "auto":
                raise InputError(f"width={self.width!r}: give a number, 'auto' for one from the reference, or nothing")
            return None
        return self.width


def default_toys(plans: Sequence[Plan]) -> int:
    """How many null toys, if nobody says."""
    return SCORE_TOYS if all(p.statistic == "score" for p in plans) else TOYS


def plan_search(
    reference: Sample, data: Sample | None, *, expected: float | None, options: FitOptions, memory: int
) -> tuple[Plan, ...]:
    """The plan of a search at each of its scales: those given, or chosen from the reference."""
    check_combination(options.combination)
    if memory < _LEAST_MEMORY:
        raise MemoryBudgetError(
            f"the memory budget is {megabytes(memory)}, and a search needs {megabytes(_LEAST_MEMORY)} for its blocks "
            "alone: give memory='1 GB' or more"
        )
    settings, statistic = options.settings(), options.chosen_statistic()
    if statistic == "score" and options.newton_steps is not None:
        raise InputError(
            f"newton_steps={options.newton_steps!r}: the score statistic needs no fit; leave it out, or choose "
            "statistic='likelihood-ratio'"
        )
    null, why = _null(options, reference, data, expected)
    options = replace(options, null=null)
    plan = make_plan(
        reference,
        data,
        expected=expected,
        null=null,
        width=options.single_width(),
        penalty=settings.penalties[-1],
        centers=options.centers,
        scaling=options.scaling,
        seed=options.seed,
        settings=settings,
        reference_size=options.reference_size,
    )
    plan = replace(plan, statistic=statistic)
    if statistic == "score" and null == "reference":
        apart = min(len(reference) // _APART, plan.reference_size // 2, MOST_ROWS)
        plan = replace(plan, apart=max(plan.centers, apart))
    chosen = [*why, *plan.chosen]
    widths = [plan.width]
    if options.width is None:
        samples = (reference,) if null != "permutation" or data is None else (reference, data)
        events = ScaledRows(tuple(s.features for s in samples), plan.scaling)
        widths = ladder_of_widths(events, generator(plan.seed, Stream.WIDTH))
        low, high = QUANTILES
        chosen = [c for c in chosen if not c.startswith("width ")] + [
            f"widths {', '.join(f'{w:.3g}' for w in widths)}: in equal ratios from the {low:.0%} to the {high:.0%} "
            "quantile of the distances between reference events"
        ]
    penalties: Sequence[float] = [plan.penalty]
    if options.penalty is None and (statistic == "score" or options.width is None):
        deviations = DEVIATIONS[statistic]
        events_per_fit = plan.reference_size + plan.expected
        penalties = [penalty_for(d, events=events_per_fit, loss=settings.loss) for d in deviations]
        chosen.append(
            f"penalt{'ies' if len(penalties) > 1 else 'y'} {', '.join(f'{p:.2g}' for p in penalties)}: for log-ratios "
            f"of about {', '.join(f'{d:g}' for d in deviations)}"
        )
    elif options.penalty is None:
        penalties = [_stable_penalty(reference, data, expected, options, memory)]
        chosen.append(
            f"penalty {penalties[0]:g}: ten times the smallest at which toys of a part of the reference are stable"
        )
    return tuple(
        replace(plan, width=width, penalty=penalty, chosen=tuple(chosen)) for width in widths for penalty in penalties
    )


def _null(
    options: FitOptions, reference: Sample, data: Sample | None, expected: float | None
) -> tuple[str, tuple[str, ...]]:
    """The reference where it is large enough for toys of its own, and a permutation otherwise; and why."""
    if options.null is not None:
        return options.null, ()
    if data is None or reference.weights is not None or options.reference_size is not None:
        return "reference", ()  # a permutation needs data, and no weights or sizes of its own
    if len(reference) >= MIN_RATIO * (len(data) if expected is None else expected):
        return "reference", ()
    why = (
        f"null permutation, toys drawn from reference and data together: the reference has fewer than {MIN_RATIO:g} "
        "events for each one expected, too few for toys of its own"
    )
    return "permutation", (why,)


def tune_reference(
    reference: Sample,
    *,
    expected: float,
    options: FitOptions,
    memory: int,
    plateau: bool,
    relabelled: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Tuning:
    """`tune` with a user's options."""
    return tune(
        reference,
        expected=expected,
        scaling=options.scaling,
        settings=options.settings(),
        seed=options.seed,
        memory=memory,
        width=options.single_width(),
        penalty=options.penalty,
        centers=options.centers,
        plateau=plateau,
        relabelled=relabelled,
        progress=progress,
    )


def _stable_penalty(
    reference: Sample, data: Sample | None, expected: float | None, options: FitOptions, memory: int
) -> float:
    """The smallest stable penalty; for a permutation, of the pooled sample relabelled, blind to who is who."""
    if options.null == "permutation" and data is not None:
        pooled = Sample(_pooled(reference, data), reference.names)
        wanted = float(len(data))
        return tune_reference(
            pooled, expected=wanted, options=options, memory=memory, plateau=False, relabelled=True
        ).penalty
    wanted = float(expected if expected is not None else len(data) if data is not None else 0)
    # Stability is a matter of the fit, not of the weights, which would thin the toys' data.
    unweighted = Sample(reference.features, reference.names)
    room = 0.2 * len(reference)
    return tune_reference(unweighted, expected=min(wanted, room), options=options, memory=memory, plateau=False).penalty


def _pooled(reference: Sample, data: Sample) -> NDArray[np.float64]:
    return np.vstack([reference.features, data.features])


def check_sample(source: Any, label: str, least: int) -> Sample:
    """A sample that a search can use, or an error that says why not."""
    sample = Sample.of(source, label=label)
    if label == "reference":
        check_varies(sample, label)
    elif sample.weights is not None:
        raise InputError(
            f"the {label} has event weights, which toys of unweighted events cannot calibrate; use unweighted data, "
            "or fit_ratio, which gives t without a p-value"
        )
    check_enough(sample, label, least)
    return sample


def check_expected(expected: float | None) -> None:
    """Refuse what is no number of events, before anything is made of it."""
    if expected is not None and not (isinstance(expected, int | float | np.number) and 0 < expected < np.inf):
        raise InputError(
            f"expected={expected!r}: the number of data events that the reference predicts must be positive and "
            "finite; use expected=None (--expected observed) to test the shape alone"
        )


def check_ratio(plan: Plan, reference: Sample) -> None:
    """Warn where toys from the reference share too many of its events."""
    if plan.null == "reference" and len(reference) < MIN_RATIO * plan.expected:
        warnings.warn(
            f"the reference has {len(reference)} events for {plan.expected:g} expected: with fewer than {MIN_RATIO:g} "
            "times as many, toys from the reference alone share too many events, and small p-values come out too "
            "small; use a larger reference, or null='permutation' where there are data",
            NullWarning,
            stacklevel=4,
        )


def check_count(plan: Plan, observed: int) -> None:
    """Warn where the number of events alone would be a discovery: mostly it is a wrong `expected`."""
    if plan.fixed is not None:
        return
    sigma = (observed - plan.expected) / plan.expected**0.5
    if abs(sigma) > MANY_SIGMA:
        warnings.warn(
            f"{observed} data events where {plan.expected:g} are expected: {sigma:+.1f} sigma from the count alone. If "
            "it is not a prediction for this data set (luminosity, selection), correct it or use expected=None "
            "(--expected observed) to test the shape alone",
            CountWarning,
            stacklevel=4,
        )
