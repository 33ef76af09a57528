"""What the rows of a search's pool are, and how toys take from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanner.events import Sample
from lanner.inference.plan import Plan
from lanner.inference.resampling import (
    DATA_DRAWS,
    PermutationScheme,
    ReferenceScheme,
    Scheme,
    WeightedReferenceScheme,
    left_out_of_data,
)
from lanner.inference.seeds import Stream, rng_of
from lanner.model.bunches import Bunches
from lanner.model.splits import Splits


def centers_of(plan: Plan, reference: Sample) -> NDArray[np.intp]:
    """The reference events that are candidate centres, in random order."""
    return _in_random_order(plan, reference)[: plan.centers]


def _in_random_order(plan: Plan, reference: Sample) -> NDArray[np.intp]:
    """The rows of the reference: the candidate centres first, then those that only moments and toys take."""
    return rng_of(plan.seed, Stream.CENTERS).permutation(len(reference))


def dealt_scheme(
    plan: Plan,
    reference: int,
    others: int,
    *,
    as_one: bool = True,
    sizes: NDArray[np.intp] | None = None,
) -> Scheme:
    """Toys that take bunches of reference events (of reference and data, where these are relabelled).

    What is beside the reference is one row, the data, or a row for each event, signals that toys take some of, or rows
    of `sizes` events.
    """
    pooled = plan.null == "permutation"
    events = rng_of(plan.seed, Stream.BUNCHES).permutation(reference + (others if pooled else 0))
    number = reference - plan.reference_size
    left_out = [left_out_of_data(plan.seed, i, reference, number) for i in range(DATA_DRAWS if number else 0)]
    bunches = Bunches.dealt(events, plan.bunch).with_rows(left_out, inside=True)
    left_out_rows = np.arange(bunches.drawn, len(bunches))
    beside = np.arange(reference, reference + others)
    if sizes is None:
        sizes = np.array([others]) if as_one and others else np.ones(others, dtype=np.intp)
    rows = np.split(beside, np.cumsum(sizes)[:-1]) if others else []
    bunches = bunches.with_rows(rows, inside=pooled)
    data_rows = np.arange(bunches.drawn + len(left_out), len(bunches))
    if pooled:
        return PermutationScheme(
            bunches, plan.expected, plan.fixed, plan.reference_size, plan.seed, data_rows, left_out_rows
        )
    assert plan.moment_blocks is not None
    splits = Splits.of(np.arange(bunches.drawn), np.empty(0, np.intp), len(bunches), plan.moment_blocks)
    nobody = np.empty(0, dtype=np.intp)
    return ReferenceScheme(
        bunches, plan.expected, plan.fixed, plan.reference_size, nobody, plan.seed, data_rows, left_out_rows, splits
    )


def single_scheme(plan: Plan, reference: Sample, others: int) -> Scheme:
    """Toys that take single events; candidate centres are held out where they are barred."""
    n = len(reference)
    if plan.null == "permutation":
        bunches, data_rows = Bunches.single(n + others, 0), np.arange(n, n + others)
        return PermutationScheme(bunches, plan.expected, plan.fixed, plan.reference_size, plan.seed, data_rows)
    return reference_scheme(plan, reference, others)


def reference_scheme(plan: Plan, reference: Sample, others: int) -> ReferenceScheme:
    """The toys of the paper's null, of single events."""
    n, toys = len(reference), plan.null == "reference"
    rows = _in_random_order(plan, reference)
    barred = plan.centers if toys and plan.centers_barred else 0
    splits = None
    if toys and plan.moment_blocks is not None:
        splits = Splits.of(rows[barred:], rows[:barred], n, plan.moment_blocks)
    sizes = (plan.expected, plan.fixed, plan.reference_size, rows[:barred], plan.seed, np.arange(n, n + others))
    bunches = Bunches.single(n, others, reference.weights, reference.toy_weights)
    if reference.draws_by is None or not toys:
        return ReferenceScheme(bunches, *sizes, splits=splits, expected_error=plan.expected_error)
    assert plan.n_hit_or_miss is not None
    return WeightedReferenceScheme(
        bunches,
        *sizes,
        splits=splits,
        expected_error=plan.expected_error,
        weights=reference.draws_by,
        n_hit_or_miss=plan.n_hit_or_miss,
    )
