"""The unit of a column by the robust rule: against the normal distribution, and for each kind of column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events.units import constant_columns, learn_unit, moments, robust

Column = NDArray[np.float64]


def normal(n: int = 20_001, seed: int = 1) -> Column:
    return np.random.default_rng(seed).normal(3.0, 2.0, n)


def test_of_a_normal_column_it_is_the_standard_deviation() -> None:
    shift, scale = robust(normal())
    assert shift == pytest.approx(3.0, abs=0.05)
    assert scale == pytest.approx(2.0, rel=0.03)


def test_wild_values_move_it_little() -> None:
    x = normal()
    clean = robust(x)
    x[:20] = 1e6
    np.testing.assert_allclose(robust(x), clean, rtol=0.01)


def test_a_heavy_tail_keeps_the_unit_of_its_core() -> None:
    _, scale = robust(np.random.default_rng(1).standard_cauchy(20_001))
    assert scale == pytest.approx(np.tan(0.6826895 * np.pi / 2), rel=0.05)


@pytest.mark.parametrize("share", [0.002, 0.05, 0.14, 0.3])
def test_a_flag_has_its_mean_and_standard_deviation(share: float) -> None:
    x = (np.arange(10_000) < round(share * 10_000)).astype(float)
    shift, scale = robust(x)
    assert shift == pytest.approx(share)
    assert scale == pytest.approx((share * (1 - share)) ** 0.5)


def test_a_very_rare_flag_has_them_too() -> None:
    x = np.zeros(10_000)
    x[7] = 1.0
    assert robust(x) == moments(x)


@pytest.mark.parametrize("zeros", [0.55, 0.8, 0.841, 0.843, 0.9])
def test_a_column_that_is_mostly_zero_has_the_unit_of_its_spread(zeros: float) -> None:
    rng = np.random.default_rng(2)
    x = np.where(rng.random(20_000) < zeros, 0.0, rng.exponential(size=20_000))
    assert 0.8 < robust(x)[1] / x.std() < 1.01


def test_wild_values_do_not_rule_a_count_with_one_common_value() -> None:
    x = np.random.default_rng(3).poisson(0.2, 20_000).astype(float)
    clean = robust(x)
    x[:10] = 1e5
    np.testing.assert_allclose(robust(x), clean, rtol=0.05)


def test_a_balanced_charge_has_a_unit_of_its_own_size() -> None:
    x = np.repeat([-1.0, 1.0], [4900, 5100])
    assert robust(x)[1] == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize("value", [0.0, 1.0, -3e5, 1e-9])
def test_what_never_varies_has_a_unit_that_makes_any_other_value_far(value: float) -> None:
    shift, scale = robust(np.full(100, value))
    assert shift == value
    assert 0 < scale <= 1e-6 * max(1.0, abs(value))


@given(factor=st.sampled_from([2.0**-900, 0.5, 2.0**40, 2.0**900]), seed=st.integers(0, 20))
def test_it_follows_a_change_of_units_to_the_last_bit(factor: float, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=50)
    assert robust(factor * x) == tuple(factor * part for part in robust(x))


@pytest.mark.parametrize("rule", ["robust", "standard"])
def test_a_spread_below_the_normal_numbers_is_refused(rule: str) -> None:
    with pytest.raises(InputError, match=r"column 'x' has a spread of .*smaller units"):
        learn_unit(np.array([0.0, 0.0, 5e-324]), rule, "column 'x'")


def test_constant_columns_are_found_where_rounding_gives_them_a_spread() -> None:
    assert constant_columns(np.column_stack([np.full(1000, 0.1), np.arange(1000.0)])).tolist() == [0]
