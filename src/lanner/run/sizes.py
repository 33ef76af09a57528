"""Are there events enough for toys? Counted by what they are worth, not by how many rows there are."""

from __future__ import annotations

import warnings

import numpy as np

from lanner.errors import InputError, NullWarning
from lanner.events import Sample
from lanner.events.effective_size import EffectiveSize, effective_size
from lanner.inference.plan import MIN_RATIO, Plan

# Below this many reference events per expected one, a p-value below 0.05 is three times too frequent (docs/p-value.md).
LEAST_RATIO = 3.0
# What events must be worth of their number. Measured for 500 relabelled with 2000: p is below 0.05 in 6 % of null data
# at 0.86, in 14 to 16 % at 0.56 (each of the 2000 twice, or a bootstrap), in 57 % where each of the 500 is there twice.
_LEAST_SHARE = 0.6
_ONCE = "give each event once (such as numpy.unique(events, axis=0))"


def check_sizes(plan: Plan, reference: Sample, data: Sample | None = None) -> None:
    """Warn where events are too few or copied, so that p-values come out too small; refuse where it is gross."""
    size = effective_size(reference)
    if plan.null == "reference":
        _check_ratio(plan, size)
    elif size.has_copies:
        toys = "mix them with the data" if plan.null == "permutation" else "are generated and have no copies"
        _warn_or_refuse(size, f"the reference has {size}: toys {toys}")
    if data is None:
        return
    own = effective_size(data)
    if own.has_copies:
        _warn_or_refuse(own, f"the data have {own}: an event counted twice looks like a signal that no toy has")
    elif plan.null == "permutation" and not size.has_copies:
        together = effective_size(Sample(np.vstack([reference.features, data.features]), reference.names))
        if together.has_copies:
            _warn_or_refuse(
                together,
                f"reference and data together have {together}: events of one are in the other as well",
            )


def _check_ratio(plan: Plan, size: EffectiveSize) -> None:
    if size.worth >= MIN_RATIO * plan.expected:
        return
    given = f"the reference has {size} for {plan.expected:g} expected"
    remedy = "use a larger reference, or null='permutation' where there are data"
    if size.has_weights:
        remedy = "use a larger reference, or one of more even weights"
    if size.has_copies:
        remedy = f"{_ONCE}, and more of them"
    if size.worth < LEAST_RATIO * plan.expected:
        raise InputError(
            f"{given}: with fewer than {LEAST_RATIO:g} times as many, toys from the reference alone give p-values that "
            f"are many times too small; {remedy}"
        )
    _warn(
        f"{given}: with fewer than {MIN_RATIO:g} times as many, toys from the reference alone share too many events, "
        f"and small p-values come out too small; {remedy}"
    )


def _warn_or_refuse(size: EffectiveSize, what: str) -> None:
    if size.worth < _LEAST_SHARE * size.by_weights:
        raise InputError(f"{what}, so that no p-value would be right; {_ONCE}")
    _warn(f"{what}, so that the p-value is not right; {_ONCE}")


def _warn(message: str) -> None:
    warnings.warn(message, NullWarning, stacklevel=6)
