import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from lanner.errors import MemoryBudgetError
from lanner.model.kernel import GaussianKernel
from lanner.model.nystrom import BLOCK, FREE_RANK, Basis, choose_pivots
from tests.conftest import exponential, shaped


def test_the_factor_is_that_of_the_pivots_kernel_matrix(rng: np.random.Generator) -> None:
    basis = choose_pivots(shaped(5, 2000), GaussianKernel(2.0), trace_error=1e-4, max_rank=2000, rng=rng)
    np.testing.assert_allclose(basis.factor @ basis.factor.T, basis.kernel(basis.pivots, basis.pivots), atol=1e-9)
    assert np.array_equal(basis.factor, np.tril(basis.factor))


def test_the_trace_error_is_what_the_features_leave_out(rng: np.random.Generator) -> None:
    candidates = shaped(5, 1500)
    basis = choose_pivots(candidates, GaussianKernel(2.0), trace_error=1e-3, max_rank=1500, rng=rng)
    left = 1 - (basis.features(candidates) ** 2).sum(axis=1)
    assert basis.trace_error <= 1e-3
    assert basis.trace_error == pytest.approx(left.mean(), rel=1e-6)
    assert left.min() > -1e-9


def test_a_tighter_tolerance_takes_more_pivots() -> None:
    ranks = [
        choose_pivots(
            shaped(8, 1000), GaussianKernel(4.0), trace_error=error, max_rank=1000, rng=np.random.default_rng(1)
        ).rank
        for error in (1e-2, 1e-3, 1e-4)
    ]
    assert ranks == sorted(set(ranks))
    assert ranks[-1] < 1000


def test_random_pivots_do_nearly_as_well_as_the_best_subspace(rng: np.random.Generator) -> None:
    candidates = shaped(5, 800)
    basis = choose_pivots(candidates, GaussianKernel(3.0), trace_error=1e-4, max_rank=800, rng=rng)
    spectrum = np.linalg.eigvalsh(GaussianKernel(3.0)(candidates, candidates))[::-1]
    best = np.flatnonzero(spectrum[::-1].cumsum()[::-1] / 800 <= 1e-4)[0]  # eigenvectors that the optimum needs
    assert basis.rank < 3 * max(best, FREE_RANK)


def test_in_one_dimension_everything_is_kept_that_rounding_allows(rng: np.random.Generator) -> None:
    candidates, _ = exponential(3000, 1)
    basis = choose_pivots(candidates, GaussianKernel(0.3), trace_error=1e-2, max_rank=3000, rng=rng)
    assert 10 <= basis.rank <= 20
    assert basis.trace_error < 1e-12


def test_repeated_candidates_are_pivots_once(rng: np.random.Generator) -> None:
    candidates = np.repeat(rng.normal(size=(5, 2)), 20, axis=0)
    basis = choose_pivots(candidates, GaussianKernel(0.1), trace_error=0.0, max_rank=100, rng=rng)
    assert basis.rank == 5


def test_zero_tolerance_keeps_all_independent_candidates(rng: np.random.Generator) -> None:
    candidates = rng.uniform(0, 100, size=(300, 2))
    assert choose_pivots(candidates, GaussianKernel(1.0), trace_error=0.0, max_rank=300, rng=rng).rank == 300


def test_the_cap_on_the_rank_holds(rng: np.random.Generator) -> None:
    assert choose_pivots(shaped(8, 500), GaussianKernel(1.0), trace_error=0.0, max_rank=60, rng=rng).rank == 60


def test_one_candidate_is_enough(rng: np.random.Generator) -> None:
    assert choose_pivots(np.zeros((1, 1)), GaussianKernel(1.0), trace_error=0.0, max_rank=1, rng=rng).rank == 1


def test_the_pivots_are_the_chosen_candidates(rng: np.random.Generator) -> None:
    candidates = shaped(5, 500)
    basis = choose_pivots(candidates, GaussianKernel(2.0), trace_error=1e-2, max_rank=80, rng=rng)
    np.testing.assert_array_equal(candidates[basis.chosen], basis.pivots)


