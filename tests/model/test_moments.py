import numpy as np
import pytest

from lanner.errors import NotConvexError
from lanner.model import moments
from lanner.model.backend import Arrays
from lanner.model.features import make_features
from lanner.model.kernel import GaussianKernel
from lanner.model.moments import Factored, Moments, MomentSums, feature_sum, second_moment
from lanner.model.nystrom import choose_pivots
from lanner.model.splits import ALWAYS, Splits
from tests.conftest import shaped

EVENTS = shaped(3, 2500)


@pytest.mark.parametrize("memory", [10**9, 8_000_000], ids=["stored", "streamed"])
@pytest.mark.parametrize("weighted", ["no", "positive", "some negative"])
def test_equals_the_dense_sum(memory: int, weighted: str, rng: np.random.Generator, arrays: Arrays) -> None:
    basis = choose_pivots(EVENTS[:300], GaussianKernel(1.5), trace_error=1e-6, max_rank=300, rng=rng)
    features = make_features(EVENTS, basis, precision="double", memory=memory, arrays=arrays)
    assert features.storage == ("stored" if memory > 10**8 else "streamed")
    weights = {"no": None, "positive": rng.random(1500), "some negative": rng.normal(0.5, 1, 1500)}[weighted]
    phi = basis.features(EVENTS[200:1700])
    dense = (phi * (1 if weights is None else weights[:, None])).T @ phi
    np.testing.assert_allclose(second_moment(features, weights, slice(200, 1700)), dense, atol=1e-6)


def test_moments_of_very_many_rows_are_those_of_an_even_part(monkeypatch: pytest.MonkeyPatch, arrays: Arrays) -> None:
    monkeypatch.setattr(moments, "MOST_ROWS", 10_000)
    monkeypatch.setattr(moments, "_ROWS", 500)
    rng = np.random.default_rng(4)
    events = shaped(3, 40_000)
    basis = choose_pivots(events[:100], GaussianKernel(1.5), trace_error=1e-3, max_rank=40, rng=rng)
    features = make_features(events, basis, precision="double", memory=10**9, arrays=arrays)
    weights = rng.random(40_000)
    for c in (None, weights):
        part, whole = Moments.of(features, c), second_moment(features, c) / (40_000 if c is None else weights.sum())
        assert not np.array_equal(part.second, whole)
        np.testing.assert_allclose(part.second, whole, atol=0.02 * np.abs(whole).max())


