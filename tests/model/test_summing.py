"""Sums over bunches of events against the features of every event, in double precision."""

from itertools import pairwise

import numpy as np
import pytest

from lanner.errors import MemoryBudgetError
from lanner.model import summing
from lanner.model.backend import Arrays
from lanner.model.bunches import Bunches
from lanner.model.kernel import GaussianKernel
from lanner.model.moments import Moments
from lanner.model.nystrom import choose_pivots
from lanner.model.splits import NEVER, Splits
from lanner.model.summing import REACH_RANK, Whitened, moments_of_events, reach_columns, summed, summed_features
from tests.conftest import shaped

EVENTS = shaped(2, 1100)  # a reference of 1000, and data
BASIS = choose_pivots(EVENTS[:80], GaussianKernel(1.5), trace_error=1e-3, max_rank=12, rng=np.random.default_rng(1))
PHI = BASIS.features(EVENTS)
ORDER = np.random.default_rng(2).permutation(1000)


def dealt(size: int) -> Bunches:
    """A thousand events in bunches, and two rows beside them: sixty of these, and the data."""
    bunches = Bunches.dealt(ORDER, size)
    return bunches.with_rows([ORDER[100:160]], inside=True).with_rows([np.arange(1000, 1100)], inside=False)


def row_sums(bunches: Bunches) -> np.ndarray:
    return np.stack([PHI[bunches.events[a:b]].sum(axis=0) for a, b in pairwise(bunches.starts)])


def summed_up(bunches: Bunches, arrays: Arrays, *, precision: str = "double", columns: int = BASIS.rank, **how: int):
    whitened = Whitened.of(BASIS, arrays)
    memory = how.get("memory", 10**8)
    return summed_features(EVENTS, whitened, bunches, precision=precision, memory=memory, columns=columns)


@pytest.mark.parametrize("size", [1, 7])
def test_a_row_is_the_sum_of_the_features_of_its_events(size: int, arrays: Arrays) -> None:
    bunches = dealt(size)
    features, _ = summed_up(bunches, arrays)
    assert len(features) == len(bunches)
    np.testing.assert_allclose(arrays.get(features.phi), row_sums(bunches), rtol=1e-9, atol=1e-9)