def of_points(points: np.ndarray, kernel: GaussianKernel) -> Basis:
    """A basis with these pivots in this order."""
    return Basis(kernel, points, np.linalg.cholesky(kernel(points, points)).astype(float), 0.0)


def test_a_basis_of_some_pivots_is_the_one_that_is_built_of_them(rng: np.random.Generator) -> None:
    kernel, points = GaussianKernel(1.0), rng.normal(size=(12, 2))
    kept = np.array([0, 3, 4, 11])
    basis = replace(of_points(points, kernel), chosen=np.arange(100, 109))
    found, truth = basis.reduced(kept), of_points(points[kept], kernel)
    np.testing.assert_array_equal(found.pivots, truth.pivots)
    np.testing.assert_allclose(found.factor, truth.factor, atol=1e-12)
    assert found.chosen.tolist() == [100, 103, 104]  # the others were no candidates


def test_without_its_own_part_a_pivot_has_the_features_of_any_other_event(rng: np.random.Generator) -> None:
    """Any other function of the basis sees it as a basis does that was built without this pivot."""
    kernel, points, others = GaussianKernel(1.0), rng.normal(size=(12, 2)), rng.normal(size=(40, 2))
    basis = of_points(points, kernel)
    own = basis.own_parts()
    phi, phi_others = basis.features(points), basis.features(others)
    for j in range(12):
        rest = of_points(np.delete(points, j, axis=0), kernel)
        # The projection on the kernels of the other pivots, seen by inner products with any event.
        truth = rest.features(points[j : j + 1]) @ rest.features(others).T
        np.testing.assert_allclose((phi[j] - own[:, j]) @ phi_others.T, truth[0], atol=1e-8)
        left = 1 - (rest.features(points[j : j + 1]) ** 2).sum()
        assert own[:, j] @ own[:, j] == pytest.approx(left, abs=1e-8)


def test_further_pivots_give_the_cholesky_factor_of_all_points(rng: np.random.Generator) -> None:
    kernel, first, far = GaussianKernel(1.0), rng.normal(size=(10, 2)), rng.normal(size=(15, 2)) * 20
    extended, rows = of_points(first, kernel).extended(far, least=0.5)
    together = np.vstack([first, far[rows]])
    assert 0 < len(rows) == len(set(rows.tolist()))
    np.testing.assert_array_equal(extended.pivots, together)
    np.testing.assert_allclose(extended.factor, np.linalg.cholesky(kernel(together, together)), atol=1e-10)
    # None of the points is left for which there would be more to explain.
    assert (1 - (extended.features(far) ** 2).sum(axis=1)).max() <= 0.5
    events = rng.normal(size=(30, 2)) * 10
    np.testing.assert_allclose(extended.features(events), of_points(together, kernel).features(events), atol=1e-9)


def test_points_that_are_within_reach_add_no_pivot(rng: np.random.Generator) -> None:
    basis = of_points(rng.normal(size=(10, 2)), GaussianKernel(3.0))
    same, rows = basis.extended(basis.pivots[:4] + 1e-3, least=0.5)
    assert len(rows) == 0
    np.testing.assert_array_equal(same.factor, basis.factor)


def test_copies_of_a_point_out_of_reach_become_one_pivot() -> None:
    basis = of_points(np.zeros((1, 1)), GaussianKernel(1.0))
    extended, rows = basis.extended(np.array([[50.0], [50.0], [90.0], [50.0]]), least=0.5)
    assert sorted(extended.pivots[1:, 0]) == [50.0, 90.0]
    assert len(rows) == 2


def test_thinning_stays_within_the_memory_or_says_that_it_cannot() -> None:
    candidates, kernel = shaped(8, 1200), GaussianKernel(0.5)
    for memory in (10_000_000, 20_000_000, 30_000_000, 40_000_000):
        tracemalloc.start()
        try:
            choose_pivots(
                candidates, kernel, trace_error=0.0, max_rank=1200, rng=np.random.default_rng(1), memory=memory
            )
            done = True
        except MemoryBudgetError:
            done = False
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < memory + 4 * 8 * BLOCK * len(candidates)  # and the new columns on their way
        assert done or memory < 30_000_000
