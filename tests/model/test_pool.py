from dataclasses import replace

import numpy as np
import pytest

from lanner.errors import MemoryBudgetError
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import loss_by_name
from lanner.model.nystrom import Basis, choose_pivots
from lanner.model.pool import MAX_BATCH, Pool
from lanner.model.splits import Splits
from lanner.model.weightings import DATA, REFERENCE, Draw
from lanner.settings import FitSettings
from tests.conftest import Dense, shaped

EVENTS = shaped(2, 500)
BASIS = choose_pivots(EVENTS[:60], GaussianKernel(1.5), trace_error=1e-3, max_rank=10, rng=np.random.default_rng(1))
PHI = BASIS.features(EVENTS)
EXPECTED, PENALTY, WEIGHTS = 50.0, 1e-4, np.random.default_rng(2).uniform(0.5, 2.0, 500)


def make_pool(**changes: object) -> Pool:
    how = {
        "loss": loss_by_name("logistic"),
        "penalty": PENALTY,
        "expected": EXPECTED,
        "events_per_fit": 500.0,
        "precision": "double",
        "memory": 10**8,
    }
    return Pool.prepare(EVENTS, BASIS, **(how | changes))  # type: ignore[arg-type]


def draw(first: int) -> Draw:
    """Fifty rows from `first` on are data, and ten at the end are left out."""
    return Draw(rows=500, reference=500, data=np.arange(first, first + 50), left_out=np.arange(490, 500))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
def test_moments_are_averages_over_the_rows_of_the_null(weights: np.ndarray | None) -> None:
    pool = make_pool(weights=weights, null_rows=400)
    c = np.ones(400) if weights is None else weights[:400]
    np.testing.assert_allclose(pool.moments.mean, np.average(PHI[:400], axis=0, weights=c), atol=1e-12)
    np.testing.assert_allclose(pool.moments.second, (PHI[:400] * c[:, None]).T @ PHI[:400] / c.sum(), atol=1e-12)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
def test_scores_are_judged_by_the_moments_of_splits_and_fits_share_the_first(weights: np.ndarray | None) -> None:
    order = np.random.default_rng(5).permutation(400)
    splits = Splits.of(order[30:], order[:30], 500, 4)
    pool, c = make_pool(weights=weights, null_rows=400, splits=splits), np.ones(500) if weights is None else weights
    seconds = []
    assert pool.split_bases is not None
    for k, found in enumerate(basis.moments for basis in pool.split_bases):
        rows = np.setdiff1d(order, splits.free(k))
        np.testing.assert_allclose(found.mean, np.average(PHI[rows], axis=0, weights=c[rows]), atol=1e-12)
        seconds.append((PHI[rows] * c[rows, None]).T @ PHI[rows] / c[rows].sum())
        np.testing.assert_allclose(found.second, seconds[-1], atol=1e-12)
    assert len(seconds) == splits.number == len(pool.scores.splits)
    np.testing.assert_allclose(pool.moments.second, seconds[0], atol=1e-12)


def test_the_spectrum_is_that_of_the_second_moment() -> None:
    values = np.linalg.eigvalsh(PHI.T @ PHI / 500)[::-1]
    np.testing.assert_allclose(make_pool().spectrum.values, values, atol=1e-12)


def test_the_shared_curvature_is_that_of_a_typical_fit_at_zero() -> None:
    """Of the logistic loss N(0)/2 E[phi phi^T] + penalty n."""
    pool, g = make_pool(), np.arange(float(BASIS.rank))[:, None]
    h = EXPECTED / 2 * PHI.T @ PHI / 500 + PENALTY * 500 * np.eye(BASIS.rank)
    np.testing.assert_allclose(pool.shared.solve(g), np.linalg.solve(h, g), rtol=1e-9)


def test_another_penalty_is_another_pool_with_the_same_features() -> None:
    pool, g = make_pool(), np.ones((BASIS.rank, 1))
    other = pool.at_penalty(1e-2, 500.0)
    assert other.features is pool.features
    np.testing.assert_allclose(other.shared.solve(g), make_pool(penalty=1e-2).shared.solve(g), rtol=1e-12)


def test_a_fit_is_that_of_the_dense_formula() -> None:
    roles = draw(100).roles()[:, None]
    found = make_pool().fit(roles, FitSettings(tolerance=1e-8, precision="double"))
    v0, v1 = (roles[:, 0] == REFERENCE) * EXPECTED / 440, (roles[:, 0] == DATA) * 1.0
    truth = Dense(PHI, v0, v1, PENALTY * 490, "logistic")  # n of the objective: 440 + 50 events
    assert found.statistic[0] == pytest.approx(truth.statistic(truth.minimum()), rel=1e-6)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