def test_in_single_precision_it_is_the_same_sum_rounded_once(arrays: Arrays) -> None:
    bunches = dealt(7)
    features, _ = summed_up(bunches, arrays, precision="single")
    found = arrays.get(features.phi)
    assert found.dtype == features.dtype == np.float32
    np.testing.assert_allclose(found, row_sums(bunches), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("rows", [1, 5, 64, 10**5])
def test_sums_do_not_depend_on_how_many_events_are_taken_together(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summing, "_ROWS", rows)
    for bunches in (dealt(1), dealt(7)):
        features, residuals = summed_up(bunches, Whitened.of(BASIS).arrays)
        np.testing.assert_allclose(features.phi, row_sums(bunches), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(residuals, 1 - (PHI[bunches.events] ** 2).sum(axis=1), atol=1e-9)


@pytest.mark.parametrize("size", [1, 7])
def test_residuals_are_of_single_events_in_the_order_of_the_bunches(size: int, arrays: Arrays) -> None:
    bunches = dealt(size)
    _, residuals = summed_up(bunches, arrays, precision="single")  # they are not rounded to it
    truth = 1 - (PHI**2).sum(axis=1)
    np.testing.assert_allclose(residuals, truth[bunches.events], atol=1e-9)
    assert truth.max() > 0.1


@pytest.mark.parametrize("columns", [1, 5, BASIS.rank])
def test_residuals_by_fewer_columns_are_those_of_a_basis_of_the_first_pivots(columns: int, arrays: Arrays) -> None:
    _, residuals = summed_up(dealt(7), arrays, columns=columns)
    first = BASIS.kernel(BASIS.pivots[:columns], BASIS.pivots[:columns])
    k = BASIS.kernel(EVENTS, BASIS.pivots[:columns])
    truth = 1 - np.einsum("ij,ij->i", k, np.linalg.solve(first, k.T).T)
    np.testing.assert_allclose(residuals, truth[dealt(7).events], atol=1e-8)


def test_residuals_of_pivots_are_not_below_zero(arrays: Arrays) -> None:
    bunches = Bunches.dealt(BASIS.chosen, 1)
    _, residuals = summed_up(bunches, arrays)
    assert (residuals >= 0).all()
    np.testing.assert_allclose(residuals, 0, atol=1e-12)


def test_the_sum_over_some_events_is_one_row(arrays: Arrays) -> None:
    which = np.array([5, 900, 33, 5])
    total, residuals = summed(EVENTS, Whitened.of(BASIS, arrays), which, BASIS.rank)
    np.testing.assert_allclose(total, PHI[which].sum(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(residuals, 1 - (PHI[which] ** 2).sum(axis=1), atol=1e-9)


def test_the_sum_over_no_events_is_zero(arrays: Arrays) -> None:
    total, residuals = summed(EVENTS, Whitened.of(BASIS, arrays), np.empty(0, dtype=np.intp), BASIS.rank)
    assert (total.tolist(), residuals.tolist()) == ([0.0] * BASIS.rank, [])


def test_rows_that_do_not_fit_into_memory_are_an_error() -> None:
    with pytest.raises(MemoryBudgetError, match=r"the features of 1002 rows of rank 12"):
        summed_up(dealt(1), Whitened.of(BASIS).arrays, memory=50_000)


def halves(bunches: Bunches, blocks: int = 4) -> Splits:
    return Splits.of(np.arange(bunches.drawn), np.empty(0, np.intp), len(bunches), blocks)


def found_moments(bunches: Bunches, splits: Splits | None, arrays: Arrays) -> list[Moments]:
    features, _ = summed_up(bunches, arrays)
    return moments_of_events(EVENTS, Whitened.of(BASIS, arrays), bunches, features, splits)


def assert_moments(found: Moments, events: np.ndarray) -> None:
    np.testing.assert_allclose(found.mean, PHI[events].mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(found.second, PHI[events].T @ PHI[events] / len(events), atol=1e-9)


@pytest.mark.parametrize("size", [1, 7])
def test_moments_are_those_of_single_events_not_of_bunches(size: int, arrays: Arrays) -> None:
    (found,) = found_moments(dealt(size), None, arrays)
    assert_moments(found, np.arange(1000))  # the data, and rows beside the bunches, have no part in it


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("blocks", [2, 4])
def test_moments_of_a_split_are_those_of_the_events_that_no_toy_of_it_takes(
    size: int, blocks: int, arrays: Arrays
) -> None:
    bunches = dealt(size)
    splits = halves(bunches, blocks)
    found = found_moments(bunches, splits, arrays)
    assert len(found) == splits.number
    for k, one in enumerate(found):
        rows = np.setdiff1d(np.arange(bunches.drawn), splits.free(k))
        assert (splits.labels[bunches.drawn :] == NEVER).all()
        events = np.concatenate([bunches.events[bunches.starts[r] : bunches.starts[r + 1]] for r in rows])
        assert_moments(one, events)


@pytest.mark.parametrize("size", [1, 7])
def test_moments_do_not_depend_on_how_many_events_are_taken_together(
    size: int, monkeypatch: pytest.MonkeyPatch, arrays: Arrays
) -> None:
    monkeypatch.setattr(summing, "_MOMENT_ROWS", 90)
    monkeypatch.setattr(summing, "_ROWS", 16)
    (found,) = found_moments(dealt(size), None, arrays)
    assert_moments(found, np.arange(1000))


@pytest.mark.parametrize("size", [1, 7])
def test_of_more_events_than_are_needed_an_even_part_gives_the_moments(
    size: int, monkeypatch: pytest.MonkeyPatch, arrays: Arrays
) -> None:
    monkeypatch.setattr(summing, "_MOMENT_PRODUCTS", 0.0)
    monkeypatch.setattr(summing, "_PER_DIRECTION", 30)  # 360 events of the 1000, which is every other one
    bunches = dealt(size)
    rows = np.arange(bunches.drawn)[::2]
    events = np.concatenate([bunches.events[bunches.starts[r] : bunches.starts[r + 1]] for r in rows])
    assert len(events) >= 360
    (found,) = found_moments(bunches, None, arrays)
    assert_moments(found, events)
    np.testing.assert_allclose(found.second, PHI[:1000].T @ PHI[:1000] / 1000, atol=0.1)


def test_all_columns_tell_what_is_out_of_reach_where_that_is_cheap() -> None:
    assert reach_columns(10**9, REACH_RANK) == REACH_RANK
    assert reach_columns(10_000, 1000) == 1000
    assert reach_columns(10**6, 1000) == REACH_RANK
