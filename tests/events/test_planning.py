"""Which events units and widths are learned from."""

import numpy as np
import pytest

from lanner.events import Sample
from lanner.events.planning import for_planning, planning_rows


def test_a_sample_that_is_not_too_large_is_taken_whole() -> None:
    sample = Sample.of(np.arange(20.0))
    assert for_planning(sample, most=20) is sample


def test_of_very_many_events_a_random_part_is_taken_that_everybody_takes(rng: np.random.Generator) -> None:
    sample = Sample.of(rng.normal(size=(5000, 2)))
    some = for_planning(sample, most=1000)
    assert len(some) == 1000
    np.testing.assert_array_equal(some.features, for_planning(sample, most=1000).features)
    rows = planning_rows(5000, most=1000)
    assert (np.diff(rows) > 0).all()
    assert rows.mean() == pytest.approx(2500, abs=4 * 5000 / 12**0.5 / 1000**0.5)


def test_other_numbers_of_events_take_other_ones() -> None:
    assert not np.array_equal(planning_rows(5000, most=10), planning_rows(5001, most=10))
