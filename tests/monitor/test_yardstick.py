"""What batches are measured by: means and moments of the reference, and where each sum is."""

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.monitor.yardstick import MOST_PIVOTS, Halves, Yardstick
from lanner.settings import FitSettings
from tests.monitor.conftest import BATCH, MEMORY, REFERENCE, events, reference


def test_the_halves_share_no_event_and_miss_none(measured: tuple[Yardstick, Halves]) -> None:
    _, halves = measured
    assert sorted([*halves.shaping, *halves.of_toys]) == list(range(REFERENCE))
    assert len(halves.shaping) == REFERENCE // 2


def test_pivots_are_events_of_the_half_that_shapes(measured: tuple[Yardstick, Halves]) -> None:
    yardstick, halves = measured
    shaping = {tuple(row) for row in halves.events[halves.shaping].round(9)}
    assert all(tuple(row) in shaping for width in yardstick.widths for row in width.pivots.round(9))


def test_means_are_those_of_the_other_events_of_the_reference(measured: tuple[Yardstick, Halves]) -> None:
    yardstick, halves = measured
    rows = halves.events[:]
    for width in yardstick.widths:
        k = np.exp(-0.5 * ((rows[:, None] - width.pivots[None, :5]) ** 2).sum(axis=2) / width.width**2)
        truth = (k.sum(axis=0) - 1) / (REFERENCE - 1)  # each pivot's own event has k = 1
        np.testing.assert_allclose(width.mean[:5], truth, rtol=1e-4)
        np.testing.assert_allclose(width.squares[:5], ((k**2).sum(axis=0) - 1) / (REFERENCE - 1), rtol=1e-4)


def test_directions_have_the_covariance_that_their_values_say(measured: tuple[Yardstick, Halves]) -> None:
    yardstick, halves = measured
    for width in yardstick.widths:
        k = width.kernel(halves.events[halves.shaping]).astype(float)
        along = width.project((k - k.mean(axis=0)).T)
        np.testing.assert_allclose(np.diag(along @ along.T) / along.shape[1], width.values, rtol=0.02)


def test_sums_have_a_place_each(measured: tuple[Yardstick, Halves]) -> None:
    yardstick, _ = measured
    batch = events(90, 2)
    sums = yardstick.sums(batch)
    assert sums.shape == (yardstick.columns,)
    assert sums[0] == 90
    scaled = yardstick.units.apply(batch)
    for k, width in enumerate(yardstick.widths):
        np.testing.assert_array_equal(sums[yardstick.part(k)], width.sums(scaled))
    np.testing.assert_array_equal(sums[yardstick.part_of_bins], yardstick.bins.counts(batch))


def test_sums_and_readings_add_up(measured: tuple[Yardstick, Halves]) -> None:
    yardstick, _ = measured
    batch = events(90, 2)
    parts = np.stack([yardstick.sums(batch[:40]), yardstick.sums(batch[40:])])
    whole = yardstick.sums(batch)
    np.testing.assert_allclose(parts.sum(axis=0), whole, rtol=1e-6, atol=1e-6)
    found = yardstick.statistics(yardstick.read(parts).sum(axis=0)[None])
    np.testing.assert_allclose(found, yardstick.statistics(yardstick.read(whole[None])), rtol=1e-3, atol=1e-4)


def test_every_statistic_has_a_label(measured: tuple[Yardstick, Halves]) -> None:
    yardstick, _ = measured
    found = yardstick.statistics(yardstick.read(yardstick.sums(events(90, 2))[None]))
    assert found.shape == (len(yardstick.labels), 1)
    assert len(set(yardstick.labels)) == len(yardstick.labels)


def test_no_width_has_more_pivots_than_it_pays() -> None:
    x = lanner.Sample.of(np.random.default_rng(1).standard_normal((4000, 6)))
    yardstick, _ = Yardstick.of(x, batch=100, largest=200, settings=FitSettings(), memory=MEMORY)
    assert max(w.rank for w in yardstick.widths) <= MOST_PIVOTS
    few, _ = Yardstick.of(x, batch=100, largest=200, settings=FitSettings(max_rank=30), memory=MEMORY)
    assert max(w.rank for w in few.widths) <= 30


def test_weights_of_one_change_nothing() -> None:
    plain = reference()
    weighted = lanner.Sample.of(plain.features, weights=np.ones(REFERENCE), names=plain.names)
    made = [
        Yardstick.of(s, batch=BATCH, largest=200, settings=FitSettings(seed=2), memory=MEMORY)[0]
        for s in (plain, weighted)
    ]
    batch = events(BATCH, 9)
    found = [y.statistics(y.read(y.sums(batch)[None])) for y in made]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_negative_weights_are_refused() -> None:
    weights = np.ones(REFERENCE)
    weights[:7] = -1
    sample = lanner.Sample.of(events(REFERENCE, 1), weights=weights)
    with pytest.raises(InputError, match="7 reference events have negative weights"):
        Yardstick.of(sample, batch=BATCH, largest=200, settings=FitSettings(), memory=MEMORY)


def test_there_and_back_as_arrays(measured: tuple[Yardstick, Halves]) -> None:
    yardstick, _ = measured
    again = Yardstick.from_arrays(yardstick.names, yardstick.units, yardstick.to_arrays())
    sums = yardstick.sums(events(90, 2))[None]
    np.testing.assert_array_equal(again.sums(events(90, 2)), sums[0])
    np.testing.assert_array_equal(again.statistics(again.read(sums)), yardstick.statistics(yardstick.read(sums)))
