"""Scaled rows of several tables against the same tables put together and scaled at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lanner.events import Scaling
from lanner.events.scaled_rows import ScaledRows

SCALING = Scaling(np.array([1.0, -2.0]), np.array([2.0, 0.5]), "standard", ("a", "b"))
lengths = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def tables_of(lengths):
    table = np.random.default_rng(1).normal(size=(sum(lengths), 2))
    return table, tuple(np.split(table, np.cumsum(lengths)[:-1]))


@given(lengths, st.data())
def test_a_slice_is_that_of_all_tables_together(lengths, data):
    table, tables = tables_of(lengths)
    start = data.draw(st.integers(0, len(table) - 1))
    rows = slice(start, data.draw(st.integers(start + 1, len(table))))
    np.testing.assert_array_equal(ScaledRows(tables, SCALING)[rows], SCALING.apply(table)[rows])


@given(lengths, st.data())
def test_rows_come_in_the_order_asked_for(lengths, data):
    table, tables = tables_of(lengths)
    rows = np.array(data.draw(st.lists(st.integers(0, len(table) - 1))), dtype=np.intp)
    np.testing.assert_array_equal(ScaledRows(tables, SCALING)[rows], SCALING.apply(table)[rows])


@given(lengths)
def test_the_length_is_that_of_all_tables(lengths):
    assert len(ScaledRows(tables_of(lengths)[1], SCALING)) == sum(lengths)
