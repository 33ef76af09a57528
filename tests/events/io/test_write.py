"""What is written can be read again, whole or not at all."""

import errno
import os
from pathlib import Path

import h5py
import numpy as np
import pyarrow.parquet as pq
import pytest
import uproot

from lanner.errors import FileError, InputError
from lanner.events.io import read_sample
from lanner.events.io.write import SUFFIXES, write_columns

COLUMNS = {"pt": np.random.default_rng(1).exponential(size=100), "eta": np.random.default_rng(2).normal(size=100)}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_read_bit_by_bit(tmp_path: Path, suffix: str) -> None:
    path = write_columns(tmp_path / f"events{suffix}", COLUMNS, note='{"seed": 1}')
    sample = read_sample(path, features=["pt", "eta"]).sample
    np.testing.assert_array_equal(sample.features, np.column_stack(list(COLUMNS.values())))
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_an_unknown_suffix_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.xyz.*\.parquet"):
        write_columns(tmp_path / "events.xyz", COLUMNS)


def test_a_name_that_hdf5_takes_for_a_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'a/b'"):
        write_columns(tmp_path / "events.h5", {"a/b": np.ones(3)})
    assert not list(tmp_path.iterdir())


def test_the_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    path = write_columns(tmp_path / "EVENTS.NPZ", COLUMNS)
    assert [p.name for p in tmp_path.iterdir()] == ["EVENTS.NPZ"]
    assert read_sample(path).sample.names == ("pt", "eta")


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    assert write_columns(tmp_path / "new" / "events.csv", COLUMNS).is_file()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_columns(tmp_path / f"events{suffix}", COLUMNS)
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="is full"):
        write_columns(path, {"pt": np.ones(3)})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_note_is_kept_where_the_format_has_room_for_it(tmp_path: Path) -> None:
    for suffix in (".parquet", ".h5", ".root"):
        write_columns(tmp_path / f"events{suffix}", COLUMNS, note="seed 1")
    assert pq.read_schema(tmp_path / "events.parquet").metadata[b"lanner"] == b"seed 1"
    with h5py.File(tmp_path / "events.h5") as file:
        assert file.attrs["lanner"] == "seed 1"
    with uproot.open(tmp_path / "events.root") as file:
        assert str(file["lanner"]) == "seed 1"
