"""What the rows of a search's pool are: whose events are in which, and what toys and the data's fits take."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lanner.events import Sample
from lanner.inference.layout import centers_of, dealt_scheme, reference_scheme, single_scheme
from lanner.inference.plan import Plan, plan_one
from lanner.inference.resampling import DATA_DRAWS, PermutationScheme, ReferenceScheme, WeightedReferenceScheme
from lanner.model.splits import ALWAYS
from lanner.settings import FitSettings
from tests.conftest import exponential

N, M = 3000, 80
R, D = (Sample.of(x) for x in exponential(N, M, seed=1))
NULLS = pytest.mark.parametrize("null", ["reference", "permutation"])


def plan(reference: Sample = R, expected: float | None = 100.0, bunch: int = 1, **settings: Any) -> Plan:
    how: dict[str, Any] = {"width": 0.5, "penalty": 1e-5, "centers": 40, "statistic": "score", "seed": 3} | settings
    return replace(plan_one(reference, D, expected=expected, settings=FitSettings(**how)), bunch=bunch)


def rows_of(scheme: Any, rows: np.ndarray) -> list[np.ndarray]:
    """The events of each of some rows."""
    bunches = scheme.bunches
    return [bunches.events[bunches.starts[row] : bunches.starts[row + 1]] for row in rows]


def dealt(made: Plan, **how: Any) -> Any:
    return dealt_scheme(made, N, M, **how)


@pytest.mark.parametrize("bunch", [1, 6])
@NULLS
def test_every_event_that_toys_take_from_is_dealt_once(null: str, bunch: int) -> None:
    made = plan(null=null, bunch=bunch)
    bunches = dealt(made).bunches
    everybody = N + (M if null == "permutation" else 0)
    assert bunches.total == everybody
    assert bunches.size == bunch
    assert sorted(bunches.events[:everybody]) == list(range(everybody))


@pytest.mark.parametrize("bunch", [1, 6])
@NULLS
def test_beside_them_are_what_each_of_the_datas_draws_leaves_out_and_the_data(null: str, bunch: int) -> None:
    made = plan(null=null, bunch=bunch)
    scheme = dealt(made)
    bunches = scheme.bunches
    assert len(bunches) == bunches.drawn + DATA_DRAWS + 1
    left_out = rows_of(scheme, scheme.left_out_rows)
    assert len(left_out) == DATA_DRAWS
    for events in left_out:
        assert len(set(events)) == len(events) == N - made.reference_size > 0
        assert events.max() < N
    assert len({tuple(sorted(events)) for events in left_out}) == DATA_DRAWS
    (data,) = rows_of(scheme, scheme.data_rows)
    np.testing.assert_array_equal(data, np.arange(N, N + M))
    # What is left out is always missing in the reference; relabelled data are so as well.
    assert bunches.inside[:-1].all()
    assert bunches.inside[-1] == (null == "permutation")


@NULLS
def test_signals_are_a_row_for_each_event(null: str) -> None:
    scheme = dealt(plan(null=null), as_one=False)
    assert [row.tolist() for row in rows_of(scheme, scheme.data_rows)] == [[N + k] for k in range(M)]


def test_without_data_there_is_no_row_for_them() -> None:
    scheme = dealt_scheme(plan(), N, 0)
    assert len(scheme.data_rows) == 0  # type: ignore[attr-defined]
    assert len(scheme.bunches) == N + DATA_DRAWS  # type: ignore[attr-defined]


def test_data_that_come_later_change_nothing_for_toys() -> None:
    """A calibration has none; what is applied to it must find the same toys."""
    before, after = dealt_scheme(plan(bunch=6), N, 0), dealt(plan(bunch=6))
    for i in range(10):
        one, other = before.toy(i), after.toy(i)
        np.testing.assert_array_equal(one.data, other.data)
        np.testing.assert_array_equal(one.left_out, other.left_out)
        assert [r.tolist() for r in rows_of(before, one.data)] == [r.tolist() for r in rows_of(after, other.data)]


def test_the_shape_of_relabelled_events_leaves_nothing_out() -> None:
    made = plan(null="permutation", expected=None)
    assert made.reference_size == N
    scheme = dealt(made)
    assert len(scheme.left_out_rows) == 0
    for i in range(3):
        assert len(scheme.data(i).left_out) == 0
        assert scheme.data(i).data_size == M


@pytest.mark.parametrize("bunch", [1, 6])
@NULLS
def test_all_fits_have_a_reference_of_the_size_that_was_planned(null: str, bunch: int) -> None:
    made = plan(null=null, bunch=bunch)
    scheme = dealt(made)
    for draw in [*(scheme.toy(i) for i in range(20)), *(scheme.data(i) for i in range(DATA_DRAWS))]:
        gone = np.concatenate([*rows_of(scheme, draw.data), *rows_of(scheme, draw.left_out)])
        assert len(set(gone)) == len(gone)
        kept = np.setdiff1d(np.arange(scheme.bunches.total), gone)
        assert len(kept) == made.reference_size


def test_rows_depend_on_the_seed_and_not_on_the_scale() -> None:
    first, wide, other = (
        dealt(made).bunches.events for made in (plan(), plan(width=2.0, penalty=1e-3, centers=90), plan(seed=4))
    )
    np.testing.assert_array_equal(first, wide)
    assert (first != other).any()


def test_splits_are_of_rows_and_of_all_that_toys_take() -> None:
    made = plan(bunch=6)
    scheme = dealt(made)
    assert isinstance(scheme, ReferenceScheme)
    assert scheme.splits is not None
    assert scheme.splits.blocks == made.moment_blocks
    assert (scheme.splits.labels[: scheme.bunches.drawn] >= 0).all()
    assert (scheme.splits.labels[scheme.bunches.drawn :] < ALWAYS).all()
    assert len(scheme.held_out) == 0
    # Every half has nearly the same number of bunches, and of single events.
    is_bunch = np.arange(scheme.bunches.drawn) < scheme.bunches.whole
    for k in range(scheme.splits.number):
        for kind in (is_bunch, ~is_bunch):
            number = np.count_nonzero(kind[scheme.splits.free(k)])
            assert number == pytest.approx(np.count_nonzero(kind) / 2, abs=made.moment_blocks)


def test_candidate_centres_are_events_of_the_reference_in_random_order() -> None:
    few, many = centers_of(plan(centers=40), R), centers_of(plan(centers=100), R)
    assert len(set(many)) == 100
    assert 0 <= many.min() < many.max() < N
    np.testing.assert_array_equal(few, many[:40])
    assert (np.diff(many) < 0).any()
    assert set(few) != set(centers_of(plan(centers=40, seed=4), R))


def test_toys_of_fits_never_take_a_candidate_centre() -> None:
    made = plan(statistic="likelihood-ratio")
    scheme = single_scheme(made, R, M)
    assert isinstance(scheme, ReferenceScheme)
    np.testing.assert_array_equal(scheme.held_out, centers_of(made, R))
    assert scheme.splits is None
    assert scheme.bunches.are_events
    for i in range(20):
        assert not np.isin(scheme.toy(i).data, scheme.held_out).any()
        assert not np.isin(scheme.toy(i).left_out, scheme.held_out).any()
        assert scheme.toy(i).reference_size == made.reference_size


def test_barred_centres_give_moments_in_every_split() -> None:
    made = replace(plan(), centers_barred=True)
    scheme = reference_scheme(made, R, M)
    assert scheme.splits is not None
    np.testing.assert_array_equal(scheme.held_out, centers_of(made, R))
    assert set(np.flatnonzero(scheme.splits.labels == ALWAYS)) == set(scheme.held_out)


def test_other_centres_are_dealt_to_blocks_like_all_events() -> None:
    scheme = reference_scheme(plan(), R, M)
    assert scheme.splits is not None
    assert len(scheme.held_out) == 0
    assert (scheme.splits.labels >= 0).all()


def test_a_weighted_reference_is_drawn_from_by_hit_or_miss() -> None:
    weights = np.linspace(0.5, 1.5, N)
    sample = Sample(R.features, R.names, weights)
    made = plan(sample)
    scheme = single_scheme(made, sample, M)
    assert isinstance(scheme, WeightedReferenceScheme)
    assert scheme.n_hit_or_miss == made.n_hit_or_miss
    np.testing.assert_array_equal(scheme.weights, weights)
    np.testing.assert_array_equal(scheme.bunches.mass, np.append(weights, np.ones(M)))


def test_single_relabelled_events_are_a_pool_of_both_samples() -> None:
    made = plan(null="permutation", statistic="likelihood-ratio")
    scheme = single_scheme(made, R, M)
    assert isinstance(scheme, PermutationScheme)
    assert (len(scheme.bunches), scheme.bunches.total) == (N + M, N + M)
    np.testing.assert_array_equal(scheme.data(0).data, np.arange(N, N + M))
    assert scheme.data(0).reference_size == scheme.toy(0).reference_size == made.reference_size


def test_where_toys_are_generated_nobody_is_barred_or_split() -> None:
    scheme = reference_scheme(plan(null="generator"), R, M)
    assert len(scheme.held_out) == 0
    assert scheme.splits is None
    assert len(scheme.data(0).left_out) == 0
