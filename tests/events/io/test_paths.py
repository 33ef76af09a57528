"""From paths and patterns to files, and what is said about those that are not there."""

import os
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events.io import read_sample
from lanner.events.io.paths import FORMATS, describe, files_of, names_files
from tests.events.io.files import WRITERS, refusal, write_csv, write_tree


def test_a_pattern_reads_its_files_in_order(tmp_path):
    for number in (2, 0, 1):
        write_tree(tmp_path / f"run{number}.root", {"a": np.full(3, number), "b": np.ones(3)})
    events = read_sample(f"{tmp_path}/run*.root:events", features="a")
    assert events.sample.features.ravel().tolist() == [0] * 3 + [1] * 3 + [2] * 3
    both = read_sample([tmp_path / "run2.root", f"{tmp_path}/run0.root"], features="a")
    assert both.sample.features.ravel().tolist() == [2] * 3 + [0] * 3
    refusal(both.description, "run2.root", "run0.root", "6 events")


def test_a_file_named_twice_is_refused(tmp_path):
    write_csv(tmp_path / "a.csv", {"a": np.ones(2)})
    with pytest.raises(InputError, match="count twice"):
        read_sample([f"{tmp_path}/*.csv", tmp_path / "a.csv"])


def test_a_missing_file_offers_the_nearest(tmp_path):
    write_csv(tmp_path / "muons.csv", {"a": np.ones(2)})
    for name in ("moons.csv", "Muons.csv", "muons.csv.gz"):
        with pytest.raises(InputError) as refused:
            read_sample(tmp_path / name, label="data")
        refusal(str(refused.value), "data", repr(name), "nearest: 'muons.csv'", str(tmp_path))
    with pytest.raises(InputError, match=r"no file matches.*'muons.csv'"):
        read_sample(f"{tmp_path}/*.root")
    with pytest.raises(InputError, match="no folder"):
        read_sample(f"{tmp_path}/nowhere/muons.csv")


def test_names_that_cannot_be_read_say_why(tmp_path):
    (tmp_path / "folder.root").mkdir()
    for source, part in (
        (tmp_path / "a.xls", ".parquet"),
        (f"{tmp_path}/folder.root", "is a folder"),
        ("https://example.org/a.root", "download it"),
        ("root://example.org//a.root:events", "download it"),
    ):
        with pytest.raises(InputError) as refused:
            read_sample(source)
        refusal(str(refused.value), part)


@pytest.mark.parametrize(
    "name", ["a:b.csv", "a::b.root", "[a]*.csv", "µ <b>.npz", "file.root:x.parquet", "A.CSV", "~.csv"]
)
def test_odd_file_names_are_just_names(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"a": np.arange(3.0)}
    writers = {".csv": write_csv, ".root": write_tree, ".npz": WRITERS["t.npz"], ".parquet": WRITERS["t.pq"]}
    suffix = next(suffix for suffix in writers if name.lower().endswith(suffix))
    writers[suffix](f"plain{suffix}", columns)
    Path(f"plain{suffix}").rename(name)
    assert read_sample(name).sample.features.ravel().tolist() == [0, 1, 2]
    assert read_sample(tmp_path / name).sample.features.ravel().tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("a.root", True),
        (Path("a.root"), True),
        (["a.root", Path("b.csv")], True),
        ([], False),
        ([1.0, 2.0], False),
        (["a.root", 1.0], False),
        ({"a": [1.0]}, False),
        (np.array(["a.root"]), False),
    ],
)
def test_files_are_told_from_events(source, wanted):
    assert names_files(source) is wanted


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_suffix_has_a_reader(suffix):
    module, _ = FORMATS[suffix]
    assert callable(import_module(f"lanner.events.io.{module}").open_table)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("inside", [None, "tree", "a/b", "a:b", "x.root"])
def test_a_name_is_cut_at_the_colon_behind_its_suffix(suffix, inside, tmp_path):
    path = tmp_path / f"with.dots{suffix.upper()}"
    path.touch()
    (file,) = files_of(f"{path}:{inside}" if inside else path, "data")
    assert (file.path, file.inside, file.suffix) == (path, inside, suffix)


def test_the_same_file_may_be_read_twice_for_two_trees(tmp_path):
    (tmp_path / "a.root").touch()
    assert [file.inside for file in files_of([f"{tmp_path}/a.root:x", f"{tmp_path}/a.root:y"], "data")] == ["x", "y"]


def test_a_list_of_files_is_described_by_its_first():
    assert describe(Path("a.root")) == "a.root"
    assert describe([f"{k}.root" for k in range(10)]).endswith("7.root and 2 more")


def test_a_fault_while_a_file_is_open_is_not_the_files(tmp_path):
    write_csv(tmp_path / "a.csv", {"a": np.ones(2)})
    (file,) = files_of(tmp_path / "a.csv", "data")
    with pytest.raises(ZeroDivisionError), file.open():
        raise ZeroDivisionError


@pytest.mark.parametrize("name", ["t.csv", "*.csv"])
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path, name):
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"data .*t\.csv is a pipe, not a file"):
        read_sample(f"{tmp_path}/{name}", label="data")


def test_a_device_in_the_place_of_a_file_is_refused_at_once(tmp_path):
    (tmp_path / "t.csv").symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"t\.csv is a device, not a file"):
        read_sample(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("name", "why"), [("a\0b.csv", "NUL"), ("a\ud800.csv", "Unicode"), ("\udcff/*.csv", "Unicode")]
)
def test_names_that_no_file_can_have_are_refused(name, why):
    with pytest.raises(InputError, match=why):
        read_sample(name)
