"""What a `Sample` accepts, what it promises, and what its refusals say."""

import pickle
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lanner.errors import InputError
from lanner.events import Sample
from lanner.events.sample import check_varies

TABLE = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
COLUMNS = {"pt": [1.0, 2.0, 3.0], "eta": [10.0, 20.0, 30.0]}


class PolarsLike:
    """A frame with what polars offers: `.columns` as a list of strings, and columns by name."""

    def __init__(self, columns):
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name):
        return np.array(self._columns[name])


NAMED_SOURCES = {
    "dict": COLUMNS,
    "structured": np.array([(1.0, 10), (2.0, 20), (3.0, 30)], dtype=[("pt", ">f4"), ("eta", "i2")]),
    "pandas": pd.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
    "polars-like": PolarsLike(COLUMNS),
    "sample": Sample(TABLE, ("pt", "eta")),
}


def refusal(*parts):
    """Match a message that has all the parts, in any order."""
    return "".join(f"(?=.*{re.escape(part)})" for part in parts)


# What is accepted


@pytest.mark.parametrize("source", NAMED_SOURCES.values(), ids=NAMED_SOURCES)
def test_named_sources_give_the_same_sample(source):
    sample = Sample.of(source)
    assert sample.names == ("pt", "eta")
    np.testing.assert_array_equal(sample.features, TABLE)


@pytest.mark.parametrize("source", NAMED_SOURCES.values(), ids=NAMED_SOURCES)
def test_names_select_and_order_the_columns_of_named_sources(source):
    np.testing.assert_array_equal(Sample.of(source, names=["eta", "pt"]).features, TABLE[:, ::-1])
    np.testing.assert_array_equal(Sample.of(source, names="eta").features, TABLE[:, 1:])


@pytest.mark.parametrize("source", NAMED_SOURCES.values(), ids=NAMED_SOURCES)
def test_a_column_of_weights_is_no_feature(source):
    sample = Sample.of(source, weights="eta")
    assert sample.names == ("pt",)
    np.testing.assert_array_equal(sample.weights, TABLE[:, 1])


def test_a_column_of_weights_need_not_be_selected():
    sample = Sample.of({**COLUMNS, "w": [1, 2, 3]}, names=["eta"], weights="w")
    assert sample.names == ("eta",)
    assert sample.total_weight == 6


@pytest.mark.parametrize("source", [TABLE, TABLE.tolist(), np.asfortranarray(TABLE)])
def test_plain_tables_are_taken_by_position(source):
    sample = Sample.of(source, names=["pt", "eta"])
    np.testing.assert_array_equal(sample.features, TABLE)
    assert sample.names == ("pt", "eta")


def test_one_dimension_is_one_feature():
    sample = Sample.of([5.0, 6.0])
    assert sample.features.shape == (2, 1)
    assert sample.dimensions == 1


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "longdouble", ">f8"])
def test_real_numbers_of_any_type_become_float64(dtype):
    sample = Sample.of(np.array([[0, 1], [1, 0]], dtype=dtype), weights=np.array([1, 1], dtype=dtype))
    assert sample.features.dtype == sample.weights.dtype == np.dtype("=f8")
    assert sample.features.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_nullable_pandas_columns_without_gaps_are_numbers():
    frame = pd.DataFrame({"n": pd.array([1, 2], dtype="Int64"), "b": pd.array([True, False], dtype="boolean")})
    assert Sample.of(frame).features.tolist() == [[1.0, 1.0], [2.0, 0.0]]


def test_frame_columns_without_string_names_get_them():
    assert Sample.of(pd.DataFrame(TABLE)).names == ("0", "1")


def test_a_masked_array_without_masked_values_is_plain():
    assert Sample.of(np.ma.array(TABLE)).features.tolist() == TABLE.tolist()


def test_a_sample_is_returned_as_it_is():
    sample = Sample.of(TABLE)
    assert Sample.of(sample) is sample


def test_names_given_to_an_unnamed_sample_are_its_names():
    sample = Sample.of(Sample.of(TABLE, weights=[1, 2, 3]), names=["a", "b"])
    assert sample.names == ("a", "b")
    assert sample.weights.tolist() == [1, 2, 3]


def test_weights_given_with_a_sample_replace_its_own():
    sample = Sample.of(Sample.of(COLUMNS, weights=[1, 2, 3]), weights=[4, 5, 6])
    assert sample.weights.tolist() == [4, 5, 6]
    assert sample.names == ("pt", "eta")


def test_negative_weights_are_weights():
    assert Sample.of(TABLE, weights=[2.0, -0.5, 0.0]).total_weight == 1.5


