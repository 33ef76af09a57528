"""Toys and data as sums over bunches of events, against sums over every event in double precision."""

from dataclasses import astuple, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from lanner.errors import MemoryBudgetError
from lanner.inference.resampling import ReferenceScheme, WeightedReferenceScheme
from lanner.model import score_pool
from lanner.model.backend import NUMPY, Arrays
from lanner.model.bunches import Bunches
from lanner.model.kernel import GaussianKernel
from lanner.model.nystrom import Basis, choose_pivots
from lanner.model.residuals import BEYOND
from lanner.model.score_pool import MAX_BATCH, ScorePool
from lanner.model.splits import Splits
from lanner.model.weightings import Draw
from tests.conftest import shaped

REFERENCE, DATA, EXPECTED = 1000, 60, 50.0
EVENTS = shaped(2, REFERENCE + DATA)
BASIS = choose_pivots(EVENTS[:80], GaussianKernel(1.5), trace_error=1e-3, max_rank=12, rng=np.random.default_rng(1))
PHI = BASIS.features(EVENTS)
ORDER = np.random.default_rng(2).permutation(REFERENCE)
LEFT_OUT, OF_DATA = ORDER[300:400], np.arange(REFERENCE, REFERENCE + DATA)
WEIGHTS = np.random.default_rng(3).uniform(0.5, 1.0, REFERENCE)
NOBODY = np.empty(0, dtype=np.intp)
BOTH_WAYS = pytest.mark.parametrize("gather", [0.0, 10.0], ids=["product", "gathered"])
SIZES = pytest.mark.parametrize("size", [1, 4])


def dealt(size: int) -> Bunches:
    """The reference in bunches, a row of it that the data's fit leaves out, and the data."""
    return Bunches.dealt(ORDER, size).with_rows([LEFT_OUT], inside=True).with_rows([OF_DATA], inside=False)


def make_pool(bunches: Bunches, **changes: Any) -> ScorePool:
    how: dict[str, Any] = {"expected": EXPECTED, "precision": "double", "memory": 10**8} | changes
    return ScorePool.prepare(EVENTS, BASIS, bunches, **how)


def draws_of(bunches: Bunches, number: int = 5) -> list[Draw]:
    """Some toys, and what the data's fit takes."""
    rng, rows = np.random.default_rng(4), np.arange(bunches.drawn)
    taken = [bunches.take(rng, rows, int(rng.poisson(EXPECTED)), 31) for _ in range(number)]
    last = np.arange(len(bunches))
    return [
        Draw(len(bunches), bunches.drawn, data, left_out, sizes=bunches.sizes)
        for data, left_out in [*taken, (last[-1:], last[-2:-1])]
    ]


def events_of(bunches: Bunches, rows: np.ndarray) -> np.ndarray:
    return np.concatenate([NOBODY, *(bunches.events[bunches.starts[r] : bunches.starts[r + 1]] for r in rows)])


def by_events(bunches: Bunches, draw: Draw, weights: np.ndarray | None = None) -> np.ndarray:
    """u of a draw, event by event."""
    data, left_out = events_of(bunches, draw.data), events_of(bunches, draw.left_out)
    reference = np.setdiff1d(np.arange(REFERENCE), np.concatenate([data, left_out]))
    c = None if weights is None else weights[reference]
    return PHI[data].sum(axis=0) - EXPECTED * np.average(PHI[reference], axis=0, weights=c)


def u_of(pool: ScorePool, draws: list[Draw]) -> np.ndarray:
    """What the pool makes of draws, turned back from the eigenvectors of the first split: a column each."""
    k, columns, values = pool.differences(pool.taken(draws)).parts[0]
    assert (k, columns.tolist()) == (0, list(range(len(draws))))
    return pool.model.bases[0].vectors @ values * EXPECTED**0.5


@BOTH_WAYS
@SIZES
def test_differences_of_bunches_are_those_of_their_events(
    size: int, gather: float, arrays: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_pool, "GATHER", gather)
    bunches = dealt(size)
    draws = draws_of(bunches)
    truth = np.stack([by_events(bunches, d) for d in draws], axis=1)
    np.testing.assert_allclose(u_of(make_pool(bunches, arrays=arrays), draws), truth, atol=1e-8)


