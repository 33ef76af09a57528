"""What is counted of toys, by results of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from lanner.inference.null import Null
from lanner.inference.sequential import Stopping
from lanner.inference.tail import fit_tail
from lanner.run.counted import Counted


class Of(Counted):
    def __init__(self, statistic: float, toys: np.ndarray, stopping: Stopping | None = None) -> None:
        self.statistic, self.stopping = statistic, stopping
        self.null = Null("reference", toys, np.ones(len(toys), dtype=bool))


def test_toys_as_extreme_are_counted_with_the_data_among_them() -> None:
    result = Of(7.5, np.arange(10.0))
    assert (result.empirical.exceedances, result.p_value) == (2, 3 / 11)
    assert result.p_value_interval[0] < 0.2 < result.p_value_interval[1]


def test_toys_that_were_made_until_enough_are_as_extreme_give_another_p() -> None:
    toys = np.tile([0.0, 1.0], 500)
    stopping = Stopping.automatic(1000)
    assert stopping is not None
    assert Of(0.5, toys, stopping).p_value == pytest.approx(0.5, abs=0.01)


def test_a_tail_is_quoted_only_where_few_toys_are_as_extreme() -> None:
    toys = np.random.default_rng(1).exponential(size=2000)
    tail = fit_tail(toys, rng=np.random.default_rng(2))
    beyond = Of(9.0, toys)._by_tail(tail)
    assert beyond is not None
    assert np.log(beyond.p_value) == pytest.approx(-9.0, abs=1.5)
    assert Of(3.0, toys)._by_tail(tail) is None  # which a hundred toys reach
    assert Of(9.0, toys)._by_tail(None) is None
