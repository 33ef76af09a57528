"""Events in memory are read like files."""

import awkward as ak
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lanner.errors import ColumnWarning, InputError
from lanner.events import Sample
from lanner.events.io import columns_of, read_sample
from lanner.events.io.memory import WEIGHTS, table_of
from tests.events.io.files import records


@pytest.mark.parametrize(
    "make",
    [dict, pd.DataFrame, pa.table, records, lambda columns: Sample.of(columns)],
    ids=["dict", "pandas", "pyarrow", "records", "sample"],
)
def test_named_columns_in_memory_are_read_like_files(make):
    source = make({"a": np.arange(5.0), "b": np.arange(5.0) ** 2, "w": np.arange(5.0) + 1})
    events = read_sample(source, features=["b"], weight="w", where="a > 2", extra=["a", "s=a+b"])
    assert events.sample.features.tolist() == [[9], [16]]
    assert events.sample.weights.tolist() == [4, 5]
    assert events.extra["s"].tolist() == [12, 20]
    assert columns_of(source) == ["a", "b", "w"]


def test_a_sample_keeps_its_weights_through_a_selection():
    sample = Sample.of({"a": [1.0, 2.0, 3.0]}, weights=[4.0, 5.0, 6.0])
    assert read_sample(sample).sample is sample
    events = read_sample(sample, where="a > 1", extra=["a"])
    assert events.sample.names == ("a",)
    assert events.sample.weights.tolist() == [5, 6]
    given = read_sample({"a": [1.0, 2.0]}, weight=np.array([7.0, 8.0]), where="a > 1")
    assert given.sample.weights.tolist() == [8]


def test_text_among_numbers_in_memory_is_named():
    with pytest.raises(InputError, match="such as 'b'"):
        read_sample({"a": np.array([1.0, "b"], dtype=object)})
    with pytest.warns(ColumnWarning, match="'name' holds .*, such as 'b'"):
        assert read_sample({"a": [1.0], "name": ["b"]}).sample.names == ("a",)


def test_jagged_columns_in_memory_are_refused():
    with pytest.raises(InputError, match="column 'j'"):
        read_sample({"a": [1.0, 2.0], "j": ak.Array([[1.0], [2.0, 3.0]]).to_list()}, features=["a", "j"])


def test_awkward_lists_are_for_formulas():
    table = {"a": [1.0, 2.0], "j": ak.Array([[1.0], [2.0, 3.0]])}
    assert read_sample(table, features=["a", "s=sum(j)"]).sample.features.tolist() == [[1, 1], [2, 5]]
    assert read_sample(ak.Array(table), features=["s=j[-1]"]).sample.features.tolist() == [[1], [3]]
    with pytest.raises(InputError, match=r"column 'j' of sample is jagged.*name=j\[0\]"):
        read_sample(table, features="j")


def test_an_array_is_a_table_without_names():
    table = table_of(np.arange(6.0).reshape(3, 2), None, "data")
    assert (table.names, table.named) == (("x0", "x1"), False)
    (chunk,) = table.chunks(["x1"], 1)
    assert chunk["x1"].tolist() == [1, 3, 5]


def test_weights_beside_a_table_are_no_column_of_it():
    table = table_of({"a": [1.0, 2.0]}, [3.0, 4.0], "data")
    assert table.names == ("a",)
    assert table.usable() == ({"a": None}, {})
    (chunk,) = table.chunks(["a", WEIGHTS], 1)
    assert chunk[WEIGHTS].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("weights", "said"),
    [([1.0, np.nan], r"column 'weights' \(1\)"), (np.array(["x", "y"]), "the weights of data holds text")],
)
def test_weights_beside_a_table_are_called_weights(weights, said):
    with pytest.raises(InputError, match=said):
        read_sample({"a": [1.0, 2.0]}, weight=weights, where="a > 0", label="data")


def test_the_weights_of_a_sample_are_replaced_by_those_given():
    sample = Sample.of({"a": [1.0, 2.0], "b": [3.0, 4.0]}, weights=[5.0, 6.0])
    assert read_sample(sample, weight=[7.0, 8.0], where="a > 1").sample.weights.tolist() == [8]
    assert read_sample(sample, weight="b", where="a > 1").sample.weights.tolist() == [4]
    assert read_sample(sample, features="a").sample.weights.tolist() == [5, 6]


def test_arrays_are_not_copied():
    array = np.ones(3)
    (chunk,) = table_of({"a": array}, None, "data").chunks(["a"], 1)
    assert np.shares_memory(chunk["a"], array)
