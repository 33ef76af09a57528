"""Which values are recognised as missing, and which kinds of columns are left alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events.missing import ABSENT, Missing, placeholders, refuse_absent

Column = NDArray[np.float64]
N = 8000


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def with_value(x: Column, value: float, share: float) -> Column:
    x = x.copy()
    x[: round(share * len(x))] = value
    return x


CONTINUOUS = {
    "normal": rng().normal(size=N),
    "exponential": rng().exponential(30.0, N) + 20.0,
    "heavy tail": rng().standard_cauchy(N),
    "single precision": rng().normal(size=N).astype(np.float32).astype(float),
    "two decimals": rng().uniform(-2.5, 2.5, N).round(2),
    "whole degrees": rng().uniform(-180, 180, N).round(),
    "angle": rng().uniform(-np.pi, np.pi, N),
    "a hundred events": rng().normal(size=100),
    "many events, rounded": rng().normal(50, 10, 100_000).round(1),
    "mostly zero": np.where(rng().random(N) < 0.8, 0.0, rng().exponential(size=N)),
}


@pytest.mark.parametrize("kind", CONTINUOUS)
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_a_value_far_from_a_continuous_column_is_missing(kind: str, share: float) -> None:
    # A Cauchy column of 8000 reaches to several thousand.
    value = -1e7 if kind == "heavy tail" else -999.0
    assert placeholders(with_value(CONTINUOUS[kind], value, share)) == {value: share}


@pytest.mark.parametrize("kind", CONTINUOUS)
def test_a_continuous_column_alone_has_none(kind: str) -> None:
    assert placeholders(CONTINUOUS[kind]) == {}


LEFT_ALONE = {
    "flag": (rng().random(N) < 0.01).astype(float),
    "charge": rng().choice([-1.0, 0.0, 1.0], N),
    "count": rng().poisson(3.0, N).astype(float),
    "count with an overflow": np.where(rng().random(N) < 0.01, 99.0, rng().poisson(3.0, N)),
    "run numbers": rng().choice([297730.0, 304008.0, 320000.0], N),
    "mostly zero": CONTINUOUS["mostly zero"],
    "saturated": np.minimum(rng().exponential(size=N), 4.0),
    "constant": np.full(N, -999.0),
    "constant but for a few": with_value(np.full(N, 2.0), 7.0, 0.1),
    "cut at a threshold": np.maximum(rng().normal(size=N), -1.0),
    "two values alone": with_value(np.full(N, 0.0), -999.0, 0.5),
}


@pytest.mark.parametrize("kind", LEFT_ALONE)
def test_other_kinds_of_columns_are_left_alone(kind: str) -> None:
    assert placeholders(LEFT_ALONE[kind]) == {}


def test_several_values_may_be_missing() -> None:
    x = with_value(with_value(rng().normal(size=N), -999.0, 0.3), -9999.0, 0.1)
    assert placeholders(x) == {-9999.0: 0.1, -999.0: pytest.approx(0.2)}


def test_neighbouring_codes_are_both_missing() -> None:
    x = with_value(with_value(rng().normal(size=N), -999.0, 0.8), -998.0, 0.4)
    assert set(placeholders(x)) == {-999.0, -998.0}


def test_both_signs_may_be_missing() -> None:
    x = with_value(with_value(rng().normal(size=N), -999.0, 0.2), 999.0, 0.1)
    assert set(placeholders(x)) == {-999.0, 999.0}


def test_a_value_near_the_others_stays_a_number() -> None:
    assert placeholders(with_value(rng().uniform(0, 1, N), -0.5, 0.1)) == {}


def test_a_value_of_few_rows_stays_a_number() -> None:
    x = rng().normal(size=N)
    x[:4] = -999.0
    assert placeholders(x) == {}


def test_an_outlier_that_nobody_shares_stays_a_number() -> None:
    x = rng().normal(size=N)
    x[:50] = -np.arange(50.0) * 1000
    assert placeholders(x) == {}


@given(share=st.floats(0.001, 0.95), value=st.sampled_from([-999.0, 1e5, -99.9]), seed=st.integers(0, 100))
def test_whatever_its_share(share: float, value: float, seed: int) -> None:
    x = with_value(np.random.default_rng(seed).normal(size=N), value, share)
    assert placeholders(x) == {value: round(share * N) / N}


def test_the_indicator_has_mean_0_and_spread_1() -> None:
    absent, present = Missing("x", -999.0, 0.1).levels
    column = np.repeat([present, absent], [100, 900])
    assert column.mean() == pytest.approx(0.0, abs=1e-12)
    assert column.std() == pytest.approx(1.0)


def test_single_precision_does_not_hide_the_value() -> None:
    one = Missing("x", -999.9, 0.1)
    assert one.rows(np.array([-999.9, np.float32(-999.9), -999.8, 0.0]), 1.0).tolist() == [True, True, False, False]


@pytest.mark.parametrize(("value", "share"), [(np.nan, 0.1), (-999.0, 0.0), (-999.0, 1.0)])
def test_what_cannot_be_a_missing_value_is_refused(value: float, share: float) -> None:
    with pytest.raises(InputError, match="share above 0 and below 1"):
        Missing("x", value, share)


# Objects that an event does not have


@pytest.mark.parametrize(
    "column", [rng().normal(size=N), np.resize([-1.0, 1.0], N), np.ones(N), -rng().exponential(1e6, N)]
)
@pytest.mark.parametrize("rows", [1, 3000])
def test_an_object_that_is_not_there_is_missing_in_any_column(column: Column, rows: int) -> None:
    x = column.copy()
    x[:rows] = ABSENT
    assert placeholders(x) == {ABSENT: rows / N}


def test_other_values_are_recognised_beside_it() -> None:
    x = with_value(with_value(rng().normal(size=N), -999.0, 0.2), ABSENT, 0.1)
    assert placeholders(x) == {ABSENT: 0.1, -999.0: pytest.approx(0.1)}


def test_it_is_the_same_number_in_single_precision() -> None:
    assert float(np.float32(ABSENT)) == ABSENT


def test_it_is_refused_where_it_would_be_a_number() -> None:
    x = np.array([1.0, 2.0, ABSENT])
    refuse_absent(x, {ABSENT}, "column 'x'")
    refuse_absent(x[:2], {}, "column 'x'")
    with pytest.raises(InputError, match=r"column 'x' is missing in 1 of 3 events.*scaling='robust'.*where="):
        refuse_absent(x, {}, "column 'x'")
    with pytest.raises(InputError, match="column 'x' is missing in every event"):
        refuse_absent(x[2:], {}, "column 'x'")
