import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

from lanner.errors import InputError
from lanner.model.backend import Arrays
from lanner.model.kernel import GaussianKernel, KernelColumns, kernel_sum, pairwise_width


def test_matches_scikit_learn(rng: np.random.Generator) -> None:
    x, y = rng.normal(size=(50, 7)), rng.normal(size=(30, 7))
    np.testing.assert_allclose(GaussianKernel(1.7)(x, y), rbf_kernel(x, y, gamma=0.5 / 1.7**2), rtol=1e-12)


def test_is_accurate_far_from_the_origin(rng: np.random.Generator) -> None:
    x = 1e5 + rng.normal(size=(40, 3))
    np.testing.assert_allclose(GaussianKernel(1.0)(x, x), np.exp(-0.5 * cdist(x, x) ** 2), rtol=1e-9)


@pytest.mark.parametrize("distance", [1e3, 1e6, 1e9])
def test_a_few_wild_values_spoil_nothing(rng: np.random.Generator, distance: float, arrays: Arrays) -> None:
    x, c = rng.normal(size=(60, 2)), rng.normal(size=(30, 2))
    x[:5, 0] = c[:7, 0] = distance
    x[5:10] += distance  # a second cluster, far away and with a shape of its own
    c[7:12] += distance
    k = arrays.get(KernelColumns.of(GaussianKernel(0.1), c, arrays)(x))
    np.testing.assert_allclose(k, np.exp(-50 * cdist(x, c) ** 2), atol=1e-9)


def test_no_underflow_is_raised_where_the_caller_asks_for_errors() -> None:
    with np.errstate(all="raise"):
        assert GaussianKernel(1e-3)(np.zeros((1, 1)), np.ones((1, 1)))[0, 0] < 1e-17


def test_never_exceeds_one(rng: np.random.Generator) -> None:
    x = rng.normal(size=(100, 4))
    k = GaussianKernel(0.3)(x, x)
    assert k.max() <= 1.0
    assert np.diag(k).min() > 1 - 1e-12


@pytest.mark.parametrize("width", [0.0, -1.0, float("nan"), float("inf")])
def test_width_must_be_positive(width: float) -> None:
    with pytest.raises(InputError, match="width="):
        GaussianKernel(width)


def test_kernel_sum_is_the_matrix_times_the_coefficients(rng: np.random.Generator) -> None:
    x, c, a = rng.normal(size=(5000, 2)), rng.normal(size=(9, 2)), rng.normal(size=9)
    kernel = GaussianKernel(0.8)
    np.testing.assert_allclose(kernel_sum(kernel, c, a, x), kernel(x, c) @ a, rtol=1e-12)
    many = rng.normal(size=(9, 3))
    np.testing.assert_allclose(kernel_sum(kernel, c, many, x), kernel(x, c) @ many, rtol=1e-12)


def test_width_of_the_paper_is_the_90th_percentile_of_the_distances(rng: np.random.Generator) -> None:
    # Distances between exponential events are exponential with the same rate: the quantile is log(10) / 8.
    assert pairwise_width(rng.exponential(1 / 8, (50_000, 1)), rng=rng) == pytest.approx(np.log(10) / 8, rel=0.05)


def test_products_of_kernel_values_do_not_underflow_in_single_precision() -> None:
    x = np.linspace(0.0, 100.0, 400)[:, None]
    k = GaussianKernel(1.0)(x, x[::40]).astype(np.float32)
    assert k.min() ** 2 > np.finfo(np.float32).tiny
    np.testing.assert_allclose(k, np.exp(-0.5 * (x - x[::40].T) ** 2), rtol=1e-5, atol=1e-17)