def test_differences_are_sums_over_data_less_sums_over_the_reference(weights: np.ndarray | None) -> None:
    pool, draws = make_pool(weights=weights), [draw(100), draw(300)]
    truth = []
    for d in draws:
        roles = d.roles()
        c = (roles == REFERENCE) * (1.0 if weights is None else weights)
        truth.append(PHI[roles == DATA].sum(axis=0) - EXPECTED * (c @ PHI) / c.sum())
    # In units of sqrt(N(0)), the size of their statistical fluctuation.
    rotated = pool.moments.eigenbasis.vectors.T @ np.array(truth).T / EXPECTED**0.5
    ((_, columns, found),) = pool.differences(draws).parts
    assert columns.tolist() == [0, 1]
    np.testing.assert_allclose(found, rotated, atol=1e-8)


def test_differences_are_along_the_eigenvectors_of_each_draws_split() -> None:
    splits = Splits.of(np.arange(30, 500), np.arange(30), 500, 2)
    pool, which = make_pool(splits=splits), [1, None, 0]
    draws = [replace(draw(100), split=k) for k in which]
    ((_, _, whole),) = make_pool().differences([draw(100)]).parts
    u = make_pool().moments.eigenbasis.vectors @ whole  # the same for each of them
    found = pool.differences(draws)
    assert found.number == 3
    assert [(k, columns.tolist()) for k, columns, _ in found.parts] == [(0, [1, 2]), (1, [0, 1])]
    for k, columns, values in found.parts:
        truth = pool.scores.splits[k].basis.vectors.T @ u
        np.testing.assert_allclose(values, np.repeat(truth, len(columns), axis=1), atol=1e-8)


def without(pivots: np.ndarray) -> Basis:
    """The basis without some of its pivots."""
    rest = np.delete(BASIS.pivots, pivots, axis=0)
    return Basis(BASIS.kernel, rest, np.linalg.cholesky(BASIS.kernel(rest, rest)).astype(float), 0.0)


def test_a_pivot_among_a_draws_data_counts_as_if_it_were_none() -> None:
    pool, rows = make_pool(pivot_rows=BASIS.chosen), BASIS.chosen
    inside, outside = rows[3], np.setdiff1d(np.arange(60, 490), rows)[:40]
    none = np.empty(0, dtype=np.intp)
    ((_, _, with_pivot),) = pool.differences([Draw(500, 500, np.append(outside, inside), none)]).parts
    ((_, _, alone),) = make_pool().differences([Draw(500, 500, np.append(outside, inside), none)]).parts
    more = pool.moments.eigenbasis.vectors @ (alone - with_pivot)[:, 0] * EXPECTED**0.5
    # What the pivot loses, seen by the other events: their kernel with it, less what the other pivots explain.
    rest = without(np.array([3]))
    truth = BASIS.kernel(EVENTS[outside], EVENTS[[inside]])[:, 0]
    truth -= (rest.features(EVENTS[outside]) @ rest.features(EVENTS[[inside]]).T)[:, 0]
    np.testing.assert_allclose(PHI[outside] @ more, truth, atol=1e-8)


def test_pivots_that_are_reference_or_left_out_count_in_full() -> None:
    free = np.setdiff1d(np.arange(500), BASIS.chosen)
    some = Draw(500, 500, free[:40], BASIS.chosen[:4])
    found, plain = (pool.differences([some]).parts[0][2] for pool in (make_pool(pivot_rows=BASIS.chosen), make_pool()))
    np.testing.assert_array_equal(found, plain)


def test_the_residual_of_a_pivot_that_may_be_data_is_what_the_others_leave() -> None:
    plain, found = make_pool().residuals, make_pool(pivot_rows=BASIS.chosen).residuals
    np.testing.assert_allclose(plain, 1 - (PHI**2).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(plain[BASIS.chosen], 0, atol=1e-12)
    others = np.setdiff1d(np.arange(500), BASIS.chosen)
    np.testing.assert_array_equal(found[others], plain[others])
    for j, row in enumerate(BASIS.chosen):
        left = 1 - (without(np.array([j])).features(EVENTS[[row]]) ** 2).sum()
        assert found[row] == pytest.approx(left, abs=1e-8)


def test_features_of_other_events_are_in_the_same_basis() -> None:
    new = shaped(2, 20, seed=9)
    found = make_pool().features_of(new, "double")
    np.testing.assert_allclose(found.phi_block(slice(None)), BASIS.features(new), atol=1e-12)


def test_a_batch_is_as_large_as_asked_for_allowed_and_affordable() -> None:
    pool = make_pool()
    assert pool.batch_size(7) == 7
    assert pool.batch_size(10_000) == MAX_BATCH
    assert 1 <= make_pool(memory=250_000).batch_size(10_000) < MAX_BATCH


def test_a_budget_that_holds_no_toy_is_an_error() -> None:
    pool = make_pool()
    object.__setattr__(pool, "memory", pool.held + 1000)
    with pytest.raises(MemoryBudgetError, match="one toy beside the features"):
        pool.batch_size(1)


def test_what_is_held_is_the_features() -> None:
    assert make_pool().held == 500 * BASIS.rank * 8
    assert make_pool(precision="single").held == 500 * BASIS.rank * 4
