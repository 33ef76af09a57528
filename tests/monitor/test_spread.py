"""Run-to-run spread: it is found where there is some, it is no alarm then, and other departures are found as before."""

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.monitor.calibration import MonitorCalibration, Rules
from lanner.monitor.judge import Judge
from lanner.monitor.spread import LEAST_BATCHES, Spread, spread_of, with_spread
from lanner.monitor.yardstick import Halves, Yardstick
from lanner.settings import FitSettings
from lanner.typing import Array
from tests.monitor.conftest import events

BATCH, GOOD = 100, 60
SPREAD = 0.25  # of the mean of the normal column, whose statistical error in a batch is 0.1
RULES = Rules(batch=BATCH, run_length=20, windows=(2,), toys=1000, streams=30, length=40, seed=3)


def batch(seed: int, spread: float, n: int = BATCH) -> Array:
    """With a mean of its own."""
    strength = float(np.random.default_rng([seed, 1]).standard_normal())
    return events(n, seed) + np.array([0.0, spread * strength])


def reference() -> lanner.Sample:
    return lanner.Sample.of(events(100 * BATCH, 1))


@pytest.fixture(scope="module")
def good() -> list[Array]:
    return [batch(5000 + k, SPREAD) for k in range(GOOD)]


@pytest.fixture(scope="module")
def with_it(good: list[Array]) -> Judge:
    return Judge(MonitorCalibration.make(reference(), RULES, FitSettings(seed=3), good=good))


@pytest.fixture(scope="module")
def without() -> Judge:
    return Judge(MonitorCalibration.make(reference(), RULES, FitSettings(seed=3)))


def p_values(judge: Judge, batches: list[Array]) -> Array:
    found = [judge.after(judge.start(), judge.sums(b), "", details=False)[1].p_value for b in batches]
    return np.array(found, dtype=np.float64)


def learned(batches: list[Array], measured: tuple[Yardstick, Halves]) -> Spread:
    yardstick, halves = measured
    return spread_of(yardstick, halves, np.stack([yardstick.sums(b) for b in batches]), seed=1)


def test_of_batches_without_spread_nothing_is_learned(measured: tuple[Yardstick, Halves]) -> None:
    spread = learned([events(BATCH, 700 + k) for k in range(GOOD)], measured)
    assert spread.ways == 0
    assert with_spread(measured[0], spread) is measured[0]


def test_one_way_is_found_with_its_size(good: list[Array], measured: tuple[Yardstick, Halves]) -> None:
    spread = learned(good, measured)
    assert 1 <= spread.ways <= 2  # a shift of the mean is not quite linear
    yardstick, _ = measured
    # What a shift of the whole reference by one spread does to the directions is what was learned, up to its sign.
    plain, shifted = (
        yardstick.read(yardstick.sums(events(20_000, 1) + np.array([0.0, s]))[None])[0] for s in (0.0, SPREAD)
    )
    truth, width = ((shifted - plain) / 20_000)[1:], yardstick.widths[-1]
    start = sum(w.readings for w in yardstick.widths[:-1])
    part = slice(start, start + len(width.values))
    found, scale = spread.shifts[0, part], np.sqrt(width.values + width.rho(BATCH))
    cosine = (
        (found / scale) @ (truth[part] / scale) / np.linalg.norm(found / scale) / np.linalg.norm(truth[part] / scale)
    )
    assert abs(cosine) > 0.9
    assert np.linalg.norm(found / scale) == pytest.approx(np.linalg.norm(truth[part] / scale), rel=0.4)


def test_batches_with_spread_have_the_stated_rate_with_it_and_far_too_many_alarms_without(
    with_it: Judge, without: Judge
) -> None:
    new = [batch(9000 + k, SPREAD) for k in range(250)]
    assert np.mean(p_values(without, new) <= 0.05) > 0.3
    assert 0.012 <= np.mean(p_values(with_it, new) <= 0.05) <= 0.104


def test_a_departure_in_another_direction_is_found_as_before(with_it: Judge, without: Judge) -> None:
    wider = [events(BATCH, 300 + k) * np.array([1.5, 1.0]) for k in range(60)]
    found = [np.median(p_values(judge, wider)) for judge in (with_it, without)]
    assert found[0] < 0.02
    assert found[0] < 5 * found[1] + 0.005


def test_windows_of_batches_with_spread_are_no_alarm(with_it: Judge) -> None:
    state, alarms = with_it.start(), 0
    for k in range(200):
        state, verdict = with_it.after(state, with_it.sums(batch(20_000 + k, SPREAD)), "", details=False)
        alarms += any(alarm.kind == "windows" for alarm in verdict.alarms)
    # 10 are expected.
    assert alarms <= 23


def test_few_batches_are_refused(measured: tuple[Yardstick, Halves]) -> None:
    with pytest.raises(InputError, match=f"9 good batches .* takes {LEAST_BATCHES}: give more"):
        learned([events(50, k) for k in range(9)] + [events(3, 1)], measured)


def test_it_is_kept_with_the_yardstick(good: list[Array], measured: tuple[Yardstick, Halves]) -> None:
    yardstick = with_spread(measured[0], learned(good, measured))
    again = Yardstick.from_arrays(yardstick.names, yardstick.units, yardstick.to_arrays())
    assert again.ways == yardstick.ways > 0
    readings = yardstick.read(yardstick.sums(good[0])[None])
    np.testing.assert_array_equal(again.statistics(readings), yardstick.statistics(readings))
    assert not np.allclose(again.statistics(readings), measured[0].statistics(readings))
