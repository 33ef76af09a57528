"""Toys: their means and covariances are those of the events that they are made of."""

import numpy as np
import pytest

from lanner.events.scaled_rows import ScaledRows
from lanner.events.scaling import Scaling
from lanner.monitor.toys import SMALLEST, Sizes, ToyMaker
from lanner.monitor.width import WatchedWidth
from lanner.monitor.yardstick import Halves, Yardstick
from lanner.typing import Array
from tests.monitor.conftest import events

TOYS = 4000


def per_event(width: WatchedWidth, halves: Halves) -> Array:
    """The sums of each event of the toys' half."""
    rows = halves.events[halves.of_toys]
    k = width.kernel(rows).astype(float)
    return np.hstack([k, (1 - k.max(axis=1) ** 2)[:, None]])


@pytest.fixture(scope="module")
def maker(measured: tuple[Yardstick, Halves]) -> ToyMaker:
    yardstick, halves = measured
    return ToyMaker(yardstick.widths[1], halves, seed=5)


def test_means_and_covariances_grow_with_the_size(maker: ToyMaker) -> None:
    one = per_event(maker.width, maker.halves)
    covariance = np.cov(one.T)
    predicted = np.append(maker.width.mean, maker.width.far[0])
    for step, sums in enumerate(maker.batches(TOYS, 4, 0)):
        size = SMALLEST * 2**step
        # Toys know the mean of their events as 8 times as many events as there are toys do, whatever their size.
        error = np.sqrt(np.diag(covariance) * size / TOYS * 2 ** (step + 1))
        assert (np.abs(sums.mean(axis=0) - size * (one.mean(axis=0) - predicted)) < 5 * error).all()
        found = np.cov(sums.T.astype(float)) / size
        assert np.linalg.norm(found - covariance) < 0.1 * np.linalg.norm(covariance)
        assert np.trace(found) == pytest.approx(np.trace(covariance), rel=0.05)


def test_references_of_other_worlds_fluctuate_as_one_of_their_worth(maker: ToyMaker) -> None:
    covariance = np.cov(per_event(maker.width, maker.halves).T) / 700
    worlds = maker.worlds(700.0).astype(float)
    np.testing.assert_allclose(worlds.mean(axis=0), 0.0, atol=1e-5)
    # What is far is known by half of the reference alone.
    covariance[-1] *= 2**0.5
    covariance[:, -1] *= 2**0.5
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.abs((np.cov(worlds.T) - covariance) / scale).max() < 0.2
    assert np.trace(np.cov(worlds.T)) == pytest.approx(np.trace(covariance), rel=0.1)


def test_toys_of_all_widths_are_made_of_the_same_events(measured: tuple[Yardstick, Halves]) -> None:
    yardstick, halves = measured
    far = [next(ToyMaker(w, halves, 5).batches(3000, 0, 0))[:, -1].astype(float) for w in yardstick.widths[:2]]
    # The coarser the width the less is far, of the same events.
    assert np.corrcoef(far)[0, 1] > 0.15
    other = next(ToyMaker(yardstick.widths[1], halves, 6).batches(3000, 0, 0))[:, -1]
    assert abs(np.corrcoef(far[0], other)[0, 1]) < 0.08


def test_weights_draw_as_repeated_rows_do(maker: ToyMaker) -> None:
    x = events(800, 8)
    weights = np.random.default_rng(2).integers(1, 4, 800)
    units, none = Scaling(np.zeros(2), np.ones(2), None, ("energy", "angle")), np.empty(0, dtype=np.intp)
    repeated = np.repeat(x, weights, axis=0)
    made = []
    for rows, w in ((x, weights.astype(float)), (repeated, np.ones(len(repeated)))):
        halves = Halves(ScaledRows((rows,), units), w, none, np.arange(len(rows)))
        made.append(next(ToyMaker(maker.width, halves, 5).batches(20_000, 0, 0)).astype(float))
    error = np.hypot(*(m.std(axis=0) for m in made)) / 20_000**0.5
    assert (np.abs(made[0].mean(axis=0) - made[1].mean(axis=0)) < 5 * error).all()
    np.testing.assert_allclose(made[0].std(axis=0), made[1].std(axis=0), rtol=0.05, atol=1e-9)


def test_toys_are_judged_as_batches_with_the_same_sums_are(maker: ToyMaker) -> None:
    width, size = maker.width, 64.0
    *_, sums = maker.batches(50, 3, 0)
    nowhere = np.zeros(width.rank + 1)
    found = maker.judged(sums, size, nowhere, np.zeros((1, width.rank + 1)), np.zeros(50, dtype=np.intp))
    batches = sums + size * np.append(width.mean, width.far[0])
    sizes = np.full(50, size)
    truth = width.statistics(width.departure(width.read(batches, sizes), sizes), sizes)
    np.testing.assert_allclose(found, truth, rtol=2e-3, atol=1e-4)


def test_a_reference_that_is_off_is_taken_for_the_truth(maker: ToyMaker) -> None:
    # A batch against a reference whose means are those of the batch does not depart from it.
    width, size = maker.width, 512.0
    *_, sums = maker.batches(20, 6, 0)
    off = sums / size
    same = maker.judged(sums, size, np.zeros(width.rank + 1), off, np.arange(20))
    np.testing.assert_allclose(same[: len(width.deviations)], 0.0, atol=1e-4)


def test_sizes_reach_the_largest() -> None:
    assert Sizes.up_to(1.0).all == [8]
    assert Sizes.up_to(8 * 2**7).all[-1] == 1024
    assert Sizes.up_to(1025).all[-1] == 2048
