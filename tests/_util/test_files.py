"""Files are written whole or not at all."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lanner._util.files import _partial, atomic_path, read_bytes, remove_abandoned, write_atomically
from lanner.errors import FileError


@pytest.mark.parametrize("content", ["µ\n", b"\x00\xff", ""])
def test_what_is_written_is_there_and_nothing_else(tmp_path: Path, content: str | bytes) -> None:
    path = write_atomically(tmp_path / "new" / "a.json", content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert list(path.parent.iterdir()) == [path]


def test_others_may_read_the_file(tmp_path: Path) -> None:
    assert write_atomically(tmp_path / "a", "x").stat().st_mode & 0o777 == 0o644


def test_the_old_file_is_replaced_or_kept(tmp_path: Path) -> None:
    path = write_atomically(tmp_path / "a", "old")
    assert write_atomically(path, "new").read_text() == "new"
    assert write_atomically(path, "newest", keep=True).read_text() == "new"
    assert write_atomically(tmp_path / "b", "first", keep=True).read_text() == "first"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]


def test_of_many_writers_one_wins_whole(tmp_path: Path) -> None:
    contents = [str(k) * 100_000 for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: write_atomically(tmp_path / "a", content), contents))
    assert (tmp_path / "a").read_text() in contents


def test_the_partial_file_stands_beside_and_keeps_the_suffix(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "A.NPZ") as partial:
        assert partial.parent == tmp_path
        assert partial.suffix == ".npz"
        assert not (tmp_path / "A.NPZ").exists()
        partial.write_text("x")
    assert (tmp_path / "A.NPZ").read_text() == "x"


def test_an_error_on_the_way_leaves_the_old_file_and_passes(tmp_path: Path) -> None:
    path = write_atomically(tmp_path / "a", "old")
    with pytest.raises(KeyError), atomic_path(path):
        raise KeyError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_says_that_the_old_file_is_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    path = write_atomically(tmp_path / "a", "old")

    def full(handle: int) -> None:
        raise OSError(code, "no room")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"is full: a was not written, what was there before is safe"):
        write_atomically(path, "new")
    assert path.read_text() == "old"


def test_a_file_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match=r"cannot be written: (File exists|Not a directory)"):
        write_atomically(tmp_path / "file" / "a", "x")


def test_a_pipe_a_device_and_a_folder_are_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "folder", Path(os.devnull)):
        with pytest.raises(FileError, match="where a file should be; remove it"):
            read_bytes(path)


def test_what_dead_writers_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    left, pipe = tmp_path / ".a.npz.lanner-0a_b1c2d.npz", tmp_path / ".a.npz.lanner-0a_b1c2e.npz"
    mine = [tmp_path / name for name in (".a.npz.swp", ".lanner-notes", "a.npz", ".a.npz.lanner-0a_b1c2d.npz.bak")]
    for path in (left, *mine):
        path.touch()
    os.mkfifo(pipe)
    with _partial(tmp_path / "b.npz", marked=True) as partial:
        remove_abandoned(tmp_path)
        assert partial.exists()
    assert not left.exists()
    assert all(path.exists() for path in mine)
    remove_abandoned(tmp_path / "missing")


def test_without_locks_nobody_knows_what_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / ".a.npz.lanner-0a_b1c2d.npz"
    left.touch()

    def none(*_: object) -> None:
        raise OSError(errno.ENOSYS, "none")

    monkeypatch.setattr("fcntl.flock", none)
    remove_abandoned(tmp_path)
    assert left.exists()
    assert write_atomically(tmp_path / "b", "x").read_text() == "x"


def test_where_files_have_one_name_only_the_first_still_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", none)
    assert write_atomically(tmp_path / "a", "first", keep=True).read_text() == "first"
    assert write_atomically(tmp_path / "a", "second", keep=True).read_text() == "first"
