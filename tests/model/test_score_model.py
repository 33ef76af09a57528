"""All that judges data by the score at one width, against sums over events in double precision."""

import numpy as np
import pytest
from scipy import stats

from lanner.model.backend import NUMPY, Arrays
from lanner.model.kernel import GaussianKernel
from lanner.model.moments import Moments
from lanner.model.nystrom import Basis, choose_pivots
from lanner.model.score_model import ScoreModel
from tests.conftest import shaped

EVENTS = shaped(2, 800)
BASIS = choose_pivots(EVENTS[:60], GaussianKernel(1.5), trace_error=1e-3, max_rank=10, rng=np.random.default_rng(1))
PHI = BASIS.features(EVENTS)
HALVES = (np.arange(400), np.arange(400, 800))
EXPECTED = 50.0


def moments_of(events: np.ndarray) -> Moments:
    return Moments(PHI[events].mean(axis=0), PHI[events].T @ PHI[events] / len(events))


def model(arrays: Arrays = NUMPY) -> ScoreModel:
    return ScoreModel.of(
        BASIS, [moments_of(half) for half in HALVES], total=PHI.sum(axis=0), mass=800.0, worth=800.0, expected=EXPECTED,
        arrays=arrays,
    )  # fmt: skip


def difference(data: np.ndarray) -> np.ndarray:
    """Some events less the expected number of those that are left."""
    return PHI[data].sum(axis=0) - EXPECTED * np.delete(PHI, data, axis=0).mean(axis=0)


def some_data(number: int) -> tuple[list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(number)
    data = [rng.choice(np.arange(60, 800), 50, replace=False) for _ in range(number)]
    return data, np.stack([difference(d) for d in data], axis=1)


def without(pivot: int) -> Basis:
    """The basis without one of its pivots."""
    rest = np.delete(BASIS.pivots, pivot, axis=0)
    return Basis(BASIS.kernel, rest, np.linalg.cholesky(BASIS.kernel(rest, rest)).astype(float), 0.0)


def test_it_has_a_score_for_each_split_of_the_reference() -> None:
    made = model()
    assert len(made.scores.splits) == len(made.bases) == 2
    for score, half in zip(made.scores.splits, HALVES, strict=True):
        assert score.expected == EXPECTED
        np.testing.assert_allclose(score.basis.moments.second, moments_of(half).second, atol=1e-12)


def test_the_spectrum_is_that_of_the_first_split() -> None:
    values = np.linalg.eigvalsh(moments_of(HALVES[0]).second)[::-1]
    np.testing.assert_allclose(model().spectrum.values, values, atol=1e-12)


def test_differences_are_turned_to_the_eigenvectors_of_each_split(arrays: Arrays) -> None:
    _, u = some_data(3)
    found = model(arrays).rotated(arrays.put(u), [1, None, 0])
    assert [(k, columns.tolist()) for k, columns, _ in found.parts] == [(0, [1, 2]), (1, [0, 1])]
    for k, columns, values in found.parts:
        # Whatever the sign of an eigenvector is.
        vectors = np.linalg.eigh(moments_of(HALVES[k]).second)[1][:, ::-1]
        truth = np.abs(vectors.T @ u[:, columns]) / EXPECTED**0.5
        np.testing.assert_allclose(np.abs(values), truth, atol=1e-8)


def test_the_largest_local_excess_is_that_of_kernel_sums_over_events(arrays: Arrays) -> None:
    """Windows are of the whole reference; the splits are halves and their complements."""
    data, u = some_data(4)
    found = model(arrays).rotated(arrays.put(u), [0] * 4)
    k = BASIS.kernel(EVENTS, BASIS.pivots)
    size = sum((k[half] ** 2).mean(axis=0) for half in HALVES) / len(HALVES) / k.mean(axis=0)
    many = EXPECTED * k.mean(axis=0) / size
    size = (many * size + 3) / (many + 3)  # where few are expected an event counts as one
    alpha = EXPECTED / 800
    off = k.sum(axis=0) / size
    for b, rows in enumerate(data):
        # What the data have, less what the reference lacks of it.
        on = (k[rows].sum(axis=0) - EXPECTED * np.delete(k, rows, axis=0).mean(axis=0)) / size + alpha * off
        z2 = on * np.log((1 + alpha) / alpha * on / (on + off)) + off * np.log((1 + alpha) * off / (on + off))
        assert found.local is not None
        assert found.local[b] == pytest.approx(-stats.norm.logsf(np.sqrt(2 * z2.max())), rel=1e-7)


def test_pivots_among_the_data_have_the_features_that_the_others_give_them(arrays: Arrays) -> None:
    made, (_, u) = model(arrays), some_data(2)
    pivots = np.zeros((BASIS.rank, 2))
    pivots[[2, 7], 1] = 1.0
    plain, found = (made.rotated(arrays.put(u), [0, 0], p).parts[0][2] for p in (None, pivots))
    np.testing.assert_allclose(found[:, 0], plain[:, 0], atol=1e-12)
    lost = made.bases[0].vectors @ (plain - found)[:, 1] * EXPECTED**0.5
    # Seen by any event: the kernel with each of these pivots, less what all the others explain of that.
    truth = np.zeros(800)
    for j in (2, 7):
        rest = without(j)
        truth += BASIS.kernel(EVENTS, BASIS.pivots[[j]])[:, 0]
        truth -= (rest.features(EVENTS) @ rest.features(BASIS.pivots[[j]]).T)[:, 0]
    np.testing.assert_allclose(PHI @ lost, truth, atol=1e-8)


def test_pivots_among_the_data_have_no_part_in_their_own_windows(arrays: Arrays) -> None:
    made = model(arrays)
    data, _ = some_data(1)
    u = difference(np.append(data[0], BASIS.chosen[3]))[:, None]
    own = np.zeros((BASIS.rank, 1))
    own[3] = 1.0
    found = made.rotated(arrays.put(u), [0], own).local
    np.testing.assert_allclose(found, made.local_excess.statistic(u, own), rtol=1e-9)


def test_the_residual_of_a_pivot_is_what_the_others_leave_of_it() -> None:
    found = BASIS.residuals_of_pivots(BASIS.rank)
    for j in range(BASIS.rank):
        left = 1 - (without(j).features(BASIS.pivots[[j]]) ** 2).sum()
        assert found[j] == pytest.approx(left, abs=1e-8)


def test_a_pivot_beyond_the_first_columns_is_judged_by_the_first_pivots() -> None:
    columns = 6
    first = Basis(BASIS.kernel, BASIS.pivots[:columns], BASIS.factor[:columns, :columns], 0.0)
    found = BASIS.residuals_of_pivots(columns)
    for j in range(columns, BASIS.rank):
        assert found[j] == pytest.approx(1 - (first.features(BASIS.pivots[[j]]) ** 2).sum(), abs=1e-8)


def test_what_is_held_are_matrices_of_the_rank() -> None:
    one, two = (
        ScoreModel.of(
            BASIS, [moments_of(h) for h in some], total=PHI.sum(axis=0), mass=800.0, worth=800.0, expected=1.0
        )
        for some in (HALVES[:1], HALVES)
    )
    assert two.held - one.held == 8 * BASIS.rank**2
    assert one.held >= one.basis.factor.nbytes + sum(b.vectors.nbytes for b in one.bases)
