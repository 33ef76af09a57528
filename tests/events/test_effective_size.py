from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lanner.events import Sample
from lanner.events.effective_size import EffectiveSize, effective_size, is_discrete

RNG = np.random.default_rng(1)
X = RNG.normal(size=(2000, 3))
JETS = RNG.poisson(0.7, 2000)
PT = np.where(JETS > 0, RNG.exponential(50, 2000), -999)
CELLS = np.sort(RNG.normal(size=40))  # no even steps


def size(rows: NDArray[Any], weights: NDArray[Any] | None = None) -> EffectiveSize:
    return effective_size(Sample.of(rows, weights=weights))


ONCE: dict[str, NDArray[Any]] = {
    "continuous": X,
    "single precision": RNG.random((100_000, 1), dtype=np.float32),
    "integers": RNG.poisson(5, (2000, 2)),
    "two values": RNG.integers(0, 2, 2000),
    "two decimals": RNG.exponential(50, 2000).round(2),
    "two decimals in single precision": RNG.exponential(1000, 2000).round(2).astype(np.float32),
    "bin centres and a placeholder": np.where(JETS > 0, np.floor(10 * X[:, 0]) / 10 + 0.05, -999),
    "by two ways": np.concatenate([np.arange(1, 500) / 10, np.arange(1, 500) * 0.1]),
    "mostly zero": np.where(JETS > 2, X[:, 0], 0),
    "clipped at both ends": np.clip(X[:, 0], -1, 1.5),
    "a number of jets and the momentum of the first": np.column_stack([JETS, PT]),
    "cells": CELLS[np.minimum(39, RNG.poisson(12, 2000))],
    "cells in two directions": CELLS[RNG.integers(0, 40, (2000, 2))],
}


@pytest.mark.parametrize("kind", ONCE)
def test_what_repeats_by_itself_is_no_copy(kind: str) -> None:
    found = size(ONCE[kind])
    assert not found.has_copies
    assert found.worth == pytest.approx(found.events, rel=0.01)
    assert str(found) == f"{found.events} events"


@pytest.mark.parametrize(
    "kind",
    ["continuous", "single precision", "clipped at both ends", "a number of jets and the momentum of the first"],
)
def test_an_event_written_five_times_is_one(kind: str) -> None:
    found = size(np.repeat(ONCE[kind], 5, axis=0))
    assert found.has_copies
    assert found.worth == pytest.approx(len(ONCE[kind]), rel=0.01)


def test_a_bootstrap_is_worth_what_its_counts_say() -> None:
    rows = RNG.integers(2000, size=10_000)
    counts = np.bincount(rows)
    found = size(X[rows])
    assert found.worth == pytest.approx(10_000**2 / (counts @ counts))
    assert found.distinct == np.count_nonzero(counts)


def test_one_continuous_column_is_enough_to_tell_copies() -> None:
    assert size(np.repeat(np.column_stack([JETS, X[:, 0]]), 3, axis=0)).worth == pytest.approx(2000)


def test_weights_count_as_kish_has_it() -> None:
    weights = RNG.exponential(size=2000)
    assert size(X, weights).worth == pytest.approx(Sample.of(X, weights=weights).worth)


def test_copies_of_an_event_have_the_sum_of_their_weights() -> None:
    weights = RNG.exponential(size=2000)
    whole = size(X, weights)
    split = size(np.repeat(X, 2, axis=0), np.repeat(weights / 2, 2))
    assert split.worth == pytest.approx(whole.worth)


def test_rows_of_no_weight_do_not_count() -> None:
    found = size(np.vstack([X, X]), np.repeat([1.0, 0.0], 2000))
    assert (found.events, found.used, found.distinct) == (4000, 2000, 2000)
    assert found.worth == pytest.approx(2000)
    assert str(found) == "4000 events, worth 2000 because of their weights"


def test_zero_and_minus_zero_are_one_value() -> None:
    rows = np.vstack([X, X])
    rows[:, 0] = np.where(np.arange(4000) < 2000, 0.0, -0.0)
    assert size(rows).worth == pytest.approx(2000)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_no_scale_is_too_small_or_too_large(scale: float) -> None:
    weights = np.full(2000, scale)
    assert size(np.repeat(scale * X, 2, axis=0), np.repeat(weights, 2)).worth == pytest.approx(2000)


def test_a_fine_lattice_with_few_values_on_it_explains_no_ties() -> None:
    assert not is_discrete(np.unique(RNG.normal(size=500).round(7)))
    assert is_discrete(np.unique(RNG.normal(size=5000).round(3)))


def test_a_single_column_drawn_with_replacement_unequally_often_is_noticed() -> None:
    weights = RNG.exponential(size=2000)
    rows = RNG.choice(2000, 40_000, p=weights / weights.sum())
    counts = np.bincount(rows)
    # The most frequent values pass for placeholders.
    assert size(X[rows, 0]).worth == pytest.approx(40_000**2 / (counts @ counts), rel=0.1)


def test_copies_among_events_that_are_none_are_noticed() -> None:
    column = np.concatenate([np.repeat(X[:1000, 0], 20), X[1000:1500, 0]])
    assert size(column).worth == pytest.approx(20_500**2 / (1000 * 400 + 500))


def test_categories_with_a_rare_far_value_are_no_copies() -> None:
    x = np.random.default_rng(1).integers(0, 3, (6000, 1)).astype(float)
    x[:5] = 1000.0
    assert not effective_size(Sample.of(x)).has_copies


def test_weights_that_matter_little_are_named_too() -> None:
    x = np.random.default_rng(1).normal(size=2000)
    size = effective_size(Sample.of(x, weights=np.random.default_rng(2).uniform(0.5, 1.0, 2000)))
    assert "because of their weights" in str(size)
