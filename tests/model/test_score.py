"""The score statistic against its definition, and the two ways of adding up a toy's features."""

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.inference.resampling import ReferenceScheme, WeightedReferenceScheme
from lanner.model import score
from lanner.model.backend import NUMPY, Arrays
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import loss_by_name
from lanner.model.moments import Moments
from lanner.model.nystrom import choose_pivots
from lanner.model.pool import Pool
from lanner.model.score import Score, Scores
from lanner.model.weightings import DATA, REFERENCE

EXPECTED, REFERENCE_SIZE, PENALTY = 100.0, 4000, 1e-4
BARRED = np.arange(50)
ARRAYS = NUMPY


@pytest.fixture(autouse=True)
def _everywhere(arrays: Arrays, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test of this file runs on every kind of arrays."""
    monkeypatch.setitem(globals(), "ARRAYS", arrays)


def prepared(weights: np.ndarray | None = None, data: int = 0, loss: str = "logistic") -> tuple[Pool, np.ndarray]:
    rng = np.random.default_rng(3)
    events = rng.exponential(size=(5000 + data, 2))
    basis = choose_pivots(
        events[:50], GaussianKernel(1.5), trace_error=1e-6, max_rank=50, rng=rng, memory=2**30
    )  # fmt: skip
    pool = Pool.prepare(
        events, basis, loss=loss_by_name(loss), penalty=PENALTY, expected=EXPECTED,
        events_per_fit=REFERENCE_SIZE + EXPECTED, precision="double", memory=2**30, weights=weights, null_rows=5000,
        arrays=ARRAYS,
    )  # fmt: skip
    return pool, ARRAYS.get(pool.features.phi_block(slice(None)))


def by_definition(pool: Pool, phi: np.ndarray, draw, penalty: float) -> tuple[float, np.ndarray]:
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
def test_q_is_t_to_second_order_after_one_step(loss, gather, weighted, monkeypatch) -> None:
    monkeypatch.setattr(score, "GATHER", gather)
    weights = np.random.default_rng(1).uniform(0.5, 1.0, 5090) if weighted else None
    pool, phi = prepared(weights, data=90, loss=loss)
    sizes = (5000, 90, EXPECTED, None, REFERENCE_SIZE, BARRED, 1)
    scheme = (
        ReferenceScheme(*sizes)
        if weights is None
        else WeightedReferenceScheme(*sizes, weights=weights[:5000], n_hit_or_miss=400)
    )
    draws = [scheme.toy(0), scheme.toy(1), scheme.data(0)]
    rho = PENALTY * (REFERENCE_SIZE + EXPECTED) / EXPECTED * {"logistic": 2.0, "extended": 1.0}[loss]
    found = pool.scores.solution(pool.differences(draws), rho)
    for k, draw in enumerate(draws):
        q, w = by_definition(pool, phi, draw, PENALTY)
        assert found.statistic[k] == pytest.approx(q, rel=1e-8)
        np.testing.assert_allclose(found.coefficients[:, k], w, rtol=1e-6, atol=1e-9)


def test_sums_do_not_depend_on_how_many_toys_are_taken_together() -> None:
    pool, _ = prepared()
    scheme = ReferenceScheme(5000, 0, EXPECTED, None, REFERENCE_SIZE, BARRED, 1)
    draws = [scheme.toy(i) for i in range(40)]
    ((_, columns, together),) = pool.differences(draws).parts
    assert columns.tolist() == list(range(40))
    apart = np.hstack([pool.differences([d]).parts[0][2] for d in draws])
    np.testing.assert_allclose(together, apart, rtol=1e-12, atol=1e-12)


def split_scores() -> tuple[Scores, np.ndarray, list[int | None]]:
    """Scores by three splits of some features, u of six draws, and the split of each: none for the data."""
    rng = np.random.default_rng(6)
    phi = rng.normal(size=(3, 400, 8)) * np.geomspace(1, 0.01, 8)
    several = [Moments(x.mean(axis=0), x.T @ x / len(x)) for x in phi]
    scores = Scores(tuple(Score(m.eigenbasis, EXPECTED, ARRAYS) for m in several))
    return scores, rng.normal(size=(8, 6)), [0, 1, 2, None, 1, None]


def second_moments(scores: Scores) -> list[np.ndarray]:
    return [s.basis.vectors @ np.diag(s.basis.spectrum.values) @ s.basis.vectors.T for s in scores.splits]


def test_a_toy_is_judged_by_its_own_split_and_the_data_by_the_median_of_all() -> None:
    scores, u, which = split_scores()
    rho, rotated = 0.01, scores.rotate(ARRAYS.put(u), which)
    q = np.empty((3, 6))
    for k, second in enumerate(second_moments(scores)):
        w = np.linalg.solve(EXPECTED * (second + rho * np.eye(8)), u)
        q[k] = 2 * (w * u).sum(axis=0) - EXPECTED * np.einsum("ib,ij,jb->b", w, second, w)
    found = scores.solution(rotated, rho).statistic
    truth = [np.median(q[:, b]) if split is None else q[split, b] for b, split in enumerate(which)]
    np.testing.assert_allclose(found, truth, rtol=1e-9)
    by_split = scores.by_split(rotated, rho)
    belongs = np.array([[split in (None, k) for split in which] for k in range(3)])
    np.testing.assert_array_equal(np.isnan(by_split), ~belongs)
    np.testing.assert_allclose(by_split[belongs], q[belongs], rtol=1e-9)


def test_the_ratio_of_the_data_is_the_mean_over_the_splits() -> None:
    scores, u, which = split_scores()
    rho, rotated = 0.01, scores.rotate(ARRAYS.put(u), which)
    steps = np.stack(
        [np.linalg.solve(EXPECTED * (second + rho * np.eye(8)), u) for second in second_moments(scores)]
    )  # fmt: skip
    truth = np.stack([steps[:, :, b].mean(axis=0) if s is None else steps[s, :, b] for b, s in enumerate(which)], 1)
    np.testing.assert_allclose(scores.solution(rotated, rho).coefficients, truth, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(scores.solution(rotated, rho, kept=4).coefficients, truth[:, :4], rtol=1e-8, atol=1e-12)


def test_fit_ratio_by_score_is_close_to_one_newton_step() -> None:
    rng = np.random.default_rng(8)
    reference, data = rng.exponential(size=(20_000, 1)), rng.exponential(size=(1000, 1))
    options = {
        "expected": 1000,
        "width": 2.0,
        "penalty": 1e-3,
        "rng": 1,
        "device": {"numpy": "cpu"}.get(ARRAYS.name, ARRAYS.name),
    }
    step = lanner.fit_ratio(reference, data, newton_steps=1, **options)  # type: ignore[arg-type]
    score_fit = lanner.fit_ratio(reference, data, statistic="score", **options)  # type: ignore[arg-type]
    assert score_fit.statistic == pytest.approx(step.statistic, rel=0.15)
    x = [[0.1], [1.0], [2.0]]
    np.testing.assert_allclose(score_fit.log_ratio(x), step.log_ratio(x), atol=0.03)
    assert score_fit.solver == "score"
    assert lanner.analytic_null(score_fit).mean == pytest.approx(lanner.analytic_null(step).mean, rel=1e-3)


def test_fit_ratio_refuses_what_makes_no_sense() -> None:
    x = np.random.default_rng(1).exponential(size=(100, 1))
    with pytest.raises(InputError, match="choose one of 'likelihood-ratio'"):
        lanner.fit_ratio(x, x, expected=100, statistic="wald")
    with pytest.raises(InputError, match="leave it out"):
        lanner.fit_ratio(x, x, expected=100, statistic="score", solver="falkon")
