"""The statistics of one width, against dense algebra in double precision and formulas written out."""

import numpy as np
import pytest

from lanner.inference.terms import poisson_log_excess
from lanner.model.kernel import GaussianKernel
from lanner.model.nystrom import Basis, choose_pivots
from lanner.monitor.width import WatchedWidth, is_single
from lanner.typing import Array

WIDTH, REFERENCE, BATCH = 0.7, 3000, 200
DEVIATIONS = (0.35, 1.2)
RNG = np.random.default_rng(4)
SIZE = np.array([float(BATCH)])
EVENTS, DATA = RNG.standard_normal((REFERENCE, 2)), 0.1 + RNG.standard_normal((BATCH, 2))


def watched(max_rank: int = 25) -> tuple[WatchedWidth, Basis]:
    basis = choose_pivots(
        EVENTS[:500], GaussianKernel(WIDTH), trace_error=0.0, max_rank=max_rank, rng=np.random.default_rng(2)
    )
    phi, k = basis.features(EVENTS), GaussianKernel(WIDTH)(EVENTS, basis.pivots)
    g = 1 - np.square(k.max(axis=1))
    return WatchedWidth.of(
        basis, phi.mean(axis=0), phi.T @ phi / REFERENCE, deviations=DEVIATIONS, largest=1e9, mean=k.mean(axis=0),
        squares=np.square(k).mean(axis=0), far=np.array([g.mean(), np.square(g).mean()]), places=basis.pivots,
        worth=REFERENCE,
    ), basis  # fmt: skip


def statistics(width: WatchedWidth, batch: Array) -> Array:
    sizes = np.array([float(len(batch))])
    return width.statistics(width.departure(width.read(width.sums(batch)[None], sizes), sizes), sizes)[:, 0]


def test_sums_of_two_batches_are_those_of_their_events_together() -> None:
    width, _ = watched()
    both = width.sums(DATA[:70]) + width.sums(DATA[70:])
    np.testing.assert_allclose(both, width.sums(DATA), rtol=1e-6)


def test_sums_are_those_of_the_kernel_around_each_pivot() -> None:
    width, basis = watched()
    k = np.exp(-0.5 * ((DATA[:, None] - basis.pivots[None]) ** 2).sum(axis=2) / WIDTH**2)
    np.testing.assert_allclose(width.sums(DATA)[:-1], k.sum(axis=0), rtol=1e-5)
    assert width.sums(DATA)[-1] == pytest.approx(np.sum(1 - k.max(axis=1) ** 2), rel=1e-4)


def test_q_is_the_score_of_a_test_of_the_shape() -> None:
    width, basis = watched()
    found = statistics(width, DATA)
    phi, reference = basis.features(DATA), basis.features(EVENTS)
    u = phi.sum(axis=0) - BATCH * reference.mean(axis=0)
    covariance = np.cov(reference.T, ddof=0)
    for tau, q in zip(DEVIATIONS, found, strict=False):
        inverse = np.linalg.inv(covariance + np.eye(len(u)) / (tau**2 * BATCH))
        shrinkage = covariance @ inverse
        truth = u @ inverse @ (2 * np.eye(len(u)) - shrinkage) @ u / BATCH
        assert q == pytest.approx(truth, rel=1e-3)


def test_directions_without_weight_are_left_out() -> None:
    width, basis = watched(60)
    few = WatchedWidth.of(
        basis, basis.features(EVENTS).mean(axis=0), np.cov(basis.features(EVENTS).T, ddof=0), deviations=DEVIATIONS,
        largest=BATCH, mean=width.mean, squares=width.squares, far=width.far, places=width.places, worth=REFERENCE,
    )  # fmt: skip
    assert len(few.values) < len(width.values)
    assert few.values.min() > 0.04 / (max(DEVIATIONS) ** 2 * BATCH)


def test_the_local_excess_is_li_and_ma_of_the_windows() -> None:
    width, basis = watched()
    departure = width.departure(width.read(width.sums(DATA)[None], SIZE), SIZE)
    k, of_reference = (GaussianKernel(WIDTH)(x, basis.pivots) for x in (DATA, EVENTS))
    mean, square = of_reference.mean(axis=0), np.square(of_reference).mean(axis=0)
    many = BATCH * mean**2 / square
    size = (many * square / mean + 3) / (many + 3)
    on, off, a = k.sum(axis=0) / size, REFERENCE * mean / size, BATCH / REFERENCE
    z2 = 2 * (on * np.log((1 + a) / a * on / (on + off)) + off * np.log((1 + a) * off / (on + off)))
    found = width.excesses(departure, np.array([float(BATCH)]))[:, 0]
    np.testing.assert_allclose(np.abs(found), np.sqrt(z2), rtol=1e-3, atol=1e-3)
    assert (np.sign(found) == np.sign(on - a * off)).all()


def test_events_far_out_are_a_compound_poisson_number() -> None:
    width, _ = watched(60)
    outside = np.vstack([DATA, [[8.0, 8.0], [-9.0, 0.0], [0.0, 12.0]]])
    k = width.kernel(outside).max(axis=1).astype(float)
    mean, square = width.far + 1 / REFERENCE
    total = np.sum(1 - k**2)
    truth = -poisson_log_excess(np.array([total * mean / square]), len(outside) * mean**2 / square)[0]
    assert statistics(width, outside)[-1] == pytest.approx(truth, rel=1e-4)
    assert statistics(width, outside)[-1] > statistics(width, DATA)[-1] + 1


def test_readings_of_a_window_are_the_sums_of_those_of_its_batches() -> None:
    width, _ = watched()
    parts = np.stack([width.sums(DATA[:70]), width.sums(DATA[70:])])
    readings = width.read(parts, np.array([70.0, 130.0])).sum(axis=0)
    size = np.array([float(BATCH)])
    found = width.statistics(width.departure(readings[None], size), size)[:, 0]
    np.testing.assert_allclose(found, statistics(width, DATA), rtol=1e-4, atol=1e-6)


def test_batches_of_several_sizes_are_judged_as_each_alone() -> None:
    width, _ = watched()
    batches = [DATA[:30], DATA[30:100], DATA]
    sizes = np.array([float(len(b)) for b in batches])
    sums = np.stack([width.sums(b) for b in batches])
    together = width.statistics(width.departure(width.read(sums, sizes), sizes), sizes)
    np.testing.assert_allclose(together, np.stack([statistics(width, b) for b in batches], axis=1), rtol=1e-6)


def test_pivots_that_are_close_to_each_other_ask_for_double_precision() -> None:
    _, apart = watched(10)
    _, close = watched(200)
    assert is_single(apart)
    assert not is_single(close)


def test_there_and_back_as_arrays() -> None:
    width, _ = watched()
    again = WatchedWidth.from_arrays({name: np.asarray(a) for name, a in width.to_arrays().items()})
    np.testing.assert_array_equal(statistics(again, DATA), statistics(width, DATA))
    assert again.labels == width.labels
    assert len(width.labels) == width.number == len(statistics(width, DATA))