# What is promised


@pytest.mark.parametrize("source", [TABLE, TABLE[::-1], np.asfortranarray(TABLE), TABLE.astype("f4")])
def test_arrays_are_contiguous_and_read_only(source):
    sample = Sample.of(source, weights=np.ones(6)[::2])
    for array in (sample.features, sample.weights):
        assert array.flags.c_contiguous
        assert not array.flags.writeable


def test_the_callers_arrays_stay_writeable_and_are_not_copied():
    table, weights = TABLE.copy(), np.ones(3)
    sample = Sample.of(table, weights=weights)
    assert table.flags.writeable
    assert weights.flags.writeable
    assert np.shares_memory(table, sample.features)
    assert np.shares_memory(weights, sample.weights)


def test_a_sample_cannot_be_changed():
    with pytest.raises(AttributeError):
        Sample.of(TABLE).names = ("a", "b")  # type: ignore[misc]


def test_pickling_keeps_values_and_read_only():
    sample = pickle.loads(pickle.dumps(Sample.of(COLUMNS, weights=[1, 2, 3])))
    np.testing.assert_array_equal(sample.features, TABLE)
    assert sample.weights.tolist() == [1, 2, 3]
    assert not sample.features.flags.writeable


def test_default_names_are_not_named():
    assert Sample.of(TABLE).names == ("x0", "x1")
    assert not Sample.of(TABLE).named
    assert Sample.of(COLUMNS).named


def test_total_weight_counts_events_without_weights():
    assert Sample.of(TABLE).total_weight == len(Sample.of(TABLE)) == 3


@pytest.mark.parametrize("rows", [[2, 0], np.array([2, 0]), slice(None, None, -2), pytest.param((2, 0), id="tuple")])
def test_take_picks_rows_in_order_with_their_weights(rows):
    taken = Sample.of(COLUMNS, weights=[1, 2, 3]).take(rows)
    assert taken.features[:, 0].tolist() == [3.0, 1.0]
    assert taken.weights.tolist() == [3.0, 1.0]
    assert taken.names == ("pt", "eta")


def test_take_understands_a_mask():
    assert Sample.of(COLUMNS).take(np.array([True, False, True])).features[:, 0].tolist() == [1.0, 3.0]


@pytest.mark.parametrize("rows", [[3], np.array([True, False]), [0.5]])
def test_take_refuses_rows_that_are_not_there(rows):
    with pytest.raises(InputError, match=refusal("3 events", "positions below 3")):
        Sample.of(COLUMNS).take(rows)


@pytest.mark.parametrize("rows", [[], np.zeros(3, dtype=bool), slice(0, 0)])
def test_take_of_no_rows_is_an_empty_sample(rows):
    with pytest.raises(InputError, match=refusal("the selection of rows", "no rows")):
        Sample.of(COLUMNS).take(rows)


def test_repr_tells_size_names_and_weights():
    assert repr(Sample.of(COLUMNS)) == "Sample(3 events, 2 features: pt, eta; unweighted)"
    weighted = Sample.of({"m": [7.0]}, weights=[0.25])
    assert repr(weighted) == "Sample(1 event, 1 feature: m; total weight 0.25)"


def test_repr_of_many_features_stays_short():
    assert repr(Sample.of(np.ones((2, 30)))).endswith("30 features: x0, x1, x2, x3, x4, x5, x6, x7, ...; unweighted)")


# What is refused, and how


