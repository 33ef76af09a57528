import numpy as np
import pytest

from lanner.errors import MemoryBudgetError
from lanner.model.backend import Arrays
from lanner.model.features import StoredFeatures, StreamedFeatures, feature_sums, make_features, residuals_of
from lanner.model.kernel import GaussianKernel
from lanner.model.nystrom import Basis, choose_pivots
from tests.conftest import shaped

EVENTS = shaped(5, 3000)


@pytest.fixture(scope="module")
def basis() -> Basis:
    rng = np.random.default_rng(3)
    return choose_pivots(EVENTS[:1000], GaussianKernel(2.5), trace_error=1e-5, max_rank=1000, rng=rng)


def test_features_reproduce_the_kernel_on_the_pivots(basis: Basis, arrays: Arrays) -> None:
    made = make_features(basis.pivots, basis, precision="double", memory=10**9, arrays=arrays)
    phi = arrays.get(made.block(slice(None)))
    np.testing.assert_allclose(phi @ phi.T, basis.kernel(basis.pivots, basis.pivots), atol=1e-9)


def test_they_are_stored_in_single_precision_of_the_double_ones(basis: Basis, arrays: Arrays) -> None:
    single = make_features(EVENTS, basis, precision="single", memory=10**9, arrays=arrays)
    double = make_features(EVENTS, basis, precision="double", memory=10**9, arrays=arrays)
    assert isinstance(single, StoredFeatures)
    assert single.dtype == np.float32
    in_double = arrays.get(double.block(slice(None)))
    np.testing.assert_array_equal(arrays.get(single.phi), in_double.astype(np.float32))
    np.testing.assert_allclose(in_double, basis.features(EVENTS), atol=1e-8)


def test_streamed_features_give_the_same_sums(basis: Basis, rng: np.random.Generator, arrays: Arrays) -> None:
    stored = make_features(EVENTS, basis, precision="double", memory=10**9, arrays=arrays)
    little = 32 * basis.rank**2 + 20_000 * basis.rank
    streamed = make_features(EVENTS, basis, precision="single", memory=little, arrays=arrays)
    assert isinstance(streamed, StreamedFeatures)
    w = rng.normal(size=basis.rank)
    np.testing.assert_allclose(feature_sums(streamed, w), feature_sums(stored, w), atol=1e-8)
    residual = arrays.put(rng.normal(size=(len(EVENTS), 1)))
    sums = [made.lower(made.block(slice(None)).T @ residual) for made in (streamed, stored)]
    np.testing.assert_allclose(arrays.get(sums[0]), arrays.get(sums[1]), atol=1e-6)


@pytest.mark.parametrize(("precision", "allowed"), [("single", 1e-5), ("double", 1e-8)])
def test_residuals_are_what_the_basis_cannot_represent(
    precision: str, allowed: float, basis: Basis, arrays: Arrays
) -> None:
    events = np.vstack([EVENTS[:500], EVENTS[:3] + 100.0, basis.pivots[:3]])
    found = residuals_of(make_features(events, basis, precision=precision, memory=10**9, arrays=arrays))
    # The distance of k(x, .) from the span of the pivots' kernels: a least-squares fit of its own.
    k = basis.kernel(basis.pivots, events)
    truth = 1 - np.einsum("ij,ij->j", k, np.linalg.solve(basis.factor @ basis.factor.T, k))
    np.testing.assert_allclose(found, np.clip(truth, 0, 1), atol=allowed)
    assert found[500:503].tolist() == [1, 1, 1]
    np.testing.assert_allclose(found[503:], 0, atol=allowed)
    assert ((found >= 0) & (found <= 1)).all()


def test_residuals_of_streamed_features_are_the_same(basis: Basis, arrays: Arrays) -> None:
    little = 32 * basis.rank**2 + 20_000 * basis.rank
    streamed = make_features(EVENTS, basis, precision="single", memory=little, arrays=arrays)
    assert isinstance(streamed, StreamedFeatures)
    stored = make_features(EVENTS, basis, precision="double", memory=10**9, arrays=arrays)
    np.testing.assert_allclose(residuals_of(streamed), residuals_of(stored), atol=1e-8)


def test_a_budget_below_one_block_is_an_error(basis: Basis) -> None:
    with pytest.raises(MemoryBudgetError, match=f"rank {basis.rank} needs .* memory budget"):
        make_features(EVENTS, basis, precision="single", memory=10_000)
