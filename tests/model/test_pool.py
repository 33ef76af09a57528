import numpy as np
import pytest

from lanner.errors import MemoryBudgetError
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import loss_by_name
from lanner.model.nystrom import choose_pivots
from lanner.model.pool import MAX_BATCH, Pool
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


# Fifty rows are data, and ten at the end are left out.
DRAW = Draw(rows=500, reference=500, data=np.arange(100, 150), left_out=np.arange(490, 500))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
def test_moments_are_averages_over_the_rows_of_the_null(weights: np.ndarray | None) -> None:
    pool = make_pool(weights=weights, null_rows=400)
    c = np.ones(400) if weights is None else weights[:400]
    np.testing.assert_allclose(pool.moments.mean, np.average(PHI[:400], axis=0, weights=c), atol=1e-12)
    np.testing.assert_allclose(pool.moments.second, (PHI[:400] * c[:, None]).T @ PHI[:400] / c.sum(), atol=1e-12)


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
    roles = DRAW.roles()[:, None]
    found = make_pool().fit(roles, FitSettings(tolerance=1e-8, precision="double"))
    v0, v1 = (roles[:, 0] == REFERENCE) * EXPECTED / 440, (roles[:, 0] == DATA) * 1.0
    truth = Dense(PHI, v0, v1, PENALTY * 490, "logistic")  # n of the objective: 440 + 50 events
    assert found.statistic[0] == pytest.approx(truth.statistic(truth.minimum()), rel=1e-6)


def test_residuals_are_what_the_basis_leaves_of_each_event() -> None:
    found = make_pool().residuals
    np.testing.assert_allclose(found, 1 - (PHI**2).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(found[BASIS.chosen], 0, atol=1e-12)


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
