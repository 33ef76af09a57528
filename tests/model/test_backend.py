"""Where arrays live is chosen by an argument, and changes nothing but the place."""

import sys

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.model.backend import Arrays, arrays_on, column_dots
from tests.conftest import exponential


def test_there_and_back(arrays: Arrays) -> None:
    x = np.arange(6.0).reshape(2, 3)
    x.setflags(write=False)
    np.testing.assert_array_equal(arrays.get(arrays.put(x)), x)
    assert arrays.get(arrays.put(x, np.dtype(np.float32))).dtype == np.float32
    np.testing.assert_array_equal(arrays.get(arrays.take(arrays.put(x), np.array([2, 0]), axis=1)), x[:, [2, 0]])
    kept = arrays.where(np.array([True, False, True]), arrays.put(x), 0.0)
    np.testing.assert_array_equal(arrays.get(kept), x * [1, 0, 1])
    np.testing.assert_array_equal(arrays.get(column_dots(arrays.put(x), arrays.put(x))), (x * x).sum(axis=0))


def test_triangular_solves_are_those_of_a_dense_matrix(arrays: Arrays, rng: np.random.Generator) -> None:
    a = rng.normal(size=(5, 5))
    lower, b = np.linalg.cholesky(a @ a.T + np.eye(5)), rng.normal(size=(5, 2))
    placed, right = arrays.cholesky(lower @ lower.T), arrays.put(b)
    np.testing.assert_allclose(arrays.get(arrays.triangular(placed, right)), np.linalg.solve(lower, b))
    np.testing.assert_allclose(
        arrays.get(arrays.triangular(placed, right, transposed=True)), np.linalg.solve(lower.T, b)
    )
    with pytest.raises(np.linalg.LinAlgError):
        arrays.cholesky(-np.eye(3))


@pytest.mark.parametrize("options", [{}, {"width": 0.3, "penalty": 1e-5}], ids=["score, ladder", "likelihood ratio"])
def test_torch_on_the_cpu_gives_the_same_search(options: dict[str, float]) -> None:
    pytest.importorskip("torch")
    reference, data = exponential(5000, 260)
    common = {"expected": 250, "toys": 90, "centers": 100, "seed": 2, **options}
    here, there = (lanner.search(reference, data, device=d, **common) for d in ("cpu", "torch"))  # type: ignore[arg-type]
    np.testing.assert_allclose(here.null.statistics, there.null.statistics, atol=0.01)
    np.testing.assert_allclose(here.statistic, there.statistic, atol=0.01)
    assert here.empirical.exceedances == there.empirical.exceedances
    assert here.p_value == there.p_value


def test_devices_that_are_not_there_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="'gpu' is not known; choose 'cpu'"):
        arrays_on("gpu")
    reference, data = exponential(1000, 60)
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no CUDA device"):
            lanner.search(reference, data, expected=50, toys=10, device="cuda")
    monkeypatch.setitem(sys.modules, "torch", None)
    arrays_on.cache_clear()
    with pytest.raises(InputError, match=r"pip install 'lanner\[gpu\]'"):
        lanner.fit_ratio(reference, data, expected=50, device="torch")
    with pytest.raises(InputError, match="runs on the CPU alone"):
        lanner.fit_ratio(reference, data, expected=50, device="strict", solver="falkon")
    arrays_on.cache_clear()
