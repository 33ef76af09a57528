import logging
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from lanner.inference.resampling import ReferenceScheme
from lanner.model.backend import NUMPY, Arrays
from lanner.model.bunches import Bunches
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import loss_by_name
from lanner.model.nystrom import Basis, choose_pivots
from lanner.model.pool import Pool
from lanner.model.solvers.batched_newton import minimise
from lanner.model.solvers.newton import own_curvature_newton
from lanner.model.weightings import DATA, REFERENCE
from lanner.settings import FitSettings
from tests.conftest import Dense, exponential, shaped

N, EXPECTED, REFERENCE_SIZE, TOYS, PENALTY = 6000, 900, 4800, 12, 1e-5
CONVERGED, CLOSELY = FitSettings(tolerance=1e-3), FitSettings(tolerance=1e-6)
EVENTS = shaped(5, N)
BARRED, NOBODY = np.arange(400), np.empty(0, dtype=np.intp)
SPREAD = 13.0  # of t at these settings, sqrt(2 dof)
ARRAYS = NUMPY


@pytest.fixture(autouse=True)
def _everywhere(arrays: Arrays, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test of this file runs on every kind of arrays."""
    monkeypatch.setitem(globals(), "ARRAYS", arrays)


def make_basis(trace_error: float = 1e-5) -> Basis:
    return choose_pivots(
        EVENTS[BARRED], GaussianKernel(3.0), trace_error=trace_error, max_rank=400, rng=np.random.default_rng(5)
    )


def make_pool(*, loss: str = "logistic", precision: str = "double", memory: float = 1e9) -> Pool:
    return Pool.prepare(
        EVENTS,
        make_basis(),
        loss=loss_by_name(loss),
        penalty=PENALTY,
        expected=EXPECTED,
        events_per_fit=REFERENCE_SIZE + EXPECTED,
        precision=precision,
        memory=int(memory),
        arrays=ARRAYS,
    )


def toys(number: int = TOYS, signal: int = 0) -> np.ndarray:
    scheme = ReferenceScheme(Bunches.single(N, 0), EXPECTED, None, REFERENCE_SIZE, BARRED, 1, NOBODY)
    roles = np.stack([scheme.toy(i).roles() for i in range(number)], axis=1)
    # A strong signal: many of the data come from one corner.
    corner = np.flatnonzero(EVENTS[:, 0] > np.quantile(EVENTS[:, 0], 0.97))
    roles[corner[:signal]] = DATA
    return roles


def dense(pool: Pool, roles: np.ndarray) -> Dense:
    return dense_on(pool.features.basis.features(EVENTS), roles, pool.loss.name)


def dense_on(phi: np.ndarray, roles: np.ndarray, loss: str) -> Dense:
    n0 = np.count_nonzero(roles == REFERENCE)
    weights = (roles == REFERENCE) * EXPECTED / n0, (roles == DATA) * 1.0
    return Dense(phi, *weights, PENALTY * np.count_nonzero(roles), loss)


@cache
def dense_minima(loss: str, signal: int) -> list[tuple[Dense, float]]:
    """The truth of each toy, and its t: in double precision by NumPy, the same for all kinds of arrays."""
    phi, roles = make_basis().features(EVENTS), toys(signal=signal)
    truths = [dense_on(phi, column, loss) for column in roles.T]
    return [(truth, truth.statistic(truth.minimum())) for truth in truths]


@pytest.mark.parametrize("loss", ["logistic", "extended"])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_newton_steps_are_the_dense_ones(loss: str, steps: int) -> None:
    pool, roles = make_pool(loss=loss), toys(4)
    solution = pool.fit(roles, FitSettings(newton_steps=steps, tolerance=1e-9))
    for b in range(4):
        truth = dense(pool, roles[:, b])
        w = truth.newton(steps)
        assert np.linalg.norm(solution.coefficients[:, b] - w) < 1e-6 * np.linalg.norm(w)
        assert solution.statistic[b] == pytest.approx(truth.statistic(w), rel=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "extended"])
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("signal", [0, 150])
def test_a_fit_that_says_converged_is_converged(loss: str, precision: str, signal: int) -> None:
    solution = make_pool(loss=loss, precision=precision).fit(toys(signal=signal), CONVERGED)
    assert solution.converged.all()
    for b, (truth, t) in enumerate(dense_minima(loss, signal)):
        w = solution.coefficients[:, b]
        assert truth.decrement(w) < 3e-3  # the gradient, in double, in units of the fit's own curvature
        assert solution.statistic[b] == pytest.approx(t, abs=0.01 * SPREAD)


def test_the_extended_statistic_is_never_negative() -> None:
    solution = make_pool(loss="extended").fit(toys(), CLOSELY)
    assert (solution.statistic > 0).all()


def test_batch_size_and_order_do_not_change_t() -> None:
    pool, roles = make_pool(precision="single"), toys()
    together = pool.fit(roles, CONVERGED).statistic
    apart = np.concatenate([pool.fit(roles[:, [b]], CONVERGED).statistic for b in range(TOYS)])
    shuffled = pool.fit(roles[:, ::-1].copy(), CONVERGED).statistic[::-1]
    np.testing.assert_allclose(apart, together, atol=0.01 * SPREAD)
    np.testing.assert_allclose(shuffled, together, atol=0.01 * SPREAD)


def test_precision_does_not_change_t() -> None:
    roles = toys()
    single, double = (make_pool(precision=p).fit(roles, CONVERGED).statistic for p in ("single", "double"))
    np.testing.assert_allclose(single, double, atol=0.01 * SPREAD)


def test_the_memory_budget_does_not_change_t() -> None:
    roles = toys()
    stored, streamed = make_pool(precision="single"), make_pool(precision="single", memory=8e6)
    assert (stored.features.storage, streamed.features.storage) == ("stored", "streamed")
    a, b = (pool.fit(roles, CONVERGED).statistic for pool in (stored, streamed))
    np.testing.assert_allclose(a, b, atol=0.01 * SPREAD)


def test_the_shared_curvature_and_a_fits_own_give_the_same_t() -> None:
    pool, roles = make_pool(), toys(3)
    batched = pool.fit(roles, CLOSELY)
    for b in range(3):
        alone = own_curvature_newton(pool.problem(roles[:, [b]]), CLOSELY)
        assert alone.converged[0]
        assert alone.statistic[0] == pytest.approx(batched.statistic[b], abs=1e-4)


def test_fits_that_the_shared_curvature_leaves_open_are_finished_by_their_own() -> None:
    pool, roles = make_pool(), toys(3, signal=150)
    cut_short = minimise(pool.problem(roles), pool.shared, CLOSELY, max_iterations=3)
    enough = minimise(pool.problem(roles), pool.shared, CLOSELY)
    assert cut_short.converged.all()
    np.testing.assert_allclose(cut_short.statistic, enough.statistic, rtol=1e-5)


def test_a_toy_that_has_converged_leaves_the_batch(caplog: pytest.LogCaptureFixture) -> None:
    pool = make_pool()
    roles = np.hstack([toys(6), toys(6, signal=300)])
    finished: list[int] = []
    with caplog.at_level(logging.DEBUG, logger="lanner"):
        solution = pool.fit(roles, CLOSELY, progress=finished.append)
    told: list[Any] = [record.args for record in caplog.records if "fits, decrement" in record.message]
    active = [int(args[1]) for args in told]
    assert active == sorted(active, reverse=True)
    assert active[0] == 12 > active[-1]
    assert sum(finished) == 12
    assert solution.iterations.min() < solution.iterations.max()


def test_a_weight_is_a_repetition() -> None:
    pool, roles = make_pool(), toys(1)
    weights = np.ones(N)
    weights[:500] = 2.0
    weighted = Pool.prepare(
        EVENTS, make_basis(), loss=pool.loss, penalty=PENALTY, expected=EXPECTED,
        events_per_fit=5700, precision="double", memory=10**9, weights=weights, arrays=ARRAYS,
    )  # fmt: skip
    twice = Pool.prepare(
        np.vstack([EVENTS, EVENTS[:500]]), make_basis(), loss=pool.loss, penalty=PENALTY, expected=EXPECTED,
        events_per_fit=5700, precision="double", memory=10**9, arrays=ARRAYS,
    )  # fmt: skip
    repeated = np.vstack([roles, roles[:500]])
    # The penalty counts events, which repetition changes and a weight does not.
    problem = weighted.problem(roles)
    weightings = replace(problem.weightings, data_weights=weights)
    problem = replace(problem, weightings=weightings, ridge=twice.problem(repeated).ridge)
    a = minimise(problem, weighted.shared, FitSettings(newton_steps=None, tolerance=1e-8))
    b = twice.fit(repeated, FitSettings(newton_steps=None, tolerance=1e-8))
    np.testing.assert_allclose(a.statistic, b.statistic, rtol=1e-6)


def test_null_toys_follow_the_analytic_mean_and_spread() -> None:
    from lanner.inference.analytic import analytic_weights

    pool = make_pool(precision="single")
    t = pool.fit(toys(150), CONVERGED).statistic
    w = analytic_weights(pool.spectrum, expected=EXPECTED, reference_size=REFERENCE_SIZE, events=5700, penalty=PENALTY)
    spread = np.sqrt(2 * (w**2).sum())
    # All toys share one pool, so the mean is off by more than toys alone would tell: a few per cent.
    assert t.mean() == pytest.approx(w.sum(), abs=0.5 * spread)
    assert t.std() == pytest.approx(spread, rel=0.25)


def test_one_dimension_at_the_papers_penalty(rng: np.random.Generator) -> None:
    # Penalty 1e-10: features span thirteen orders of magnitude, the case where rounding would show.
    reference, _ = exponential(22_500, 1)
    barred = np.arange(500)
    basis = choose_pivots(reference[barred], GaussianKernel(0.3), trace_error=0.0, max_rank=500, rng=rng)
    scheme = ReferenceScheme(Bunches.single(22_500, 0), 200, None, 20_000, barred, 0, NOBODY)
    roles = np.stack([scheme.toy(i).roles() for i in range(8)], axis=1)
    results = []
    for precision in ("single", "double"):
        pool = Pool.prepare(
            reference, basis, loss=loss_by_name("logistic"), penalty=1e-10, expected=200,
            events_per_fit=20_200, precision=precision, memory=10**9, arrays=ARRAYS,
        )  # fmt: skip
        results.append(pool.fit(roles, FitSettings(newton_steps=1, tolerance=1e-3)))
    assert all(r.converged.all() for r in results)
    np.testing.assert_allclose(results[0].statistic, results[1].statistic, atol=0.045)  # 1 % of sqrt(2 x 10)
