"""Maps and combined statistics of toys: p-values of new toys are uniform, and beyond the toys they go on."""

import numpy as np
import pytest
from scipy import stats

from lanner.inference.combination import Combination, PMap
from lanner.monitor.calibration import MonitorCalibration
from lanner.monitor.null import BatchNull
from lanner.monitor.toys import ToyMaker
from lanner.monitor.yardstick import Halves, Yardstick

TOYS = 4000


@pytest.fixture(scope="module")
def null(measured: tuple[Yardstick, Halves]) -> BatchNull:
    yardstick, halves = measured
    return BatchNull.of(yardstick, halves, largest=128, toys=TOYS, seed=1)


def by_hand(combined: np.ndarray, slope: float = 1.0) -> BatchNull:
    """One statistic, which is -log p already, at two sizes."""
    maps = np.full((2, 1, 3), np.nan)
    return BatchNull(np.array([8.0, 16.0]), maps, np.stack([combined, combined]), np.array([slope, slope]))


def test_p_values_of_new_toys_are_uniform_at_every_size(null: BatchNull, measured: tuple[Yardstick, Halves]) -> None:
    yardstick, halves = measured
    found: dict[int, list[np.ndarray]] = {}
    which = np.random.default_rng(3).integers(4096, size=2000)
    for width in yardstick.widths:
        maker = ToyMaker(width, halves, 99)
        shift = maker.worlds(yardstick.worth)
        for step, sums in enumerate(maker.batches(2000, 4, 0)):
            size = 8 * 2**step
            mean = sums.mean(axis=0, dtype=np.float64) / size
            found.setdefault(size, []).append(maker.judged(sums, size, mean, shift, which))
    for size, t in found.items():
        log_p, _, _ = null.log_p(np.vstack(t), np.full(2000, float(size)))
        # Those that are counted among toys and these toys fluctuate alike: the distance is that of two samples.
        together = 2000 * null.toys / (2000 + null.toys)
        distance = stats.kstest(np.exp(log_p), "uniform").statistic
        assert stats.kstwobign.sf(distance * together**0.5) > 1e-3
        assert np.mean(log_p <= np.log(0.01)) == pytest.approx(0.01, abs=0.0085)


def test_maps_are_those_of_a_combination_at_the_sizes_of_toys(null: BatchNull) -> None:
    t = np.random.default_rng(2).gamma(2.0, size=(null.maps.shape[1], 30))
    for step, size in enumerate(null.sizes):
        maps = tuple(None if np.isnan(row[0]) else PMap(*map(float, row)) for row in null.maps[step])
        truth = Combination("harmonic", maps, (1.0,) * len(maps))
        log_p, _, of_scales = null.log_p(t, np.full(30, size))
        np.testing.assert_allclose(of_scales, truth.log_p(t))
        beyond = (null.combined[step][:, None] >= truth(t)).sum(axis=0)
        np.testing.assert_allclose(np.exp(log_p), (beyond + 1) / (null.toys + 1))


def test_between_two_sizes_log_p_is_between(null: BatchNull) -> None:
    t = np.full((null.maps.shape[1], 1), 6.0)
    at = [float(null.log_p(t, np.array([n]))[0][0]) for n in (32.0, 32.0 * 2**0.5, 64.0)]
    assert min(at[0], at[2]) - 0.1 <= at[1] <= max(at[0], at[2]) + 0.1


def test_batches_of_several_sizes_are_judged_as_each_alone(null: BatchNull) -> None:
    t = np.random.default_rng(5).gamma(2.0, size=(null.maps.shape[1], 4))
    sizes = np.array([9.0, 100.0, 33.0, 100.0])
    together = null.log_p(t, sizes)
    alone = [null.log_p(t[:, [k]], sizes[[k]]) for k in range(4)]
    for which in range(2):
        np.testing.assert_allclose(together[which], [a[which][0] for a in alone])


def test_p_is_never_below_one_over_the_toys() -> None:
    null = by_hand(np.linspace(0, 5, 999))
    log_p, continued, _ = null.log_p(np.array([[100.0]]), np.array([8.0]))
    assert np.exp(log_p[0]) == pytest.approx(null.smallest_p) == pytest.approx(1e-3)
    assert continued[0] < log_p[0] - 50


def test_beyond_the_toys_p_is_that_of_the_law_that_they_follow() -> None:
    toys = -np.log((np.arange(20_000) + 0.5) / 20_000)[::-1]
    null = by_hand(toys)
    t = np.array([[7.0, 12.0, 25.0]])
    _, continued, _ = null.log_p(t, np.full(3, 8.0))
    np.testing.assert_allclose(continued, -t[0], atol=0.1)


def test_the_slope_of_the_tail_is_found(null: BatchNull) -> None:
    # Were the maps exact it were 1; toys of few events have heavier tails.
    assert (null.slopes <= 1).all()
    assert (null.slopes > 0.4).all()


def test_the_continued_p_falls_with_the_statistic(null: BatchNull) -> None:
    c = np.linspace(0, 40, 500)
    t = np.full((null.maps.shape[1], 500), np.nan)
    t[:] = c
    _, continued, _ = null.log_p(t, np.full(500, 64.0))
    assert (np.diff(continued) <= 1e-9).all()


def test_there_and_back_as_arrays(calibration: MonitorCalibration) -> None:
    null = calibration.null
    again = BatchNull.from_arrays(null.to_arrays())
    t = np.random.default_rng(2).gamma(2.0, size=(null.maps.shape[1], 5))
    for made, read in zip(null.log_p(t, np.full(5, 70.0)), again.log_p(t, np.full(5, 70.0)), strict=True):
        np.testing.assert_allclose(made, read, atol=0.01)
