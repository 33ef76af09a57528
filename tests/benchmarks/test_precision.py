"""The statistic of a search in single and in double precision, by bunches and by single events: one p-value."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanner.model import bunches

FOLDER = Path(__file__).parents[2] / "benchmarks"
TOYS, DATA_SETS = 150, 8


@pytest.fixture(scope="module")
def precision() -> Any:
    sys.path.insert(0, str(FOLDER))  # where the scripts find what they share
    try:
        import precision
    finally:
        sys.path.remove(str(FOLDER))
    return precision


@pytest.mark.parametrize("shape", ["1-D", "5-D", "8-D"])
def test_the_fast_way_double_precision_and_single_events_agree(
    precision: Any, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bunches, "MANY", 1000)  # so that some thousand events are summed in bunches too
    assert bunches.bunch_size(*precision.SMALL[shape][1:]) == 5
    double, by_event, all_moments = precision.compare(*precision.SMALL[shape], toys=TOYS, data_sets=DATA_SETS)
    for found in (double, by_event):
        assert 0 < found.largest < precision.ALLOWED  # of the spread over null toys; they are not the same numbers
        assert found.is_small
        assert found.smallest_p[0] == found.smallest_p[1]
    assert double.same == 1.0
    assert all_moments.largest == pytest.approx(by_event.largest, abs=1e-3)  # of few events all are taken anyway


def test_a_statistic_that_is_off_is_noticed(precision: Any) -> None:
    rng = np.random.default_rng(3)
    t = rng.chisquare(5.0, (2, 600))
    right = precision.p_values(t, [None, None], 200, 560)
    off = t.copy()
    off[:, 560:] *= 1.5
    wrong = precision.p_values(off, [None, None], 200, 560)
    assert (wrong <= right).all()
    assert (wrong < right).any()
    assert not precision.Difference("double", 0.02, 0.001, 1.0, 0, (0.1, 0.1)).is_small
    assert not precision.Difference("double", 0.001, 0.001, 0.9, 2, (0.1, 0.1)).is_small
