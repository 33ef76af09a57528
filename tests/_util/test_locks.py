"""Locks are held by one at a time, and a file system without them is recognised."""

import errno
import os
from pathlib import Path

import pytest

from lanner._util.locks import has_locks, is_in_use, mark_in_use, release_lock, try_lock
from lanner.errors import FileError


def test_a_lock_has_one_holder_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    lock = try_lock(path)
    assert lock is not None
    assert try_lock(path) is None
    release_lock(lock)
    assert not list(tmp_path.iterdir())
    again = try_lock(path)
    assert again is not None
    release_lock(again)


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK, errno.EACCES])
def test_a_file_system_without_locks_is_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    assert has_locks(tmp_path)

    def none(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("fcntl.flock", none)
    assert not has_locks(tmp_path)
    assert not list(tmp_path.iterdir())


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    (tmp_path / "a.lock").symlink_to(tmp_path / "precious")
    (tmp_path / "b.lock").symlink_to(tmp_path / "nowhere")
    for name in ("a.lock", "b.lock"):
        with pytest.raises(FileError, match=rf"{name} is a link.*remove it"):
            try_lock(tmp_path / name)
    assert (tmp_path / "precious").read_text() == "x"
    assert not (tmp_path / "nowhere").exists()


def test_what_is_in_use_is_known_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    writer, other = os.open(path, os.O_RDWR | os.O_CREAT), os.open(path, os.O_RDWR | os.O_CREAT)
    mark_in_use(writer)
    assert is_in_use(other)
    os.close(writer)
    assert not is_in_use(other)
    os.close(other)