@pytest.mark.parametrize("memory", [10**9, 1_300_000], ids=["stored", "streamed"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_moments_of_a_split_are_dense_sums_over_its_rows(
    blocks: int, weighted: bool, memory: int, rng: np.random.Generator, arrays: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moments, "_ROWS", 300)  # several passes
    basis = choose_pivots(EVENTS[:300], GaussianKernel(1.5), trace_error=1e-2, max_rank=60, rng=rng)
    features = make_features(EVENTS, basis, precision="double", memory=memory, arrays=arrays)
    assert features.storage == ("stored" if memory > 10**8 else "streamed")
    order = rng.permutation(2000)
    splits = Splits.of(order[40:], order[:40], 2400, blocks)  # the last 100 events are not even in it
    weights = rng.random(2500) if weighted else None
    phi, c = basis.features(EVENTS), np.ones(2500) if weights is None else weights
    found = Moments.by_split(features, splits, weights)
    assert len(found) == splits.number
    for k, one in enumerate(found):
        rows = np.setdiff1d(order, splits.free(k))
        total = c[rows].sum()
        np.testing.assert_allclose(one.mean, c[rows] @ phi[rows] / total, atol=1e-9)
        np.testing.assert_allclose(one.second, (phi[rows] * c[rows, None]).T @ phi[rows] / total, atol=1e-9)


def test_very_many_rows_of_splits_are_thinned_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    events = shaped(3, 40_000)
    basis = choose_pivots(events[:100], GaussianKernel(1.5), trace_error=1e-3, max_rank=40, rng=rng)
    features = make_features(events, basis, precision="double", memory=10**9)
    order = rng.permutation(40_000)
    splits = Splits.of(order[100:], order[:100], 40_000, 4)
    whole = Moments.by_split(features, splits, None)
    monkeypatch.setattr(moments, "MOST_ROWS", 10_000)
    for part, all_rows in zip(Moments.by_split(features, splits, None), whole, strict=True):
        assert not np.array_equal(part.second, all_rows.second)
        np.testing.assert_allclose(part.second, all_rows.second, atol=0.03 * np.abs(all_rows.second).max())


@pytest.mark.parametrize("weighted", ["no", "positive", "some negative"])
def test_blocks_add_up_in_double_precision(weighted: str, rng: np.random.Generator, arrays: Arrays) -> None:
    phi = rng.normal(size=(3, 50, 4)).astype(np.float32)
    weights = {"no": None, "positive": rng.random((3, 50)), "some negative": rng.normal(0.5, 1, (3, 50))}[weighted]
    sums = MomentSums(4, arrays, np.dtype(np.float32))
    for k, block in enumerate(phi):
        sums.add(arrays.put(block), None if weights is None else weights[k])
    rows, c = phi.reshape(-1, 4).astype(float), np.ones(150) if weights is None else weights.ravel()
    first, second = sums.host()
    assert first.dtype == second.dtype == np.float64
    np.testing.assert_allclose(first, c @ rows, atol=1e-5)
    np.testing.assert_allclose(second, (rows * c[:, None]).T @ rows, atol=1e-4)


@pytest.mark.parametrize("memory", [10**9, 1_300_000], ids=["stored", "streamed"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_feature_sum_is_over_some_rows(
    weighted: bool, memory: int, rng: np.random.Generator, arrays: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moments, "_ROWS", 300)
    basis = choose_pivots(EVENTS[:300], GaussianKernel(1.5), trace_error=1e-2, max_rank=60, rng=rng)
    features = make_features(EVENTS, basis, precision="double", memory=memory, arrays=arrays)
    weights = rng.random(1500) if weighted else None
    c = np.ones(1500) if weights is None else weights
    found = feature_sum(features, weights, slice(200, 1700))
    np.testing.assert_allclose(found, c @ basis.features(EVENTS[200:1700]), atol=1e-8)


def test_sums_by_label_are_joined_to_those_of_each_split(rng: np.random.Generator) -> None:
    phi, labels = rng.normal(size=(600, 3)), rng.integers(ALWAYS, 4, 600).astype(np.int8)
    sums = {k: (phi[labels == k].sum(axis=0), phi[labels == k].T @ phi[labels == k]) for k in range(ALWAYS, 4)}
    totals = {k: float(np.count_nonzero(labels == k)) for k in sums}
    splits = Splits(labels, 4)
    found = Moments.joined(sums, totals, splits)
    assert len(found) == splits.number
    for one, shaping in zip(found, splits.shaping, strict=True):
        rows = phi[(labels == ALWAYS) | np.isin(labels, np.flatnonzero(shaping))]
        np.testing.assert_allclose(one.mean, rows.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(one.second, rows.T @ rows / len(rows), atol=1e-12)


def test_without_splits_sums_by_label_are_one(rng: np.random.Generator) -> None:
    phi = rng.normal(size=(100, 3))
    sums = {k: (part.sum(axis=0), part.T @ part) for k, part in enumerate((phi[:30], phi[30:]))}
    (found,) = Moments.joined(sums, {0: 30.0, 1: 70.0}, None)
    np.testing.assert_allclose(found.mean, phi.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.second, phi.T @ phi / 100, atol=1e-12)


def test_an_eigenbasis_has_the_moments_that_it_was_made_of() -> None:
    moments = Moments(np.array([0.3, -0.2]), np.array([[0.5, 0.1], [0.1, 0.4]]))
    again = moments.eigenbasis.moments
    np.testing.assert_allclose(again.mean, moments.mean)
    np.testing.assert_allclose(again.second, moments.second)


def test_a_concave_direction_is_an_error_that_says_what_to_do(arrays: Arrays) -> None:
    with pytest.raises(NotConvexError, match=r"curvature -5.*raise the penalty"):
        Factored(np.diag([1.0, -5.0]), 2.0, convex=False, arrays=arrays)


def test_the_penalty_can_make_up_for_it(arrays: Arrays) -> None:
    made = Factored(np.diag([1.0, -5.0]), 6.0, convex=False, arrays=arrays)
    np.testing.assert_allclose(arrays.get(made.solve(arrays.put(np.array([[7.0], [2.0]])))), [[1.0], [2.0]])
