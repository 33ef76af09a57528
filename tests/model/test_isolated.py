"""Events that are alone in their place."""

import numpy as np
import pytest

import lanner
from lanner.events.scaled_rows import ScaledRows
from lanner.events.scaling import Scaling
from lanner.model.isolated import MOST, with_company
from lanner.model.kernel import GaussianKernel
from lanner.model.nystrom import Basis

KERNEL = GaussianKernel(1.0)


def rows_of(x: np.ndarray) -> ScaledRows:
    return ScaledRows((x[:, None],), Scaling(np.zeros(1), np.ones(1), None, ("x",)))


def basis_of(points: np.ndarray) -> Basis:
    factor = np.linalg.cholesky(KERNEL(points[:, None], points[:, None])).astype(np.float64)
    return Basis(KERNEL, points[:, None], factor, 0.0)


def test_company_is_what_makes_a_pivot() -> None:
    x = np.array([0.0, 0.3, 50.0, 90.0, 90.2, 70.0, 70.0])
    pivots = np.array([0, 2, 5])  # with company, alone, and with an event that is just the same
    basis, found = with_company(basis_of(x[pivots]), pivots, rows_of(x), len(x), max_rank=10)
    assert found[:2].tolist() == [0, 5]
    assert x[found[2]] in (90.0, 90.2)  # a place apart that two events share
    assert len(found) == 3
    np.testing.assert_array_equal(basis.pivots[:, 0], x[found])
    np.testing.assert_allclose(basis.factor @ basis.factor.T, KERNEL(basis.pivots, basis.pivots), atol=1e-12)


def test_data_are_no_company() -> None:
    x = np.array([0.0, 0.3, 50.0, 50.1])  # the last is a data event
    _, found = with_company(basis_of(x[[0, 2]]), np.array([0, 2]), rows_of(x), 3, max_rank=10)
    assert found.tolist() == [0]


@pytest.mark.parametrize(("number", "left"), [(MOST, 1), (MOST + 1, MOST + 2)])
def test_where_many_are_alone_they_stay(number: int, left: int) -> None:
    x = np.concatenate([[0.0, 0.1], 100.0 * np.arange(1, number + 1)])
    pivots = np.delete(np.arange(len(x)), 1)
    assert len(with_company(basis_of(x[pivots]), pivots, rows_of(x), len(x), max_rank=500)[1]) == left


def test_the_last_pivot_stays() -> None:
    x = np.array([0.0, 100.0])
    basis, found = with_company(basis_of(x[:1]), np.array([0]), rows_of(x), 2, max_rank=1)
    assert (basis.rank, found.tolist()) == (1, [0])


@pytest.mark.parametrize("seed", [68, 83, 89])
def test_a_rare_flag_that_reference_and_data_have_once_is_nothing_special(seed: int) -> None:
    """0.05 such events are expected: the chance of one is 5 %, and that of all that chance may do is larger."""
    rng = np.random.default_rng(seed)
    reference, data = (np.column_stack([rng.normal(size=n), np.arange(n) == 0]) for n in (2000, 100))
    found = lanner.search(reference, data, expected=100, toys=300, seed=seed)
    assert found.p_value > 0.03
    assert found.combined is not None
    assert min(scale.local_p for scale in found.combined.scales) > 1e-3