def test_bunches_and_single_events_give_the_same_numbers_for_the_same_draw() -> None:
    bunches, single = dealt(4), Bunches.single(REFERENCE, DATA)
    draws = draws_of(bunches)
    apart = [
        Draw(REFERENCE + DATA, REFERENCE, events_of(bunches, d.data), events_of(bunches, d.left_out)) for d in draws
    ]
    together, one_by_one = make_pool(bunches), make_pool(single)
    np.testing.assert_allclose(u_of(together, draws), u_of(one_by_one, apart), atol=1e-8)
    local, of_events = (p.differences(p.taken(d)).local for p, d in ((together, draws), (one_by_one, apart)))
    np.testing.assert_allclose(local, of_events, rtol=1e-7)


@BOTH_WAYS
def test_in_single_precision_the_statistic_is_off_by_less_than_a_hundredth_of_its_spread(
    gather: float, arrays: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_pool, "GATHER", gather)
    bunches = dealt(4)
    pool, draws = make_pool(bunches, precision="single", arrays=arrays), draws_of(bunches, 60)
    second = EXPECTED * PHI[:REFERENCE].T @ PHI[:REFERENCE] / REFERENCE
    for rho in (1e-4, 1.0):
        truth = []
        for draw in draws:
            u = by_events(bunches, draw)
            w = np.linalg.solve(second + EXPECTED * rho * np.eye(BASIS.rank), u)
            truth.append(2 * w @ u - w @ second @ w)
        found = pool.model.scores.solution(pool.differences(pool.taken(draws)), rho).statistic
        np.testing.assert_allclose(found, truth, atol=0.01 * np.std(truth))


@BOTH_WAYS
def test_weighted_events_weigh_in_the_reference_and_are_one_each_in_the_data(
    gather: float, arrays: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_pool, "GATHER", gather)
    bunches, rng = Bunches.single(REFERENCE, DATA, WEIGHTS), np.random.default_rng(5)
    rows = [rng.choice(REFERENCE, 80, replace=False) for _ in range(3)]
    draws = [Draw(REFERENCE + DATA, REFERENCE, r[:50], r[50:]) for r in rows]
    draws.append(Draw(REFERENCE + DATA, REFERENCE, OF_DATA, LEFT_OUT))
    truth = np.stack([by_events(bunches, d, WEIGHTS) for d in draws], axis=1)
    np.testing.assert_allclose(u_of(make_pool(bunches, arrays=arrays), draws), truth, atol=1e-8)


def test_streamed_features_give_the_same_differences() -> None:
    events = shaped(2, 40_000)
    bunches, draw = Bunches.single(40_000, 0), Draw(40_000, 40_000, np.arange(40), np.arange(100, 300))
    found = []
    for memory in (10**8, 2 * 10**6):
        pool = ScorePool.prepare(events, BASIS, bunches, expected=40.0, precision="double", memory=memory)
        found.append((pool.features.storage, pool.differences(pool.taken([draw])).parts[0][2]))
    (first, stored), (second, streamed) = found
    assert (first, second) == ("stored", "streamed")
    # Whatever the sign of an eigenvector is.
    np.testing.assert_allclose(np.abs(streamed), np.abs(stored), atol=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "extended"])
