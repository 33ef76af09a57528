"""From what a user gives to a run that can start: samples checked, every setting decided, memory counted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lanner._util.machine import megabytes, memory_budget
from lanner.errors import ColumnWarning, ConstantWarning, CountWarning, InputError, MemoryBudgetError, SameEventsWarning
from lanner.events import Sample, match_columns
from lanner.events.io.request import in_words
from lanner.events.io.roles import sample_like, sample_of_table
from lanner.events.sample import check_varies
from lanner.events.spread import Spread
from lanner.events.units import constant_columns
from lanner.inference.effort import most_toys
from lanner.inference.multiscale import Recipe
from lanner.inference.plan import EventGenerator, Plan, choose_null, needs_trials, plan_scales
from lanner.inference.sequential import Stopping
from lanner.inference.tuning import stable_penalty
from lanner.inference.units import Chosen
from lanner.model.backend import arrays_on
from lanner.model.fit import MIN_DATA, MIN_REFERENCE, check_enough, check_expected
from lanner.run.signed_weights import with_toy_weights
from lanner.run.sizes import check_sizes
from lanner.settings import FitSettings
from lanner.typing import Progress

MANY_SIGMA = 5.0
FROM_WEIGHTS = "weights"  # where the reference's weights say how many events are expected
TOYS, SCORE_TOYS = 300, 1000  # if nobody says how many
_LEAST_MEMORY = 64_000_000  # bytes


@dataclass(frozen=True, eq=False)
class Job:
    """A run that can start: what its experiments are made of, and the bytes that they may use."""

    recipe: Recipe
    memory: int
    left_out: Mapping[str, str] = field(default_factory=dict)  # columns of the reference that are no features

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plan of each scale."""
        return self.recipe.plans

    @property
    def toys(self) -> int:
        """How many null toys, if nobody says."""
        return default_toys(self.plans[0])

    def stopping(self) -> Stopping | None:
        """When there are toys enough, if nobody says how many: of scores when the answer is known."""
        plan = self.plans[0]
        if plan.statistic != "score" or plan.null == "generator":
            return None
        return Stopping.automatic(most_toys(plan, len(self.recipe.reference)))


def default_toys(plan: Plan) -> int:
    """How many null toys, if nobody says: more where a toy needs no fit. All scales of a search have one statistic."""
    return SCORE_TOYS if plan.statistic == "score" else TOYS


def prepare(
    reference: Any,
    data: Any = None,
    *,
    expected: float | str | None,
    settings: FitSettings,
    signal: Any = None,
    memory: float | str | None = None,
    device: str = "cpu",
    generator: EventGenerator | None = None,
    uncertain: bool = False,
    progress: Progress | None = None,
) -> Job:
    """Check samples and settings, and plan. In the place of data there may be a signal, of which toys are made.

    Where the reference is `uncertain` the number of data events need not be near that expected.
    """
    arrays_on(device)
    reference, left_out = chosen_features(reference, "reference")
    reference = checked_sample(reference, "reference", MIN_REFERENCE, settings.scaling)
    number, error = expected_of(expected, reference)
    if error and number and uncertain:
        raise InputError(
            f"expected={expected!r} has a statistical error of {error / number:.2%}, which is one more uncertainty of "
            f"this search: give expected={number:.6g}, and a Normalisation of that size"
        )
    if data is not None:
        least = least_data(settings.chosen_statistic, number)
        data = match_columns(reference, checked_data(data, least, number, like=reference))
        check_apart(reference, data)
    if signal is not None:
        signal = checked_sample(signal, "signal", 1, like=reference)
        signal = match_columns(reference, signal, labels=("reference", "signal"))
    if data is None and settings.null not in (None, "reference"):
        raise InputError(f"null={settings.null!r} needs the data; without them toys come from the reference")
    budget = memory_budget(memory)
    reference, said = with_toy_weights(reference, settings, memory=budget, progress=progress)
    plans = plan_search(
        reference, data, expected=number, settings=settings, memory=budget, progress=progress, expected_error=error
    )
    if expected == FROM_WEIGHTS:
        reason = "the sum of the reference's weights and its statistical error, by which toys fluctuate as well"
        said = (*said, Chosen("expected", f"{number:.6g} ± {error:.3g}", reason))
    plans = tuple(replace(plan, chosen=(*plan.chosen, *said)) for plan in plans)
    if signal is None:
        check_sizes(plans[0], reference, data)
    if data is not None:
        check_constant(reference, data)
        if not uncertain:
            check_count(plans[0], len(data))
    recipe = Recipe(plans, reference, data if signal is None else signal, generator, device)
    return Job(recipe, budget, left_out)


def plan_search(
    reference: Sample,
    data: Sample | None,
    *,
    expected: float | None,
    settings: FitSettings,
    memory: int,
    progress: Progress | None = None,
    expected_error: float = 0.0,
) -> tuple[Plan, ...]:
    """The plan at each scale; a penalty that is left open and that no rule gives is chosen by trial fits."""
    if memory < _LEAST_MEMORY:
        raise MemoryBudgetError(
            f"the memory budget is {megabytes(memory)}, and a search needs {megabytes(_LEAST_MEMORY)} for its blocks "
            "alone: give memory='1 GB' or more"
        )
    if not needs_trials(settings):
        return plan_scales(reference, data, expected=expected, settings=settings, expected_error=expected_error)
    null, _ = choose_null(settings, reference, data, expected)
    penalty = stable_penalty(
        reference, data, expected=expected, settings=replace(settings, null=null), memory=memory, progress=progress
    )
    reason = "ten times the smallest at which toys of a part of the reference are stable"
    chosen = Chosen("penalty", f"{penalty:g}", reason)
    settings = replace(settings, penalty=penalty)
    plans = plan_scales(reference, data, expected=expected, settings=settings, expected_error=expected_error)
    return tuple(replace(plan, chosen=(*plan.chosen, chosen)) for plan in plans)