def with_hole(value):
    return {"pt": [1.0, value, value], "eta": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_counted_by_column(value):
    with pytest.raises(InputError, match=refusal("toys", "column 'pt' (2 of 3 rows)", "drop")) as caught:
        Sample.of(with_hole(value), label="toys")
    assert "eta" not in str(caught.value)


def test_values_of_columns_that_are_not_selected_do_not_matter():
    assert Sample.of({**with_hole(np.nan), "tag": ["a", "b", "c"]}, names=["eta"]).names == ("eta",)


@pytest.mark.parametrize(
    "source",
    [
        np.ma.array(TABLE, mask=[[False, True], [False, False], [False, False]]),
        {"x0": [1, 2, 3], "x1": np.ma.array([1, 2, 3], mask=[True, False, False])},
        [np.ma.array([1, 2], mask=[False, True]), np.ma.array([1, 2]), np.ma.array([1, 2])],
        np.ma.array(
            [(1, 2), (3, 4), (5, 6)],
            dtype=[("x0", int), ("x1", int)],
            mask=[(False, True), (False, False), (False, False)],
        ),
        pd.DataFrame({"x0": [1, 2, 3], "x1": pd.array([None, 2.0, 3.0], dtype="Float64")}),
        pa.table({"x0": [1, 2, 3], "x1": [None, 2, 3]}),
    ],
    ids=["table", "dict", "list of rows", "structured", "pandas", "pyarrow"],
)
def test_masked_and_missing_values_are_refused_by_column(source):
    with pytest.raises(InputError, match=refusal("data", "column 'x1'")) as caught:
        Sample.of(source, label="data")
    assert "'x0'" not in str(caught.value)


def test_long_doubles_beyond_float64_are_refused_as_infinite():
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("long double is float64 here")
    with pytest.raises(InputError, match=refusal("column 'x0' (1 of 2 rows)")):
        Sample.of(np.array([1, np.longdouble("1e400")]))


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (["a", "b", "c"], "such as 'a'"),
        (np.array(["a", "b", "c"]), "dtype <U1"),
        (np.array([1, 2, 3], dtype=object), "dtype object"),
        ([1, None, 3], "such as None"),
        (np.array([1, 2, 3j]), "dtype complex128"),
        (np.array(["2020", "2021", "2022"], dtype="M8[s]"), "dtype datetime64[s]"),
        (np.array([1, 2, 3], dtype="m8[s]"), "dtype timedelta64[s]"),
        ([10**400, 1, 1], "dtype object"),
    ],
)
def test_columns_of_something_else_than_real_numbers_are_named(column, said):
    with pytest.raises(InputError, match=refusal("muons", "column 'tag'", said, "astype(float)")) as caught:
        Sample.of({"pt": [1, 2, 3], "tag": column}, label="muons")
    assert "'pt'" not in str(caught.value)


def test_a_string_in_a_list_of_rows_is_found():
    with pytest.raises(InputError, match=refusal("data", "column 'x1'", "such as 'high'")) as caught:
        Sample.of([[1.0, 2.0], [3.0, "high"]], label="data")
    assert "'x0'" not in str(caught.value)


@pytest.mark.parametrize("dtype", ["complex128", "object", "U4"])
def test_a_plain_array_of_another_type_is_refused(dtype):
    with pytest.raises(InputError, match=refusal("data", "column 'x0'", "column 'x1'")):
        Sample.of(TABLE.astype(dtype), label="data")


@pytest.mark.parametrize("source", [[], np.empty((0, 3)), {"pt": []}, pd.DataFrame({"pt": []})])
def test_no_rows(source):
    with pytest.raises(InputError, match=refusal("signal region", "no rows", "at least one event")):
        Sample.of(source, label="signal region")


@pytest.mark.parametrize("source", [[[], []], np.empty((3, 0)), {}, pd.DataFrame()])
def test_no_columns(source):
    with pytest.raises(InputError, match=refusal("data has no columns", "at least one feature")):
        Sample.of(source, label="data")


def test_no_rows_is_said_before_anything_about_types_or_weights():
    with pytest.raises(InputError, match=refusal("data is empty")):
        Sample.of({"pt": np.array([], dtype=object), "w": []}, weights="w", label="data")


def test_weights_alone_are_no_features():
    with pytest.raises(InputError, match=refusal("data has no columns")):
        Sample.of({"w": [1.0, 2.0]}, weights="w", label="data")


def test_more_than_two_dimensions():
    with pytest.raises(InputError, match=refusal("images", "3 dimensions", "(2, 3, 4)", "reshape")):
        Sample.of(np.ones((2, 3, 4)), label="images")


@pytest.mark.parametrize(("source", "kind"), [(3.0, "float"), (None, "NoneType")])
def test_a_single_value_is_no_table(source, kind):
    with pytest.raises(InputError, match=refusal("data", f"a single {kind}", "a file has to be read first")):
        Sample.of(source, label="data")


def test_ragged_rows():
    with pytest.raises(InputError, match=refusal("data is ragged", "row 0 has length 2, row 2 has length 1")):
        Sample.of([[1, 2], [3, 4], [5]], label="data")


def test_columns_of_unequal_length():
    with pytest.raises(InputError, match=refusal("columns of data", "'pt' 2", "'eta' 3")):
        Sample.of({"pt": [1, 2], "eta": [1, 2, 3]}, label="data")


@pytest.mark.parametrize("column", [np.ones((3, 2)), 1.0])
def test_a_column_has_one_number_per_event(column):
    with pytest.raises(InputError, match=refusal("column 'p4' of data", f"shape {np.shape(column)}")):
        Sample.of({"p4": column}, label="data")


