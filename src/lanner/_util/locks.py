"""Locks of files, which the operating system releases when their holder dies; and whether a file system has them."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from filelock import FileLock, Timeout

from lanner.errors import FileError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows, whose locks always work, and keep a file from being renamed
    fcntl = None

_TRIES, _PAUSE = 20, 0.05  # seconds: how long to wait for a lock that others hold for an instant


def has_locks(folder: Path) -> bool:
    """Whether files of a folder can be locked: one that nobody else knows of is not held by another."""
    if fcntl is None:
        return True
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # whatever the reason, and be it one that elsewhere means "held by another"
            return False
    return True


def try_lock(path: Path, *, seconds: float = 0.0) -> FileLock | None:
    """The lock of a path, or None while somebody else holds it.

    A path that is something else than a file is an error: a link would lead to a file that is not ours.
    """
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
        raise FileError(f"{path} is a link, a pipe or a folder where a lock should be; remove it")
    # Not bound to a thread: what begins in one may end in another.
    lock = FileLock(path, timeout=seconds, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return None
    return lock


def release_lock(lock: FileLock) -> None:
    """Give a lock back, and its file."""
    # While it is still ours, or it could be the next holder's; where open files cannot go, it stays.
    with suppress(OSError):
        os.unlink(lock.lock_file)
    lock.release()


def mark_in_use(handle: int) -> None:
    """Lock an open file until it is closed, where that is possible."""
    if fcntl is None:
        return
    for _ in range(_TRIES):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:  # somebody looks whether it is in use
            time.sleep(_PAUSE)
        except OSError:
            return


def is_in_use(handle: int) -> bool:
    """Whether an open file is locked by another, or may be."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False