@BOTH_WAYS
@pytest.mark.parametrize("weighted", [False, True])
def test_q_is_t_to_second_order_after_one_step(
    loss: str, gather: float, weighted: bool, arrays: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    """w = (N(0) E[phi phi^T] + c penalty n)^-1 u and q = 2 w u - w N(0) E[phi phi^T] w, by toys of a scheme."""
    monkeypatch.setattr(score_pool, "GATHER", gather)
    size, penalty, barred = 800, 1e-4, np.arange(80)
    weights = WEIGHTS if weighted else None
    bunches = Bunches.single(REFERENCE, DATA, weights)
    sizes = (bunches, EXPECTED, None, size, barred, 1, OF_DATA)
    scheme = (
        ReferenceScheme(*sizes)
        if weights is None
        else WeightedReferenceScheme(*sizes, weights=weights, n_hit_or_miss=150)
    )
    pool, draws = make_pool(bunches, arrays=arrays), [scheme.toy(0), scheme.toy(1), scheme.data(0)]
    c = np.ones(REFERENCE) if weights is None else weights
    second = EXPECTED * (PHI[:REFERENCE] * c[:, None]).T @ PHI[:REFERENCE] / c.sum()
    ridge = {"logistic": 2.0, "extended": 1.0}[loss] * penalty * (size + EXPECTED)
    found = pool.model.scores.solution(pool.differences(pool.taken(draws)), ridge / EXPECTED)
    for k, draw in enumerate(draws):
        u = by_events(bunches, draw, weights)
        w = np.linalg.solve(second + ridge * np.eye(len(u)), u)
        assert found.statistic[k] == pytest.approx(2 * w @ u - w @ second @ w, rel=1e-8)
        np.testing.assert_allclose(found.coefficients[:, k], w, rtol=1e-6, atol=1e-9)


@BOTH_WAYS
@SIZES
def test_sums_do_not_depend_on_how_many_toys_are_taken_together(
    size: int, gather: float, arrays: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_pool, "GATHER", gather)
    bunches = dealt(size)
    pool, draws = make_pool(bunches, arrays=arrays), draws_of(bunches, 40)
    together = u_of(pool, draws)
    apart = np.hstack([u_of(pool, [d]) for d in draws])
    np.testing.assert_allclose(together, apart, rtol=1e-10, atol=1e-10)


def halves(bunches: Bunches, blocks: int = 2) -> Splits:
    return Splits.of(np.arange(bunches.drawn), NOBODY, len(bunches), blocks)


@SIZES
def test_differences_are_along_the_eigenvectors_of_each_draws_split(size: int) -> None:
    bunches = dealt(size)
    splits = halves(bunches)
    pool, which = make_pool(bunches, splits=splits), [1, None, 0]
    draw = draws_of(bunches, 1)[0]
    u = by_events(bunches, draw)  # the same for each of them
    found = pool.differences(pool.taken([replace(draw, split=k) for k in which]))
    assert found.number == 3
    assert [(k, columns.tolist()) for k, columns, _ in found.parts] == [(0, [1, 2]), (1, [0, 1])]
    for k, columns, values in found.parts:
        truth = pool.model.bases[k].vectors.T @ u / EXPECTED**0.5
        np.testing.assert_allclose(values, np.repeat(truth[:, None], len(columns), axis=1), atol=1e-8)


@pytest.mark.parametrize("bunches", [dealt(1), dealt(4), Bunches.single(REFERENCE, DATA)], ids=["1", "4", "single"])
def test_each_split_has_the_moments_of_the_events_that_its_toys_do_not_take(bunches: Bunches) -> None:
    splits = halves(bunches, 4)
    found = make_pool(bunches, splits=splits).model.bases
    assert len(found) == splits.number
    for k, basis in enumerate(found):
        shaping = events_of(bunches, np.setdiff1d(np.arange(bunches.drawn), splits.free(k)))
        np.testing.assert_allclose(basis.moments.mean, PHI[shaping].mean(axis=0), atol=1e-9)
        np.testing.assert_allclose(basis.moments.second, PHI[shaping].T @ PHI[shaping] / len(shaping), atol=1e-9)


def test_weighted_splits_have_weighted_moments() -> None:
    bunches = Bunches.single(REFERENCE, DATA, WEIGHTS)
    splits = halves(bunches, 4)
    for k, basis in enumerate(make_pool(bunches, splits=splits).model.bases):
        rows = np.setdiff1d(np.arange(REFERENCE), splits.free(k))
        c = WEIGHTS[rows]
        np.testing.assert_allclose(basis.moments.mean, np.average(PHI[rows], axis=0, weights=c), atol=1e-9)
        np.testing.assert_allclose(basis.moments.second, (PHI[rows] * c[:, None]).T @ PHI[rows] / c.sum(), atol=1e-9)


@pytest.mark.parametrize("bunches", [dealt(1), dealt(4), Bunches.single(REFERENCE, DATA)], ids=["1", "4", "single"])
def test_the_whole_is_the_reference_and_neither_data_nor_rows_beside_it(bunches: Bunches) -> None:
    model = make_pool(bunches).model
    np.testing.assert_allclose(model.total, PHI[:REFERENCE].sum(axis=0), rtol=1e-9)
    assert model.mass == REFERENCE
    assert (model.local_excess.expected, model.local_excess.worth) == (EXPECTED, REFERENCE)


def test_weighted_events_are_worth_fewer_to_the_local_excess() -> None:
    model = make_pool(Bunches.single(REFERENCE, DATA, WEIGHTS)).model
    assert model.mass == pytest.approx(WEIGHTS.sum())
    assert model.local_excess.worth == pytest.approx(WEIGHTS.sum() ** 2 / (WEIGHTS**2).sum())


def test_relabelled_data_are_events_of_the_pool_that_the_reference_then_lacks() -> None:
    everybody = np.random.default_rng(6).permutation(REFERENCE + DATA)
    bunches = Bunches.dealt(everybody, 4).with_rows([OF_DATA], inside=True)
    last = len(bunches) - 1
    pool = make_pool(bunches)
    found = u_of(pool, [Draw(len(bunches), bunches.drawn, np.array([last]), NOBODY)])[:, 0]
    truth = PHI[OF_DATA].sum(axis=0) - EXPECTED * PHI[:REFERENCE].mean(axis=0)
    np.testing.assert_allclose(found, truth, atol=1e-8)


def without(pivot: int) -> Basis:
    """The basis without one of its pivots."""
    rest = np.delete(BASIS.pivots, pivot, axis=0)
    return Basis(BASIS.kernel, rest, np.linalg.cholesky(BASIS.kernel(rest, rest)).astype(float), 0.0)


@BOTH_WAYS
@SIZES
def test_a_pivot_among_a_draws_data_counts_as_if_it_were_none(
    size: int, gather: float, arrays: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_pool, "GATHER", gather)
    bunches = dealt(size)
    # Data with the bunch of one pivot, and with that of no other.
    pivot_rows = bunches.rows_of(BASIS.chosen)
    j = int(np.flatnonzero(np.bincount(pivot_rows, minlength=len(bunches))[pivot_rows] == 1)[0])
    others = np.setdiff1d(np.arange(bunches.drawn), pivot_rows)[:15]
    draw = Draw(len(bunches), bunches.drawn, np.append(others, pivot_rows[j]), NOBODY)
    plain, found = (make_pool(bunches, pivots=p, arrays=arrays) for p in (None, BASIS.chosen))
    lost = (u_of(plain, [draw]) - u_of(found, [draw]))[:, 0]
    # What the pivot loses, seen by all events: their kernel with it, less what the other pivots explain.
    rest = without(j)
    truth = BASIS.kernel(EVENTS, BASIS.pivots[[j]])[:, 0]
    truth -= (rest.features(EVENTS) @ rest.features(BASIS.pivots[[j]]).T)[:, 0]
    np.testing.assert_allclose(PHI @ lost, truth, atol=1e-8)
    own = (np.arange(BASIS.rank) == j).astype(float)[:, None]
    taken = found.taken([draw])
    local = found.model.local_excess.statistic(by_events(bunches, draw)[:, None], own, taken.inside)
    np.testing.assert_allclose(found.differences(taken).local, local, rtol=1e-7)


@SIZES
def test_pivots_that_are_reference_or_left_out_count_in_full(size: int) -> None:
    bunches = dealt(size)
    pivot_rows = np.unique(bunches.rows_of(BASIS.chosen))
    free = np.setdiff1d(np.arange(bunches.drawn), pivot_rows)
    some = Draw(len(bunches), bunches.drawn, free[:10], pivot_rows[:4])
    pools = (make_pool(bunches, pivots=p) for p in (BASIS.chosen, None))
    found, plain = (pool.differences(pool.taken([some])) for pool in pools)
    np.testing.assert_array_equal(found.parts[0][2], plain.parts[0][2])
    np.testing.assert_array_equal(found.local, plain.local)


@SIZES
def test_residuals_are_of_events_and_sums_of_them_of_rows(size: int) -> None:
    bunches = dealt(size)
    found, truth = make_pool(bunches, others=DATA).residuals, 1 - (PHI**2).sum(axis=1)
    sums = [truth[bunches.events[a:b]].sum() for a, b in pairwise(bunches.starts)]
    np.testing.assert_allclose(found.by_row, sums, atol=1e-8)
    np.testing.assert_allclose(found.of_data, truth[OF_DATA], atol=1e-9)
    null = truth[:REFERENCE]
    sums_of_null = (REFERENCE, null.sum(), (null**2).sum(), np.count_nonzero(null > BEYOND))
    assert astuple(found.null) == pytest.approx(sums_of_null)


def test_events_that_are_never_a_toys_data_are_not_of_the_null() -> None:
    bunches = Bunches.single(REFERENCE, DATA)
    found = make_pool(bunches, held_out=np.arange(100)).residuals.null
    assert found.number == REFERENCE - 100
    assert found.total == pytest.approx((1 - (PHI[100:REFERENCE] ** 2).sum(axis=1)).sum(), abs=1e-6)


@pytest.mark.parametrize("bunches", [dealt(1), dealt(4), Bunches.single(REFERENCE, DATA)], ids=["1", "4", "single"])
def test_the_residual_of_a_pivot_that_may_be_data_is_what_the_others_leave(bunches: Bunches) -> None:
    plain, found = (make_pool(bunches, pivots=p).residuals for p in (None, BASIS.chosen))
    left = np.array([1 - (without(j).features(EVENTS[[event]]) ** 2).sum() for j, event in enumerate(BASIS.chosen)])
    truth = plain.by_row.copy()
    np.add.at(truth, bunches.rows_of(BASIS.chosen), left)  # not in rows that toys do not take
    np.testing.assert_allclose(found.by_row, truth, atol=1e-8)
    assert found.null.total == pytest.approx(plain.null.total + left.sum(), abs=1e-8)


@pytest.mark.parametrize("bunches", [dealt(1), dealt(4)], ids=["1", "4"])
def test_preparing_tells_the_part_that_is_done(bunches: Bunches) -> None:
    told: list[float] = []
    make_pool(bunches, splits=halves(bunches, 4), told=told.append)
    assert len(told) > 4
    assert all(0 <= part <= 1 for part in told)
    assert told[-1] == max(told)


def test_features_of_other_events_are_in_the_same_basis() -> None:
    new = shaped(2, 20, seed=9)
    found = make_pool(dealt(4)).features_of(new, "double")
    np.testing.assert_allclose(found.phi_block(slice(None)), BASIS.features(new), atol=1e-12)


def test_a_batch_is_as_large_as_asked_for_allowed_and_affordable() -> None:
    pool = make_pool(dealt(1))
    assert pool.batch_size(7) == 7
    assert pool.batch_size(10**5) == MAX_BATCH
    assert 1 <= replace(pool, memory=pool.held + 100_000).batch_size(10**5) < MAX_BATCH


def test_a_budget_that_holds_no_toy_is_an_error() -> None:
    pool = make_pool(dealt(1))
    with pytest.raises(MemoryBudgetError, match="one toy beside the features"):
        replace(pool, memory=pool.held + 100).batch_size(1)


def test_what_is_held_is_a_row_for_each_bunch_and_the_model() -> None:
    one, four = make_pool(dealt(1)), make_pool(dealt(4), precision="single")
    assert one.held - one.model.held == len(one.bunches) * BASIS.rank * 8
    assert four.held - four.model.held == len(four.bunches) * BASIS.rank * 4


def test_the_arrays_are_those_of_the_device(arrays: Arrays) -> None:
    pool = make_pool(dealt(4), arrays=arrays)
    assert pool.features.arrays is pool.model.arrays is arrays
    assert make_pool(dealt(4)).model.arrays is NUMPY
