"""What is particular to numpy's files."""

import os
import pickle
import zipfile

import numpy as np
import pytest

from lanner.errors import ColumnWarning, LannerError, MemoryBudgetError
from lanner.events.io import columns_of, read_sample
from lanner.events.io.numpy import _header, open_table
from tests.events.io.files import refused


class Bomb:
    """What runs when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, (os.environ["BOMB"],)


@pytest.fixture
def bomb(tmp_path, monkeypatch):
    monkeypatch.setenv("BOMB", str(tmp_path / "exploded"))
    yield Bomb()
    assert not (tmp_path / "exploded").exists()


def test_npy_is_never_unpickled(tmp_path, bomb):
    np.save(tmp_path / "a.npy", np.array([bomb], dtype=object), allow_pickle=True)
    (tmp_path / "b.npy").write_bytes(pickle.dumps(bomb))
    np.savez(tmp_path / "c.npz", x=np.ones(1), y=np.array([bomb], dtype=object))
    (tmp_path / "d.npz").write_bytes(pickle.dumps(bomb))
    for name in ("a.npy", "b.npy", "d.npz"):
        refused(tmp_path / name, name)
    refused(tmp_path / "c.npz", "column 'y'", features=["y"])
    refused(f"{tmp_path}/c.npz:y", "c.npz")
    with pytest.warns(ColumnWarning, match="'y' holds values of type object"):
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
    with pytest.warns(ColumnWarning, match="'s' holds text, such as .*'x'"):
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


def test_npy_and_npz_under_each_others_name(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(3))
    np.savez(tmp_path / "b.npz", a=np.ones(3))
    (tmp_path / "a.npy").rename(tmp_path / "c.npz")
    (tmp_path / "b.npz").rename(tmp_path / "d.npy")
    refused(tmp_path / "c.npz", "rename it to .npy")
    refused(tmp_path / "d.npy", "rename it to .npz")


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


@pytest.mark.parametrize("table", [np.arange(2000.0).reshape(1000, 2), np.arange(1000)], ids=["two columns", "one"])
def test_npy_chunks_are_copies_that_cover_the_file(table, tmp_path):
    np.save(tmp_path / "a.npy", table)
    with open_table(tmp_path / "a.npy", None) as opened:
        chunks = list(opened.chunks(opened.names, 1))
    assert [len(chunk["x0"]) for chunk in chunks] == [256, 256, 256, 232]
    assert not any(isinstance(column, np.memmap) for chunk in chunks for column in chunk.values())
    found = np.column_stack([np.concatenate([chunk[name] for chunk in chunks]) for name in opened.names])
    np.testing.assert_array_equal(found, table.reshape(1000, -1))


def test_npz_headers_are_read_without_the_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.ones((3, 2), dtype=np.float32), b=np.arange(4))
    with np.load(tmp_path / "a.npz") as archive:
        assert _header(archive, "a") == ((3, 2), np.dtype(np.float32))
        assert _header(archive, "b") == ((4,), np.arange(4).dtype)
