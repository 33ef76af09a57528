import numpy as np
import pytest

from lanner.errors import MemoryBudgetError
from lanner.model.backend import Arrays
from lanner.model.features import StoredFeatures, StreamedFeatures, feature_sums, make_features
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


def test_a_budget_below_one_block_is_an_error(basis: Basis) -> None:
    with pytest.raises(MemoryBudgetError, match=f"rank {basis.rank} needs .* memory budget"):
        make_features(EVENTS, basis, precision="single", memory=10_000)
