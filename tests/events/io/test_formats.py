"""What is particular to Parquet, HDF5, CSV and numpy files."""

import decimal
import os
import pickle
import zipfile

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from lanner.errors import InputError, LannerError, MemoryBudgetError
from lanner.events.io import columns_of, read_sample


def refused(source, *parts, **asked):
    with pytest.raises(InputError) as refusal:
        read_sample(source, **asked)
    for part in parts:
        assert part in str(refusal.value), f"{part!r} is not in: {refusal.value}"


class Bomb:
    """What runs when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, (os.environ["BOMB"],)


@pytest.fixture
def bomb(tmp_path, monkeypatch):
    monkeypatch.setenv("BOMB", str(tmp_path / "exploded"))
    yield Bomb()
    assert not (tmp_path / "exploded").exists()


# Parquet


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


# HDF5


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
    assert read_sample(f"{groups}:deep").sample.names == ("a", "b")  # through the only group in it
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


# CSV


def text(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n3,4\n",
        "a,b\n1,2\n3,4",
        "a,b\r\n1,2\r\n3,4\r\n",
        "\ufeffa,b\n1,2\n3,4\n",
        "\n\na,b\n1,2\n\n3,4\n",
        "# a,b\n1,2\n3,4\n",
        "#a b\n1.0 2.0\n3e0 4E0\n",
        "a;b\n1;2\n3;4\n",
        "a\tb\n1\t2\n3\t4\n",
        " a , b \n 1 , 2 \n +3 , 4. \n",
        '"a","b"\n"1","2"\n3,4\n',
        ",a,b\n0,1,2\n1,3,4\n",
    ],
)
def test_csv_headers_delimiters_and_line_ends(content, tmp_path):
    events = read_sample(text(tmp_path, content))
    assert events.sample.names == ("a", "b")
    assert events.sample.features.tolist() == [[1, 2], [3, 4]]


def test_csv_of_numpy_and_of_pyarrow(tmp_path):
    table = np.random.default_rng(0).standard_normal((20, 2))
    np.savetxt(tmp_path / "a.txt", table, header="a b", fmt="%.17g")
    pyarrow.csv.write_csv(pa.table({"a": table[:, 0], "b": table[:, 1]}), tmp_path / "b.csv")
    for name in ("a.txt", "b.csv"):
        assert read_sample(tmp_path / name).sample.features.tobytes() == table.tobytes()


def test_csv_one_column_may_have_blanks_in_its_name(tmp_path):
    assert read_sample(text(tmp_path, "p_T [GeV]\n1\n2\n")).sample.names == ("p_T [GeV]",)


def test_csv_text_among_numbers_is_shown_with_its_line(tmp_path):
    rows = "".join(f"{i},{i}.5\n" for i in range(300))
    path = text(tmp_path, f"a,b\n{rows}300,oops\n301,1.5\n")
    refused(path, str(path), "column 'b'", "'oops'", "line 302", "a number is needed")
    assert len(read_sample(path, features="a").sample) == 302
    refused(text(tmp_path, "a,b\n1,x\n2,y\n"), "column 'b'", "holds text, such as 'x'", features=["b"])
    refused(text(tmp_path, "a\ntrue\nfalse\nmaybe\n"), "'maybe'", "line 4", "a condition is needed")


def test_csv_lines_of_another_length_are_shown(tmp_path):
    refused(text(tmp_path, "a,b\n1,2\n3\n"), "1 values in line 3", "2 columns")
    refused(text(tmp_path, "a,b\n1,2\n3,4,5\n"), "3 values in line 3", "2 columns")


def test_csv_needs_a_header(tmp_path):
    refused(text(tmp_path, "1.0,2.0\n3.0,4.0\n"), "begins with numbers", "header")
    refused(text(tmp_path, ""), "is empty")
    refused(text(tmp_path, " \n\n"), "is empty")
    refused(text(tmp_path, "a,a\n1,2\n"), "more than one column named 'a'")
    refused(text(tmp_path, b"\xff\xfea,b\n1,2\n"), "cannot be read as CSV")


def test_csv_missing_values_and_conditions(tmp_path):
    path = text(tmp_path, "a,b,ok\n1,2,True\n,4,False\nNaN,5,true\n6,NA,TRUE\n7,8,\n9,10,true\n")
    refused(path, "'a' (2)", "'b' (1)", features=["a", "b"])
    events = read_sample(path, features=["a", "b"], where="b > 3", drop_nan=True)
    assert events.sample.features.tolist() == [[7, 8], [9, 10]]
    assert read_sample(
        text(tmp_path, "a,ok\n1,True\n2,False\n"), features="a", where="ok"
    ).sample.features.tolist() == [[1]]


def test_csv_a_number_too_many_for_float64_is_infinite_and_refused(tmp_path):
    refused(text(tmp_path, "a\n1\n1e400\n"), "column 'a' (1 of 2 rows)")


# numpy


def test_npy_is_never_unpickled(tmp_path, bomb):
    np.save(tmp_path / "a.npy", np.array([bomb], dtype=object), allow_pickle=True)
    (tmp_path / "b.npy").write_bytes(pickle.dumps(bomb))
    np.savez(tmp_path / "c.npz", x=np.ones(1), y=np.array([bomb], dtype=object))
    (tmp_path / "d.npz").write_bytes(pickle.dumps(bomb))
    for name in ("a.npy", "b.npy", "d.npz"):
        refused(tmp_path / name, name)
    refused(tmp_path / "c.npz", "column 'y'", features=["y"])
    refused(f"{tmp_path}/c.npz:y", "c.npz")
    assert read_sample(tmp_path / "c.npz").sample.names == ("x",)


def test_npy_shapes(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3))
    assert read_sample(tmp_path / "a.npy").sample.features.tolist() == [[0], [1], [2]]
    np.save(tmp_path / "b.npy", np.zeros((2, 2, 2)))
    refused(tmp_path / "b.npy", "shape (2, 2, 2)")
    np.save(tmp_path / "c.npy", np.array([["a", "b"]]))
    refused(tmp_path / "c.npy", "no columns of numbers")
    np.save(tmp_path / "d.npy", np.zeros((2, 2), dtype=[("a", float)]))
    refused(tmp_path / "d.npy", "one record per event")
    np.save(tmp_path / "e.npy", np.array([(1, [2, 3], "x")], dtype=[("a", int), ("v", float, 2), ("s", "U1")]))
    assert read_sample(tmp_path / "e.npy").sample.names == ("a",)
    refused(tmp_path / "e.npy", "column 'v'", "has shape (1, 2)", features=["v"])
    np.save(tmp_path / "f.npy", np.arange(4.0).astype(">f4"))
    assert read_sample(tmp_path / "f.npy").sample.features.ravel().tolist() == [0, 1, 2, 3]


def test_npy_whose_header_lies_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((10, 2)))
    whole = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(whole.replace(b"(10, 2)", b"(10**9,", 1))
    refused(tmp_path / "a.npy", "cannot be read as npy")
    (tmp_path / "a.npy").write_bytes(whole.replace(b"(10, 2), }  ", b"(99999999, 2), }", 1)[: len(whole)])
    refused(tmp_path / "a.npy", "cannot be read as npy")


def test_npz_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", t=np.ones((3, 2)), u=np.zeros((4, 2)))
    refused(tmp_path / "a.npz", "'t'", "'u'", "a.npz:t")
    assert len(read_sample(f"{tmp_path}/a.npz:u").sample) == 4
    refused(f"{tmp_path}/a.npz:v", "no column 'v'")
    np.savez(tmp_path / "b.npz", a=np.ones(3), b=np.ones(4), image=np.ones((3, 3)))
    refused(tmp_path / "b.npz", "differ in length")
    refused(tmp_path / "b.npz", "column 'image'", "has shape (3, 3)", features=["image"])
    assert columns_of(tmp_path / "b.npz") == ["a", "b", "image"]


def test_npz_that_claims_to_be_huge_is_refused_before_it_is_read(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(10))
    lie = (tmp_path / "a.npy").read_bytes().replace(b"(10,), }            ", b"(100000000000,), }  ", 1)
    assert b"(100000000000,)" in lie
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("a.npy", lie)
    with pytest.raises(MemoryBudgetError, match=r"800\.00 GB"):
        read_sample(tmp_path / "b.npz", memory="1 GB")
    with pytest.raises(LannerError):
        read_sample(f"{tmp_path}/b.npz:a")


def test_npy_and_npz_under_each_others_name(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(3))
    np.savez(tmp_path / "b.npz", a=np.ones(3))
    (tmp_path / "a.npy").rename(tmp_path / "c.npz")
    (tmp_path / "b.npz").rename(tmp_path / "d.npy")
    refused(tmp_path / "c.npz", "rename it to .npy")
    refused(tmp_path / "d.npy", "rename it to .npz")
