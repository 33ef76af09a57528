import errno
import json
import multiprocessing
import os
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from lanner._util import files
from lanner.errors import FileError, StoreError, StoreWarning
from lanner.run.toy_store import FORMAT, Batch, ToyStore

DESCRIPTION = {"events": "abc", "width": 0.3, "seed": 1}


def batch(first: int, size: int = 4) -> Batch:
    return Batch(
        first,
        first + np.arange(2.0 * size).reshape(2, size),
        np.ones((2, size), bool),
        np.full((2, size), 5),
        np.ones((3, 2), np.float32),
    )


def open_store(folder: Path, **changes: object) -> ToyStore:
    return ToyStore(folder, DESCRIPTION | changes, batch_size=4)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert store.read(4) is None
    store.write(batch(4))
    found = open_store(tmp_path).read(4)
    assert found is not None
    np.testing.assert_array_equal(found.statistic, batch(4).statistic)
    np.testing.assert_array_equal(found.coefficients, batch(4).coefficients)


def test_nothing_but_whole_files_is_left(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.write(batch(0))
    with store.claim(4) as mine:
        assert mine
    assert sorted(p.name for p in tmp_path.iterdir()) == ["batch-00000000.npz", "store.json"]


def test_another_configuration_is_refused_by_what_differs(tmp_path: Path) -> None:
    open_store(tmp_path)
    with pytest.raises(StoreError, match=r"another configuration \(width: 0\.3 there, 0\.5 now\)"):
        open_store(tmp_path, width=0.5)


def test_the_grid_of_an_old_store_stays(tmp_path: Path) -> None:
    open_store(tmp_path)
    again = ToyStore(tmp_path, DESCRIPTION, batch_size=100)
    assert again.batch_size == 4
    assert again.batches(10) == [0, 4, 8]


@pytest.mark.parametrize("damage", ["truncated", "garbage", "other store", "empty"])
def test_a_damaged_batch_is_set_aside_and_made_again(tmp_path: Path, damage: str) -> None:
    store = open_store(tmp_path / "a")
    store.write(batch(0))
    path = tmp_path / "a" / "batch-00000000.npz"
    if damage == "other store":
        other = open_store(tmp_path / "b", seed=2)
        other.write(batch(0))
        path.write_bytes((tmp_path / "b" / "batch-00000000.npz").read_bytes())
    else:
        content = path.read_bytes()
        path.write_bytes({"truncated": content[:-50], "garbage": b"x" * 500, "empty": b""}[damage])
    with pytest.warns(StoreWarning, match="set aside as batch-00000000.damaged"):
        assert store.read(0) is None
    store.write(batch(0))
    assert store.read(0) is not None


def test_a_batch_cut_short_is_not_taken_for_a_whole_one(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.write(batch(0, size=3))
    with pytest.warns(StoreWarning, match="not complete"):
        assert store.read(0) is None


@pytest.mark.parametrize("content", ["", "{", "[]", f'{{"format": "{FORMAT}"}}'])
def test_a_damaged_description_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "store.json").write_text(content)
    with pytest.raises(StoreError, match=r"store\.json is damaged \(.*use a new folder"):
        open_store(tmp_path)


def test_another_version_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text(json.dumps({"format": "lanner.toys/99"}))
    with pytest.raises(StoreError, match=r"store\.json is of another version \(lanner\.toys/99, .*use a new folder"):
        open_store(tmp_path)


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path)
    store.write(batch(0))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"is full.*safe"):
        store.write(batch(4))
    monkeypatch.undo()
    assert store.read(0) is not None
    assert store.read(4) is None
    assert not list(tmp_path.glob(".*"))


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "toys").write_text("")
    with pytest.raises(StoreError, match="is a file"):
        open_store(tmp_path / "toys")


def _hold(folder: Path, started: object, release: object) -> None:
    with open_store(folder).claim(0) as mine:
        assert mine
        started.set()  # type: ignore[attr-defined]
        release.wait(20)  # type: ignore[attr-defined]


def test_a_claim_keeps_others_out_until_its_holder_dies(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    started, release = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(tmp_path, started, release))
    holder.start()
    assert started.wait(20)
    store = open_store(tmp_path)
    with store.claim(0) as mine:
        assert not mine
    holder.kill()
    holder.join()
    with store.claim(0) as mine:
        assert mine


