"""Columns as arrays of float64, and checks that name the columns at fault."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lanner.errors import InputError
from lanner.events import columns
from lanner.events.columns import (
    array_problem,
    as_array,
    as_float,
    as_names,
    as_source,
    as_table,
    as_weights,
    check_finite,
    check_known,
    check_types,
    column_keys,
    common_length,
    read_only,
    stack,
)
from lanner.events.io import read_sample


class Histogram:
    """As UHI says of histograms; `hist.Hist` is one."""

    kind = "COUNT"

    def values(self):
        """The contents."""
        return np.ones(100)

    def __array__(self, dtype=None, copy=None):
        return np.ones(100)


def refused(*parts):
    return pytest.raises(InputError, match="".join(f"(?=.*{re.escape(part)})" for part in parts))


@pytest.mark.parametrize(
    "source",
    [{"a": [1.0]}, pd.DataFrame({"a": [1.0]}), pa.table({"a": [1.0]}), np.ones(1, dtype=[("a", float)])],
    ids=["dict", "pandas", "pyarrow", "records"],
)
def test_what_has_named_columns_stays_as_it_is(source):
    assert as_source(source, "data") is source
    assert list(column_keys(source, "data")) == ["a"]


def test_a_list_becomes_an_array_without_names():
    array = as_source([[1, 2], [3, 4]], "data")
    assert array.tolist() == [[1, 2], [3, 4]]
    assert column_keys(array, "data") is None


def test_keys_lead_from_names_to_columns():
    frame = pd.DataFrame({0: [1.0], 1: [2.0]})
    assert {name: frame[key].item() for name, key in column_keys(frame, "data").items()} == {"0": 1.0, "1": 2.0}


@pytest.mark.parametrize(("shape", "wanted"), [((3,), (3, 1)), ((3, 2), (3, 2)), ((1, 1), (1, 1))])
def test_a_table_has_two_dimensions(shape, wanted):
    assert as_table(np.ones(shape), "data").shape == wanted


def test_a_table_is_a_view():
    array = np.ones(3)
    assert np.shares_memory(as_table(array, "data"), array)


@given(st.lists(st.lists(st.floats(allow_nan=False), min_size=4, max_size=4), min_size=1, max_size=5))
def test_stacked_columns_are_numpys_column_stack(values):
    named = {f"c{j}": column for j, column in enumerate(values)}
    np.testing.assert_array_equal(stack(named, "data"), np.column_stack(values))


@given(arrays(np.float64, 5), arrays(bool, 5))
def test_masked_numbers_are_nan_and_the_others_untouched(values, mask):
    found = as_float(np.ma.array(values, mask=mask))
    np.testing.assert_array_equal(found, np.where(mask, np.nan, values))


def test_rows_keep_their_masks():
    rows = [np.ma.array([1, 2], mask=[False, True]), np.ma.array([3, 4])]
    assert np.ma.getmaskarray(as_array(rows, "data")).tolist() == [[False, True], [False, False]]


@given(arrays(np.float64, 4, elements=st.floats(0, 1e6)).filter(lambda w: w.sum() > 0))
def test_weights_are_returned_as_they_are(weights):
    np.testing.assert_array_equal(as_weights(weights.tolist(), 4, "the weights"), weights)


def test_names_are_plain_strings():
    (name,) = as_names(np.array(["pt"]), "data")
    assert type(name) is str
    assert as_names("pt", "data") == ("pt",)


def test_a_read_only_view_leaves_the_array_writeable():
    array = np.ones(3)
    view = read_only(array)
    assert not view.flags.writeable
    assert array.flags.writeable
    assert np.shares_memory(view, array)


def test_known_names_pass_and_a_misspelt_one_brings_the_nearest():
    check_known(["pt"], ["eta", "pt"], "data")
    with refused("data has no column 'pt_1' (nearest: 'pt1')", "choose from its columns: 'pt1', 'eta'"):
        check_known(["pt_1", "eta"], ["pt1", "eta"], "data")


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 3), max_size=4))
def test_columns_have_one_length_or_are_refused(lengths):
    named = {name: range(length) for name, length in lengths.items()}
    if len(set(lengths.values())) > 1:
        with refused("the columns of data differ in length", "one value per event"):
            common_length(named, "data")
    else:
        assert common_length(named, "data") == next(iter(lengths.values()), 0)


@pytest.mark.parametrize(
    ("dtype", "shape", "wanted"),
    [
        ("f8", (3,), None),
        ("?", (3,), None),
        ("f8", (3, 2), "has shape (3, 2)"),
        ("f8", (), "has shape ()"),
        (("f8", (2,)), (3,), "has shape (3, 2)"),
        ("U5", (3,), "holds text"),
        ("S5", (3,), "holds text"),
        ("c16", (3,), "holds values of type complex128"),
        ("M8[s]", (3,), "holds values of type datetime64[s]"),
    ],
)
def test_only_one_real_number_per_event_is_no_problem(dtype, shape, wanted):
    assert array_problem(np.dtype(dtype), shape) == wanted


def test_only_the_columns_that_are_no_numbers_are_blamed():
    mixed = {"a": np.array([1, 2], dtype=object), "b": np.array([1, "x"], dtype=object), "c": np.ones(2)}
    with refused("column 'b' (dtype object, such as 'x')") as caught:
        check_types(mixed, "data")
    assert "'a'" not in str(caught.value)
    assert "'c'" not in str(caught.value)


@given(st.sets(st.integers(0, 9)), st.integers(1, 12))
def test_values_that_are_not_finite_are_counted_through_all_blocks(rows, block):
    table = np.ones((10, 2))
    table[sorted(rows), 1] = np.inf
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_CHECKED", block)
        if rows:
            with refused(f"column 'b' ({len(rows)} of 10 rows)"):
                check_finite(table, ("a", "b"), "data")
        else:
            check_finite(table, ("a", "b"), "data")


@pytest.mark.parametrize(
    ("source", "say"),
    [
        ("mc.root", r"the file 'mc.root'.*lanner\.read_sample\('mc.root'\)\.sample"),
        (Path("mc.root"), r"the file 'mc.root'.*lanner\.read_sample"),
        (["a.csv", "b.csv"], r"a list of files.*lanner\.read_sample\(\['a.csv', 'b.csv'\]\)"),
        (Histogram(), "a histogram .*Histogram.*give those that it was filled with"),
        (read_sample({"x": [1.0, 2.0]}), "what read_sample returned: give its sample"),
    ],
)
def test_what_is_given_in_the_place_of_events_is_named(source, say):
    with pytest.raises(InputError, match=say):
        as_source(source, "reference")


def test_a_data_frame_with_a_column_called_kind_is_no_histogram():
    frame = pd.DataFrame({"kind": [1.0], "values": [2.0]})
    assert as_source(frame, "reference") is frame


def test_a_signalling_nan_is_nan_without_a_word():
    signalling = np.array([0x7FA00000], dtype=np.uint32).view(np.float32)  # pytest makes errors of warnings
    assert np.isnan(as_float(signalling)).all()
