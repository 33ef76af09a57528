"""The score statistic against its definition, and the two ways of adding up a toy's features."""

import numpy as np
import pytest

from lanner.inference.toys import ReferenceScheme, WeightedReferenceScheme
from lanner.model import score
from lanner.model.centers import choose_pivots
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import loss_by_name
from lanner.model.pool import Pool
from lanner.model.weightings import DATA, REFERENCE

EXPECTED, REFERENCE_SIZE, PENALTY = 100.0, 4000, 1e-4
BARRED = np.arange(50)


def prepared(weights: np.ndarray | None = None, data: int = 0, loss: str = "logistic") -> tuple[Pool, np.ndarray]:
    rng = np.random.default_rng(3)
    events = rng.exponential(size=(5000 + data, 2))
    basis = choose_pivots(
        events[:50], GaussianKernel(1.5), trace_error=1e-6, max_rank=50, rng=rng, memory=2**30
    )  # fmt: skip
    pool = Pool.prepare(
        events, basis, loss=loss_by_name(loss), penalty=PENALTY, expected=EXPECTED,
        events_per_fit=REFERENCE_SIZE + EXPECTED, precision="double", memory=2**30, weights=weights, null_rows=5000,
    )  # fmt: skip
    return pool, pool.features.phi_block(slice(None))


def by_definition(pool: Pool, phi: np.ndarray, draw, penalty: float) -> tuple[float, np.ndarray]:  # type: ignore[no-untyped-def]
    roles = draw.roles()
    weights = np.ones(len(roles)) if pool.weights is None else pool.weights
    v0 = weights * (roles == REFERENCE)
    v0 *= EXPECTED / v0.sum()
    u = phi.T @ ((roles == DATA) - v0)
    factor = {"logistic": 2.0, "extended": 1.0}[pool.loss.name]
    second = EXPECTED * pool.moments.second
    ridge = factor * penalty * (REFERENCE_SIZE + EXPECTED) * np.eye(len(u))
    w = np.linalg.solve(second + ridge, u)
    return float(2 * w @ u - w @ second @ w), w


@pytest.mark.parametrize("loss", ["logistic", "extended"])
@pytest.mark.parametrize("gather", [0.0, 1.0], ids=["product", "gathered"])
@pytest.mark.parametrize("weighted", [False, True])
def test_q_is_t_to_second_order_after_one_step(loss, gather, weighted, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(score, "GATHER", gather)
    weights = np.random.default_rng(1).uniform(0.5, 1.0, 5090) if weighted else None
    pool, phi = prepared(weights, data=90, loss=loss)
    sizes = (5000, 90, EXPECTED, None, REFERENCE_SIZE, BARRED, 1)
    scheme = (
        ReferenceScheme(*sizes)
        if weights is None
        else WeightedReferenceScheme(*sizes, weights=weights[:5000], source=400)
    )
    draws = [scheme.toy(0), scheme.toy(1), scheme.data(0)]
    rho = PENALTY * (REFERENCE_SIZE + EXPECTED) / EXPECTED * {"logistic": 2.0, "extended": 1.0}[loss]
    found = pool.score.solution(pool.differences(draws), rho)
    for k, draw in enumerate(draws):
        q, w = by_definition(pool, phi, draw, PENALTY)
        assert found.statistic[k] == pytest.approx(q, rel=1e-8)
        np.testing.assert_allclose(found.coefficients[:, k], w, rtol=1e-6, atol=1e-9)


def test_sums_do_not_depend_on_how_many_toys_are_taken_together() -> None:
    pool, _ = prepared()
    scheme = ReferenceScheme(5000, 0, EXPECTED, None, REFERENCE_SIZE, BARRED, 1)
    draws = [scheme.toy(i) for i in range(40)]
    together = pool.differences(draws)
    apart = np.hstack([pool.differences([d]) for d in draws])
    np.testing.assert_allclose(together, apart, rtol=1e-12, atol=1e-12)
