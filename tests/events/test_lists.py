"""Lists of numbers: what awkward and plain Python say of the same lists."""

import math

import awkward as ak
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanner.errors import InputError
from lanner.events.lists import REDUCERS, Lists

floats = st.floats(-1e6, 1e6)
nested = st.lists(st.lists(floats, max_size=5), min_size=1, max_size=12)


def lists_of(rows):
    return Lists.of(ak.values_astype(ak.Array([*rows, [0.0]])[:-1], np.float64), "column 'a'")


def rows_of(lists):
    return [lists.content[a:b].tolist() for a, b in zip(lists.offsets, lists.offsets[1:], strict=False)]


@given(nested)
def test_lists_come_back_as_they_were(rows):
    assert rows_of(lists_of(rows)) == rows
    assert len(lists_of(rows)) == len(rows)


@given(nested, st.data())
def test_rows_are_taken_by_slice_and_by_condition(rows, data):
    lists = lists_of(rows)
    start, stop = data.draw(st.integers(-12, 12)), data.draw(st.integers(-12, 12))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), dtype=bool)
    assert rows_of(lists[start:stop]) == rows[start:stop]
    assert rows_of(lists[start:stop][:1]) == rows[start:stop][:1]
    assert rows_of(lists[mask]) == [row for row, kept in zip(rows, mask, strict=True) if kept]


@given(nested, st.integers(-6, 6))
def test_an_object_is_that_of_python_or_missing(rows, index):
    values, absent = lists_of(rows).item(index)
    for row, value, missing in zip(rows, values.tolist(), absent.tolist(), strict=True):
        there = -len(row) <= index < len(row)
        assert missing is not there
        assert value == row[index] if there else math.isnan(value)


@settings(deadline=None)
@given(nested)
def test_one_value_of_a_list_is_what_awkward_says_to_the_last_digit(rows):
    lists = lists_of(rows)
    array = ak.unflatten(lists.content, lists.counts)
    for name in ("sum", "max", "min"):
        wanted = getattr(ak, name)(array, axis=1)
        np.testing.assert_array_equal(REDUCERS[name](lists), ak.to_numpy(ak.fill_none(wanted, np.nan)))
    positive = lists.like(lists.content > 0)
    assert REDUCERS["count"](lists).tolist() == [len(row) for row in rows]
    assert REDUCERS["count"](positive).tolist() == [sum(value > 0 for value in row) for row in rows]
    assert REDUCERS["any"](positive).tolist() == [any(value > 0 for value in row) for row in rows]
    assert REDUCERS["all"](positive).tolist() == [all(value > 0 for value in row) for row in rows]


def test_of_nothing_there_is_no_largest_and_the_others_are_0_false_and_true():
    nothing = Lists(np.array([0, 0]), np.empty(0))
    conditions = nothing.like(np.empty(0, dtype=bool))
    assert {name: REDUCERS[name](nothing).tolist() for name in ("count", "sum")} == {"count": [0], "sum": [0]}
    assert {name: REDUCERS[name](conditions).tolist() for name in ("any", "all")} == {"any": [False], "all": [True]}
    assert np.isnan(REDUCERS["max"](nothing)).all()
    assert np.isnan(REDUCERS["min"](nothing)).all()


def test_nan_in_a_list_is_not_passed_over():
    lists = lists_of([[1.0, np.nan], [np.nan], [2.0], [-np.inf]])
    for name in ("max", "min", "sum"):
        np.testing.assert_array_equal(REDUCERS[name](lists), [np.nan, np.nan, 2, -np.inf])


def test_numbers_that_are_not_there_are_nan_and_lists_that_are_not_there_are_empty():
    lists = Lists.of(ak.Array([[1.0, None], None, [3.0]]), "column 'a'")
    assert lists.counts.tolist() == [2, 0, 1]
    np.testing.assert_array_equal(lists.content, [1, np.nan, 3])


def test_arrays_of_one_length_are_lists_too():
    assert rows_of(Lists.of(ak.Array(np.arange(4.0).reshape(2, 2)), "column 'a'")) == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("array", "why"), [([[[1.0]]], "2 levels of lists"), ([["a"]], "column 'a'"), ([1.0], "0 levels of lists")]
)
def test_other_things_than_lists_of_numbers_are_refused(array, why):
    with pytest.raises(InputError, match=why):
        Lists.of(ak.Array(array), "column 'a'")


def test_bytes_are_those_of_numbers_and_offsets():
    assert lists_of([[1.0, 2.0], []]).nbytes == 2 * 8 + 3 * 8
