"""A folder that is watched: files count when they are whole, once, the oldest first."""

import os
from pathlib import Path

import pytest

from lanner.errors import InputError
from lanner.monitor.batches import Origin
from lanner.monitor.watching import Watch, looks
from tests.monitor.folders import batch, write_csv


def seen(watch: Watch) -> list[str]:
    return [file.path.name for file, _ in watch.look()]


def test_a_file_counts_when_two_looks_agree(tmp_path: Path) -> None:
    watch = Watch(str(tmp_path), lambda origin: False)
    path = write_csv(tmp_path / "a.csv", batch(1, 5))
    assert seen(watch) == []
    with path.open("a") as file:
        file.write("1,2\n")
    assert seen(watch) == []  # it has grown in between
    assert seen(watch) == ["a.csv"]


def test_what_is_done_is_passed_over_until_it_changes(tmp_path: Path) -> None:
    done: list[Origin] = []
    watch = Watch(str(tmp_path), done.__contains__)
    path = write_csv(tmp_path / "a.csv", batch(1, 5))
    watch.look()
    ((_, origin),) = watch.look()
    done.append(origin)
    assert seen(watch) == []
    write_csv(path, batch(2, 6))
    watch.look()
    assert seen(watch) == ["a.csv"]


def test_the_oldest_comes_first_and_others_are_no_batches(tmp_path: Path) -> None:
    for k, name in enumerate(["c.csv", "a.csv", "b[1].csv"]):
        os.utime(write_csv(tmp_path / name, batch(k, 5)), (1000 + k, 1000 + k))
    (tmp_path / "notes.md").write_text("x")
    (tmp_path / ".hidden.csv").write_text("x")
    (tmp_path / "folder.csv").mkdir()
    watch = Watch(str(tmp_path), lambda origin: False)
    watch.look()
    assert seen(watch) == ["c.csv", "a.csv", "b[1].csv"]


def test_a_pattern_may_match_nothing_yet(tmp_path: Path) -> None:
    watch = Watch(str(tmp_path / "run*.csv"), lambda origin: False)
    assert seen(watch) == []
    write_csv(tmp_path / "run1.csv", batch(1, 5))
    write_csv(tmp_path / "other.csv", batch(1, 5))
    watch.look()
    assert seen(watch) == ["run1.csv"]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        Watch(str(tmp_path / "none"), lambda origin: False).look()


def test_looks_end_when_nothing_new_comes(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", batch(1, 5))
    done: list[Origin] = []
    found = []
    watch = Watch(str(tmp_path), done.__contains__)
    for one in looks(watch, poll=0.01, idle=0.1):
        found += one
        done += [origin for _, origin in one]
    assert [file.path.name for file, _ in found] == ["a.csv"]