def expected_of(expected: float | str | None, reference: Sample) -> tuple[float | None, float]:
    """How many data events are expected, and the error of that: as given, or by the sum of the reference's weights."""
    if not isinstance(expected, str):
        return (None if expected is None else check_expected(expected)), 0.0
    if expected != FROM_WEIGHTS:
        raise InputError(
            f"expected={expected!r}: give a number, {FROM_WEIGHTS!r} for the sum of the reference's weights, or None "
            "to test the shape alone"
        )
    if reference.weights is None:
        raise InputError(
            f"expected={expected!r} is the sum of the reference's weights, but it has none: give weights that add up "
            "to the events expected of the data's luminosity, or a number"
        )
    return check_expected(reference.total_weight), float(np.sqrt(np.square(reference.weights).sum()))


def chosen_features(source: Any, label: str) -> tuple[Sample, dict[str, str]]:
    """The columns of a table that are features; those that are not are warned of, and returned with the reasons."""
    if isinstance(source, Spread):
        raise InputError(f"the {label} is left in its files, which only a search can use: read it with read_sample")
    sample, left_out = sample_of_table(source, label)
    if left_out:
        warnings.warn(
            f"left out of the features of the {label}: {in_words(left_out)}. To test them, or to give event weights, "
            "name what is meant: lanner.Sample.of(table, names=[...], weights=...)",
            ColumnWarning,
            stacklevel=5,
        )
    return sample, left_out


def checked_sample(
    source: Any, label: str, least: int, scaling: str | None = "standard", *, like: Sample | None = None
) -> Sample:
    """A sample that a search can use, or an error that says why not. `like` has the features, if they are known."""
    if like is None:
        sample, _ = chosen_features(source, label)
    else:
        sample = sample_like(like.names, source, label)
    if label == "reference":
        check_varies(sample, label, everywhere=scaling != "robust")
    elif sample.weights is not None:
        raise InputError(
            f"the {label} has event weights, which toys of unweighted events cannot calibrate; use unweighted data, "
            "or fit_ratio, which gives t without a p-value"
        )
    check_enough(sample, label, least)
    return sample


def least_data(statistic: str, expected: float | None) -> int:
    """How many data events a test needs: one where their number is tested and nothing is fitted, or some more."""
    return 1 if statistic == "score" and expected is not None else MIN_DATA


def checked_data(source: Any, least: int, expected: float | None, *, like: Sample | None = None) -> Sample:
    """Data that a search can use; of none at all the number says everything."""
    rows = next(iter(source.values()), ()) if isinstance(source, Mapping) else source
    if expected is not None and hasattr(rows, "__len__") and len(rows) == 0:
        raise InputError(
            f"the data have no events where {expected:g} are expected: of Poisson({expected:g}) the chance of that is "
            f"{math.exp(-expected):.2g}, and there is nothing else to test"
        )
    return checked_sample(source, "data", least, like=like)


def check_strengths(signal_events: Sequence[float], available: int) -> None:
    """Refuse numbers of signal events that are none, or that a signal sample is too small for."""
    largest = max(signal_events, default=0.0)
    if not signal_events or min(signal_events) < 0 or largest + 5 * largest**0.5 > available:
        raise InputError(
            f"signal_events={[float(s) for s in signal_events]!r}: give strengths well below the {available} events of "
            "the signal"
        )


def check_apart(reference: Sample, data: Sample) -> None:
    """Warn where reference and data are the same events."""
    ours, theirs = reference.features, data.features
    if len(reference) == len(data) and isinstance(ours, np.ndarray) and np.array_equal(ours, theirs):
        warnings.warn(
            f"reference and data are the same {len(data)} events, so that no test can tell them apart: give the data "
            "that were measured, or split the sample at random into two",
            SameEventsWarning,
            stacklevel=5,
        )


def check_constant(reference: Sample, data: Sample) -> None:
    """Warn where data have another value than the only one that the reference has in a column."""
    for j in constant_columns(reference.features):
        only = reference.features.min(axis=0)[j]
        others = int(np.count_nonzero(data.features[:, j] != only))
        if others:
            warnings.warn(
                f"column {reference.names[j]!r} is always {only:g} in the reference, but {others} of {len(data)} data "
                "events have another value: no reference event is like them; if that is not meant (a run number, a "
                "label of the sample), drop the column from the features",
                ConstantWarning,
                stacklevel=5,
            )


def check_count(plan: Plan, observed: int) -> None:
    """Warn where the number of events alone would be a discovery: mostly it is a wrong `expected`."""
    if plan.fixed is not None:
        return
    sigma = (observed - plan.expected) / (plan.expected + plan.expected_error**2) ** 0.5
    if abs(sigma) > MANY_SIGMA:
        warnings.warn(
            f"{observed} data events where {plan.expected:g} are expected: {sigma:+.1f} sigma from the count alone. If "
            "it is not a prediction for this data set (luminosity, selection), correct it or use expected=None "
            "to test the shape alone",
            CountWarning,
            stacklevel=5,
        )
