"""Counts of features in bins, and which feature departs."""

import numpy as np
import pytest
from scipy import stats

from lanner.monitor.bins import BINS, Bins, FeatureDeparture
from tests.monitor.conftest import events

REFERENCE = events(20_000, 1)
NAMES = ("energy", "angle")


def test_counts_add_up_and_miss_no_event() -> None:
    bins = Bins.of(NAMES, REFERENCE, None)
    batch = np.vstack([events(300, 2), [[1e9, -1e9]]])
    counts = bins.counts(batch[:100]) + bins.counts(batch[100:])
    np.testing.assert_array_equal(counts, bins.counts(batch))
    assert counts[:BINS].sum() == counts[BINS:].sum() == 301


def test_bins_hold_equal_shares_of_the_reference() -> None:
    bins = Bins.of(NAMES, REFERENCE, None)
    for share in bins.shares:
        np.testing.assert_allclose(share, 1 / BINS, atol=1e-3)


def test_values_that_many_events_share_have_bins_of_their_own() -> None:
    charge = np.repeat([-1.0, 1.0, 2.0], [500, 400, 100])[:, None]
    bins = Bins.of(("charge",), charge, None)
    np.testing.assert_array_equal(bins.edges[0], [-np.inf, 1.0, 2.0])
    np.testing.assert_allclose(bins.shares[0], [0.5, 0.4, 0.1])


def test_weights_count_as_repeated_rows_do() -> None:
    weights = np.random.default_rng(1).integers(1, 4, len(REFERENCE))
    by_weight = Bins.of(NAMES, REFERENCE, weights.astype(float))
    repeated = np.repeat(REFERENCE, weights, axis=0)
    for edges, share, column in zip(by_weight.edges, by_weight.shares, repeated.T, strict=True):
        counts = np.histogram(column, [*edges, np.inf])[0]
        np.testing.assert_allclose(share, counts / counts.sum())


def test_z_is_that_of_a_chi2() -> None:
    bins = Bins.of(NAMES, REFERENCE, None)
    batch = events(400, 5)
    found = {d.name: d.z_score for d in bins.departures(bins.counts(batch), 20_000.0)}
    for name, edges, share, column in zip(NAMES, bins.edges, bins.shares, batch.T, strict=True):
        counts = np.histogram(column, [*edges, np.inf])[0]
        chi2 = np.sum((counts - 400 * share) ** 2 / (400 * share * (1 + 400 / 20_000)))
        assert found[name] == pytest.approx(stats.norm.isf(stats.chi2.sf(chi2, BINS - 1)), rel=1e-6)


def test_the_feature_that_departs_comes_first_with_its_place() -> None:
    bins = Bins.of(NAMES, REFERENCE, None)
    batch = events(400, 6)
    batch[:60, 1] = 0.5
    first, second = bins.departures(bins.counts(batch), 20_000.0)
    assert (first.name, second.name) == ("angle", "energy")
    assert first.low <= 0.5 < first.high
    assert first.observed > 60 > first.expected
    assert first.words.startswith("angle: ")


def test_a_departure_beyond_what_numbers_hold_has_a_finite_z() -> None:
    bins = Bins.of(NAMES, REFERENCE, None)
    batch = np.full((100_000, 2), 0.1)
    assert all(30 < d.z_score < 1e6 for d in bins.departures(bins.counts(batch), 20_000.0))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(-np.inf, 2.0, "below 2"), (3.0, np.inf, "from 3 on"), (1.0, 1.0, "at 1"), (0.5, 1.0, "between 0.5 and 1")],
)
def test_the_range_is_told_in_words(low: float, high: float, words: str) -> None:
    assert FeatureDeparture("x", 1.0, low, high, 1.0, 1.0).range == words


def test_there_and_back_as_arrays() -> None:
    bins = Bins.of(NAMES, REFERENCE, None)
    again = Bins.from_arrays(NAMES, bins.to_arrays())
    assert again.names == bins.names
    for made, read in ((bins.edges, again.edges), (bins.shares, again.shares)):
        np.testing.assert_array_equal(np.concatenate(made), np.concatenate(read))
