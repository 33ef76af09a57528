"""The score statistic against its definition, by one split of the reference and by all of them."""

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.model.backend import NUMPY, Arrays
from lanner.model.features import make_features
from lanner.model.kernel import GaussianKernel
from lanner.model.moments import Moments
from lanner.model.nystrom import choose_pivots
from lanner.model.score import Score, Scores, weighted_difference
from lanner.model.weightings import DATA, REFERENCE, Weightings
from tests.conftest import shaped

EXPECTED = 100.0
ARRAYS = NUMPY


@pytest.fixture(autouse=True)
def _everywhere(arrays: Arrays, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test of this file runs on every kind of arrays."""
    monkeypatch.setitem(globals(), "ARRAYS", arrays)


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


def test_without_data_among_them_each_toy_has_the_statistic_of_its_own_split() -> None:
    scores, u, _ = split_scores()
    which = [2, 0, 1, 1, 0, 2]
    rotated = scores.rotate(ARRAYS.put(u), which)
    by_split = scores.by_split(rotated, 0.01)
    np.testing.assert_array_equal(scores.statistic(rotated, 0.01), by_split[which, np.arange(6)])
    assert np.count_nonzero(~np.isnan(by_split)) == 6


def test_no_coefficients_are_made_where_nobody_asks_for_them() -> None:
    scores, u, which = split_scores()
    rotated = scores.rotate(ARRAYS.put(u), which)
    none = scores.solution(rotated, 0.01, kept=0)
    assert none.coefficients.shape == (8, 0)
    np.testing.assert_array_equal(none.statistic, scores.solution(rotated, 0.01).statistic)


def test_one_split_alone_is_the_definition() -> None:
    """q = sum (2 - h) u^2 / (N(0) (s + rho)) with h = s / (s + rho)."""
    values = np.array([0.5, 0.1, 0.001])
    moments = Moments(np.zeros(3), np.diag(values))
    score, u, rho = Score(moments.eigenbasis, EXPECTED, ARRAYS), np.array([[3.0], [-2.0], [0.5]]), 0.02
    h = values / (values + rho)
    truth = ((2 - h) * u[:, 0] ** 2 / (EXPECTED * (values + rho))).sum()
    assert score.statistic(score.rotate(ARRAYS.put(u)), rho) == pytest.approx(truth)


@pytest.mark.parametrize("memory", [10**8, 1_500_000], ids=["stored", "streamed"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_weighted_difference_is_data_less_reference(memory: int, weighted: bool, rng: np.random.Generator) -> None:
    events = shaped(2, 20_000)
    basis = choose_pivots(events[:60], GaussianKernel(1.5), trace_error=1e-3, max_rank=10, rng=rng)
    features = make_features(events, basis, precision="double", memory=memory, arrays=ARRAYS)
    assert features.storage == ("stored" if memory > 10**7 else "streamed")
    roles = rng.choice([0, REFERENCE, DATA], (20_000, 3), p=[0.1, 0.8, 0.1]).astype(np.int8)
    weights = rng.uniform(0.5, 2.0, 20_000) if weighted else None
    found = weighted_difference(features, Weightings.of(roles, expected=EXPECTED, weights=weights))
    phi, c = basis.features(events), np.ones(20_000) if weights is None else weights
    for b in range(3):
        data, reference = roles[:, b] == DATA, roles[:, b] == REFERENCE
        truth = phi[data].sum(axis=0) - EXPECTED * np.average(phi[reference], axis=0, weights=c[reference])
        np.testing.assert_allclose(ARRAYS.get(found)[:, b], truth, rtol=1e-7, atol=1e-6)


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