def test_a_claim_may_end_in_another_thread(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    claim = store.claim(0)
    assert claim.__enter__()
    thread = Thread(target=claim.__exit__, args=(None, None, None))
    thread.start()
    thread.join()
    with store.claim(0) as mine:
        assert mine


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK, errno.EACCES, errno.EAGAIN])
def test_without_locks_a_run_goes_on_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """Some file systems say "not supported", others "held by another", for ever."""

    def none(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("fcntl.flock", none)
    store = open_store(tmp_path)
    with pytest.warns(StoreWarning, match=r"has no locks.*start one run at a time"), store.claim(0) as mine:
        assert mine
    with store.claim(4) as mine:  # said once
        assert mine
    assert not list(tmp_path.glob("*.lock"))


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_lock_is_neither_followed_nor_waited_for(tmp_path: Path, kind: str) -> None:
    outside, lock = tmp_path / "thesis.tex", tmp_path / "toys" / "batch-00000000.lock"
    outside.write_text("years of work")
    store = open_store(tmp_path / "toys")
    {"link": lambda: lock.symlink_to(outside), "pipe": lambda: os.mkfifo(lock), "folder": lock.mkdir}[kind]()
    with (
        pytest.raises(StoreError, match=r"batch-00000000\.lock is a link, a pipe or a folder.*remove it"),
        store.claim(0),
    ):
        pass
    assert outside.read_text() == "years of work"


def test_a_pipe_in_place_of_a_batch_is_set_aside_and_not_waited_for(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    os.mkfifo(tmp_path / "batch-00000000.npz")
    with pytest.warns(StoreWarning, match=r"batch-00000000\.npz is damaged \(.*is a pipe"):
        assert store.read(0) is None
    store.write(batch(0))
    assert store.read(0) is not None


def test_a_pipe_in_place_of_the_description_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "store.json")
    with pytest.raises(StoreError, match=r"store\.json is a pipe"):
        open_store(tmp_path)


def test_a_batch_that_cannot_be_read_is_not_taken_for_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path)
    store.write(batch(0))

    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("lanner.run.toy_store.read_arrays", broken)
    with pytest.raises(StoreError, match=r"cannot be read: Input/output error.*its toys are safe"):
        store.read(0)
    monkeypatch.undo()
    assert store.read(0) is not None


def test_a_batch_whose_numbers_were_edited_is_made_again(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.write(batch(0))
    path = tmp_path / "batch-00000000.npz"
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **(arrays | {"statistic": arrays["statistic"] / 2}))
    with pytest.warns(StoreWarning, match="changed after it was written"):
        assert store.read(0) is None


@pytest.mark.parametrize("harm", ["damaged", "edited", "missing"])
def test_a_description_is_made_again_from_toys_of_this_configuration(tmp_path: Path, harm: str) -> None:
    open_store(tmp_path).write(batch(0))
    path = tmp_path / "store.json"
    before = path.read_text()
    if harm == "missing":
        path.unlink()
        store = ToyStore(tmp_path, DESCRIPTION, batch_size=7)
    else:
        path.write_text("{" if harm == "damaged" else before.replace('"batch_size": 4', '"batch_size": 2'))
        with pytest.warns(StoreWarning, match=r"store\.json is damaged.*written again"):
            store = ToyStore(tmp_path, DESCRIPTION, batch_size=7)
    assert path.read_text() == before
    assert store.batch_size == 4
    assert store.read(0) is not None


def test_a_damaged_description_of_other_toys_is_an_error(tmp_path: Path) -> None:
    open_store(tmp_path, seed=2).write(batch(0))
    (tmp_path / "store.json").write_text("{")
    with pytest.raises(StoreError, match=r"store\.json is damaged \(.*use a new folder"):
        open_store(tmp_path)


@pytest.mark.parametrize("version", ["STATISTIC", "SCHEME"])
def test_toys_of_another_statistic_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    open_store(tmp_path).write(batch(0))
    monkeypatch.setattr(f"lanner.run.fingerprint.{version}", 99)
    with pytest.raises(StoreError, match=rf"another configuration \({version.lower()}: \d+ there, 99 now\)"):
        open_store(tmp_path)


def test_what_killed_runs_left_half_written_is_removed_and_what_is_in_use_is_not(tmp_path: Path) -> None:
    open_store(tmp_path)
    abandoned = tmp_path / ".batch-00000000.npz.lanner-abcd_123.npz"
    others = tmp_path / ".batch-00000000.npz.swp"
    abandoned.touch()
    others.touch()
    (tmp_path / "batch-00000000.lock").touch()
    store = open_store(tmp_path)
    with files._partial(tmp_path / "batch-00000004.npz", marked=True) as partial, store.claim(4):
        open_store(tmp_path)
        assert partial.exists()
        assert (tmp_path / "batch-00000004.lock").exists()
    assert not list(tmp_path.glob("*.lock"))
    assert not abandoned.exists()
    assert others.exists()


def test_a_batch_that_does_not_fit_into_memory_is_not_taken_for_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path)
    store.write(batch(0))

    def full(path: Path) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr("lanner.run.toy_store.read_arrays", full)
        with pytest.raises(MemoryError):
            store.read(0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["batch-00000000.npz", "store.json"]
    assert store.read(0) is not None
