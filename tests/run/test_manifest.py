"""A folder is whole, or says which file is missing, changed or of another run."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from lanner._util.locks import release_lock, try_lock
from lanner._util.progress import shown
from lanner.errors import FileError, FolderError
from lanner.run import manifest as module
from lanner.run.manifest import NAME, Manifest, read_together, written_together


def write(folder: Path, **files: str) -> None:
    with written_together(folder, "result") as writer:
        for name, content in files.items():
            writer.write(name, content)


def contents(folder: Path) -> dict[str, bytes]:
    manifest = Manifest.read(folder, "result")
    return {name: manifest.content(name) for name in manifest.files}


def test_what_was_written_together_is_read_together(tmp_path: Path) -> None:
    write(tmp_path / "new", a="1", b="2")
    assert contents(tmp_path / "new") == {"a": b"1", "b": b"2"}
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["a", "b", NAME]


def test_a_run_that_dies_between_two_files_leaves_a_folder_that_says_so(tmp_path: Path) -> None:
    write(tmp_path, a="1", b="2")
    dying = written_together(tmp_path, "result")
    dying.__enter__().write("a", "3")
    assert not dying.__exit__(KeyError, KeyError(), None)
    with pytest.raises(FolderError, match=r"/a does not belong to the files beside it"):
        contents(tmp_path)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda f: (f / "a").write_text("9"), r"/a does not belong"),
        (lambda f: (f / "a").unlink(), r"/a is missing"),
        (lambda f: ((f / "a").unlink(), os.mkfifo(f / "a")), r"/a cannot be read \(.*is a pipe"),
        (lambda f: ((f / "a").unlink(), (f / "a").mkdir()), r"/a cannot be read \(.*folder where a file should be"),
        (lambda f: (f / NAME).unlink(), r"manifest.json is missing"),
        (lambda f: (f / NAME).write_text("{"), r"manifest.json is damaged"),
        (lambda f: (f / NAME).write_text("[]"), r"manifest.json is damaged"),
        (lambda f: (f / NAME).write_text('{"format": "lanner.manifest/9"}'), r"manifest.json is of another version"),
        (lambda f: edit(f, files={"result": {"a": "0"}}), r"manifest.json was changed after it was written"),
        (lambda f: edit(f, digest="0"), r"manifest.json was changed after it was written"),
    ],
)
def test_every_harm_is_named(tmp_path: Path, harm: Any, message: str) -> None:
    write(tmp_path, a="1", b="2")
    harm(tmp_path)
    with pytest.raises(FolderError, match=message):
        contents(tmp_path)


def edit(folder: Path, **changes: Any) -> None:
    path = folder / NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_calibration_and_a_result_may_share_a_folder(tmp_path: Path) -> None:
    write(tmp_path, a="1")
    with pytest.raises(FolderError, match=r"manifest.json names no calibration"):
        Manifest.read(tmp_path, "calibration")
    with written_together(tmp_path, "calibration") as writer:
        writer.write("b", "2")
    write(tmp_path, a="3")
    assert contents(tmp_path) == {"a": b"3"}
    assert Manifest.read(tmp_path, "calibration").content("b") == b"2"


def test_a_file_that_no_manifest_names_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, a="1")
    (tmp_path / "b").write_text("2")
    with pytest.raises(FolderError, match=r"/b is not named"):
        Manifest.read(tmp_path, "result").content("b")
    assert Manifest.read(tmp_path, "result").fits("b")  # nobody said what it should be


def test_files_can_be_added_and_those_of_the_last_run_removed(tmp_path: Path) -> None:
    write(tmp_path, a="1", report="1")
    with written_together(tmp_path, "result", to=True) as writer:
        (tmp_path / "c").write_text("3")
        writer.include("c")
    assert set(contents(tmp_path)) == {"a", "report", "c"}
    (tmp_path / "mine").write_text("")
    with written_together(tmp_path, "result") as writer:
        writer.remove("report")
        writer.remove("mine")
        assert not (tmp_path / "report").exists()
        assert (tmp_path / "mine").exists()
        writer.remove("mine", others=True)
        (tmp_path / "report").mkdir()
        with pytest.raises(FileError, match=r"report cannot be removed"):
            writer.remove("report")
    assert not (tmp_path / "mine").exists()


def test_of_runs_that_end_together_one_has_the_folder(tmp_path: Path) -> None:
    def run(k: int) -> None:
        for _ in range(5):
            write(tmp_path, a=f"{k}", b=f"{k}")

    threads = [threading.Thread(target=run, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = contents(tmp_path)
    assert found["a"] == found["b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", NAME]


def test_who_reads_while_another_writes_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a="1")
    (tmp_path / "a").write_text("2")
    lock = try_lock(tmp_path / ".writing.lock")
    assert lock is not None
    waited: list[float] = []

    def finish(seconds: float) -> None:
        waited.append(seconds)
        (tmp_path / "a").write_text("1")

    monkeypatch.setattr("lanner.run.manifest.time.sleep", finish)
    assert read_together(tmp_path, lambda: contents(tmp_path)) == {"a": b"1"}
    assert waited == [0.5]
    release_lock(lock)


def test_a_writer_that_never_ends_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WAIT", 0.1)
    lock = try_lock(tmp_path / ".writing.lock")
    assert lock is not None
    with pytest.raises(FileError, match="another run has been writing to"):
        write(tmp_path, a="1")
    release_lock(lock)


def test_whoever_waits_for_another_writer_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanner._util.progress._MOMENT", 0.01)
    lock, seen = try_lock(tmp_path / ".writing.lock"), []
    assert lock is not None

    def tell(what: str, done: int, total: int) -> None:
        seen.append((what, done))
        if done == 0:
            release_lock(lock)  # the other run has ended

    with shown(tell):
        write(tmp_path, a="1")
    words = f"waiting for another run, which is writing its files to {tmp_path}"
    assert seen == [(words, 0), (words, 1)]
    assert contents(tmp_path) == {"a": b"1"}


def test_without_locks_it_is_written_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", none)
    write(tmp_path, a="1")
    assert contents(tmp_path) == {"a": b"1"}


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match=r"file/out cannot be made"):
        write(tmp_path / "file" / "out", a="1")


def test_what_dead_runs_left_half_written_is_removed(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "deep"):
        folder.mkdir(exist_ok=True)
        (folder / ".a.lanner-0a_b1c2d").touch()
    with written_together(tmp_path, "result") as writer:
        writer.write("a", "1")
        writer.write("deep/b", "2")
    assert not list(tmp_path.rglob(".*"))
