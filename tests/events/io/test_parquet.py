"""What is particular to Parquet files."""

import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanner.errors import ColumnWarning
from lanner.events.io import read_sample
from lanner.events.io.parquet import as_numpy
from tests.events.io.files import (
    refused,
)


def test_parquet_nulls_are_nan_in_every_type(tmp_path):
    table = pa.table({"i": [1, None, 3], "f": [1.0, 2.0, None], "b": [True, None, False], "x": [1, 2, 3]})
    pq.write_table(table, tmp_path / "t.parquet")
    refused(tmp_path / "t.parquet", "2 rows of 3", "'i' (1)", "'f' (1)", "'b' (1)")
    assert read_sample(tmp_path / "t.parquet", drop_nan=True).sample.features.tolist() == [[1, 1, 1, 1]]


def test_parquet_row_numbers_of_pandas_are_no_feature(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 9]).to_parquet(tmp_path / "t.parquet")
    assert read_sample(tmp_path / "t.parquet").sample.names == ("a",)
    asked = read_sample(tmp_path / "t.parquet", features=["__index_level_0__"])
    assert asked.sample.features.ravel().tolist() == [7, 9]


def test_parquet_other_types_are_named(tmp_path):
    table = pa.table(
        {
            "a": [1.0, 2.0],
            "text": ["x", "y"],
            "list": [[1.0], [2.0, 3.0]],
            "price": [decimal.Decimal("1.5"), decimal.Decimal("2.5")],
            "point": [{"x": 1.0}, {"x": 2.0}],
            "kind": pa.array(["u", "v"]).dictionary_encode(),
            "when": pa.array([1, 2], pa.timestamp("s")),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.warns(ColumnWarning, match=r"'text' holds text, such as 'x', 'list' is .*\[1.0\], 'price' .*'1.5'"):
        assert read_sample(tmp_path / "t.parquet").sample.names == ("a",)
    refused(tmp_path / "t.parquet", "column 'list'", "jagged", features=["list"])
    refused(tmp_path / "t.parquet", "column 'text'", "holds text", features=["text"])
    for name in ("price", "point", "kind", "when"):
        refused(tmp_path / "t.parquet", f"column {name!r}", "one number per event", features=[name])


def test_parquet_names_with_dots_and_small_numbers(tmp_path):
    table = pa.table({"a.b": pa.array([1, 2], pa.int8()), "a": np.array([0.5, 1.5], dtype=np.float16)})
    pq.write_table(table, tmp_path / "t.parquet")
    assert read_sample(tmp_path / "t.parquet", features=["a.b", "a"]).sample.features.tolist() == [[1, 0.5], [2, 1.5]]
    assert read_sample(tmp_path / "t.parquet", features=["a"]).sample.features.tolist() == [[0.5], [1.5]]


def test_parquet_has_nothing_inside(tmp_path):
    pq.write_table(pa.table({"a": [1.0]}), tmp_path / "t.parquet")
    refused(f"{tmp_path}/t.parquet:events", "leave ':events' out")


@settings(deadline=None)
@given(st.lists(st.none() | st.integers(-(2**31), 2**31 - 1), min_size=1), st.data())
def test_arrow_arrays_and_their_slices_are_numbers_with_nan_for_null(values, data):
    start = data.draw(st.integers(0, len(values)))
    for kind in (pa.int32(), pa.float64()):
        found = as_numpy(pa.array(values, kind)[start:])
        np.testing.assert_array_equal(found, [np.nan if value is None else value for value in values[start:]])


@settings(deadline=None)
@given(st.lists(st.booleans()), st.data())
def test_arrow_conditions_are_bool(values, data):
    start = data.draw(st.integers(0, len(values)))
    found = as_numpy(pa.array(values, pa.bool_())[start:])
    assert found.dtype == np.bool_
    assert found.tolist() == values[start:]


@pytest.mark.parametrize(
    "note",
    [
        b"{",
        b"null",
        b"5",
        b"\xff",
        b"[" * 100_000,
        b'{"index_columns": 5}',
        b'{"index_columns": "a"}',
        b'{"columns": 5}',
    ],
)
def test_parquet_a_note_of_pandas_that_cannot_be_read_is_no_harm(tmp_path, note):
    table = pa.table({"a": [1.0, 2.0], "__index_level_0__": [0, 1]}).replace_schema_metadata({b"pandas": note})
    pq.write_table(table, tmp_path / "t.parquet")
    assert read_sample(tmp_path / "t.parquet").sample.names == ("a",)


def test_parquet_a_column_may_be_called_index(tmp_path):
    pq.write_table(pa.table({"index": [1.0, 2.0]}), tmp_path / "t.parquet")
    assert read_sample(tmp_path / "t.parquet").sample.names == ("index",)


def test_parquet_an_index_with_a_name_is_not_left_out_without_a_word(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0], "mass": [3.0, 4.0]}).set_index("mass").to_parquet(tmp_path / "t.parquet")
    with pytest.warns(ColumnWarning, match="'mass' was the index of a data frame, such as 3.0"):
        assert read_sample(tmp_path / "t.parquet").sample.names == ("a",)
    assert read_sample(tmp_path / "t.parquet", features="mass").sample.features.ravel().tolist() == [3, 4]