def test_a_ragged_column_is_named():
    with pytest.raises(InputError, match=refusal("column 'jets' of data is ragged")):
        Sample.of({"jets": [[1, 2], [3]]}, label="data")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (TABLE, ["a", "a"]),
        (pd.DataFrame(TABLE, columns=["a", "a"]), None),
        ({"a": [1], 1: [1], "1": [1]}, None),
    ],
)
def test_duplicate_names(source, names):
    with pytest.raises(InputError, match=r"data has more than one column named '[a1]'.*distinct"):
        Sample.of(source, names=names, label="data")


def test_wrong_number_of_names():
    with pytest.raises(InputError, match=refusal("data has 2 columns", "3 names were", "'a', 'b', 'c'")):
        Sample.of(TABLE, names=["a", "b", "c"], label="data")


def test_names_are_strings():
    with pytest.raises(InputError, match=refusal("data", "column name 1", "give '1'")):
        Sample.of(TABLE, names=["a", 1], label="data")  # type: ignore[list-item]


@pytest.mark.parametrize("source", NAMED_SOURCES.values(), ids=NAMED_SOURCES)
def test_a_missing_column_brings_the_nearest_name(source):
    with pytest.raises(InputError, match=refusal("muons has no column 'PT2' (nearest: 'pt')", "'pt', 'eta'")):
        Sample.of(source, names=["PT2", "eta"], label="muons")


def test_a_missing_column_of_weights_brings_the_nearest_name():
    with pytest.raises(InputError, match=refusal("muons has no column 'weigth' (nearest: 'weight')")):
        Sample.of({"pt": [1], "weight": [1]}, weights="weigth", label="muons")


def test_a_column_is_a_feature_or_the_weights():
    with pytest.raises(InputError, match=refusal("column 'eta' of data", "as a feature and as the weights")):
        Sample.of(COLUMNS, names=["pt", "eta"], weights="eta", label="data")


def test_a_plain_array_has_no_column_of_weights():
    with pytest.raises(InputError, match=refusal("weights='w'", "data have no names", "as an array")):
        Sample.of(TABLE, weights="w", label="data")


@pytest.mark.parametrize("weights", [[1, 2], 1.0, [[1], [2], [3]]])
def test_weights_of_another_shape(weights):
    with pytest.raises(InputError, match=refusal("the weights of data", str(np.shape(weights)), "3 events")):
        Sample.of(TABLE, weights=weights, label="data")


@pytest.mark.parametrize("weights", [[1, np.nan, 1], [np.inf, 1, 1], np.ma.array([1, 1, 1], mask=[False, False, True])])
def test_weights_that_are_not_finite(weights):
    with pytest.raises(InputError, match=refusal("the weights of data", "1 of 3 rows", "drop")):
        Sample.of(TABLE, weights=weights, label="data")


@pytest.mark.parametrize(
    ("weights", "total"),
    [([0, 0, 0], "0 because all are zero"), ([1, -1, 0], "0,"), ([1, -3, 0], "-2"), ([1e308] * 3, "inf")],
)
def test_a_total_weight_that_is_not_positive(weights, total):
    with pytest.raises(InputError, match=refusal("the weights of data", f"the total weight is {total}")):
        Sample.of(TABLE, weights=weights, label="data")


def test_weights_that_are_no_numbers():
    with pytest.raises(InputError, match=refusal("the weights of data", "dtype <U1")):
        Sample.of(TABLE, weights=np.array(["a", "b", "c"]), label="data")


def test_a_bad_column_of_weights_is_named():
    with pytest.raises(InputError, match=refusal("the weights of data (column 'w')", "1 of 2 rows")):
        Sample.of({"pt": [1, 2], "w": [1, np.nan]}, weights="w", label="data")


def test_long_lists_of_columns_are_cut():
    with pytest.raises(InputError, match=refusal("column 'x7'", "and 22 more")) as caught:
        Sample.of(np.full((2, 30), np.nan))
    assert "'x8'" not in str(caught.value)


# Columns that do not vary


def test_constant_columns_are_named_with_their_value():
    sample = Sample.of({"pt": [1, 2], "charge": [-1, -1], "flag": [0.5, 0.5]})
    said = refusal("reference", "column 'charge' (always -1), column 'flag' (always 0.5)", "drop it from the features")
    with pytest.raises(InputError, match=said) as caught:
        check_varies(sample, "reference")
    assert "'pt'" not in str(caught.value)


def test_varying_columns_pass():
    check_varies(Sample.of(TABLE), "reference")


def test_one_event_varies_in_nothing():
    with pytest.raises(InputError, match=refusal("data has one event only", "give more events")):
        check_varies(Sample.of([[1.0, 2.0]]), "data")
