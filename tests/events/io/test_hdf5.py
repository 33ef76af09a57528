"""What is particular to HDF5 files."""

import h5py
import numpy as np
import pytest

from lanner.errors import ColumnWarning
from lanner.events.io import read_sample
from tests.events.io.files import refused


@pytest.fixture
def groups(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        for name, shift in (("train", 0), ("deep/test", 10)):
            file[f"{name}/a"] = np.arange(3.0) + shift
            file[f"{name}/b"] = np.arange(3) + shift
        file["deep/test/name"] = ["x", "y", "z"]
        file["deep/test/image"] = np.zeros((3, 2, 2))
        file["deep/test/jagged"] = np.array([np.ones(1), np.ones(2), np.ones(3)], dtype=object).astype(
            h5py.vlen_dtype(np.float64)
        )
        file["deep/test/number"] = 3.0
        file["deep/test/lost"] = h5py.SoftLink("/nowhere")
    return f"{tmp_path}/t.h5"


def test_hdf5_groups_are_named_after_a_colon(groups):
    assert read_sample(f"{groups}:train").sample.features.tolist() == [[0, 0], [1, 1], [2, 2]]
    with pytest.warns(ColumnWarning, match="'image' has shape"):
        assert read_sample(f"{groups}:deep").sample.names == ("a", "b")  # through the only group in it
    with pytest.warns(ColumnWarning, match=r"'name' holds .*, such as b'x'"):
        events = read_sample(f"{groups}:/deep/test/")
    assert events.sample.features.tolist() == [[10, 10], [11, 11], [12, 12]]
    assert "'image' has shape (3, 2, 2)" in events.description
    refused(groups, "no columns of its own", "'train'", "'deep'")
    refused(f"{groups}:tran", "'tran' (nearest: 'train')")
    refused(f"{groups}:deep/tests", "'tests' (nearest: 'test')")
    refused(f"{groups}:train/a/b", "no group or dataset 'train/a/b'")
    for name in ("name", "image", "jagged", "number"):
        refused(f"{groups}:deep/test", f"column {name!r}", "one number per event", features=[name])
    refused(f"{groups}:deep/test", "has no column 'lost'", features=["lost"])


def test_hdf5_columns_of_different_length_are_refused(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["a"], file["b"] = np.ones(3), np.ones(4)
    refused(tmp_path / "t.h5", "differ in length", "'a' 3", "'b' 4")
    assert len(read_sample(tmp_path / "t.h5", features="b").sample) == 4


def test_hdf5_a_dataset_of_one_dimension_is_a_column(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["folder/a"] = np.arange(3.0)
    assert read_sample(f"{tmp_path}/t.h5:folder/a").sample.names == ("a",)


def test_hdf5_tables_of_pandas(tmp_path):
    # What PyTables writes, without PyTables: 'table' format with and without data_columns, and 'fixed'.
    plain = np.array([(0, 1.5, 2), (1, 2.5, 3)], dtype=[("index", "i8"), ("a", "f8"), ("b", "i8")])
    packed = np.array([(0, [1.5, 2.5]), (1, [3.5, 4.5])], dtype=[("index", "i8"), ("values_block_0", "f8", (2,))])
    with h5py.File(tmp_path / "t.h5", "w") as file:
        for name, table in (("plain", plain), ("packed", packed)):
            file[f"{name}/table"] = table
            file[f"{name}/_i_table/index/bounds"] = np.ones(3)
            file[name].attrs["pandas_type"] = "frame_table"
        file["fixed/axis0"], file["fixed/block0_values"] = np.arange(2), np.ones((2, 2))
        file["fixed"].attrs["pandas_type"] = "frame"
    events = read_sample(f"{tmp_path}/t.h5:plain")
    assert events.sample.names == ("a", "b")
    assert events.sample.features.tolist() == [[1.5, 2], [2.5, 3]]
    refused(f"{tmp_path}/t.h5:packed", "data_columns=True", features=["values_block_0"])
    refused(f"{tmp_path}/t.h5:fixed", "'fixed' format", "to_parquet")


def test_hdf5_a_table_of_text_or_of_three_dimensions_is_refused(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["text"], file["cube"] = ["x", "y"], np.ones((2, 2, 2))
    for name in ("text", "cube"):
        refused(f"{tmp_path}/t.h5:{name}", f"t.h5:{name} has shape", "name a group or another dataset")


def test_hdf5_columns_of_a_compound_dataset_are_read_by_name(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["table"] = np.array([(1.0, 2, b"x"), (3.0, 4, b"y")], dtype=[("a", "f8"), ("b", "i2"), ("s", "S1")])
    assert read_sample(tmp_path / "t.h5", features=["b", "a"]).sample.features.tolist() == [[2, 1], [4, 3]]
    with pytest.warns(ColumnWarning, match="'s' holds text, such as"):
        assert "'s' holds text" in read_sample(tmp_path / "t.h5").description
