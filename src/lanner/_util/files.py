"""Files, written whole or not at all, and read without running anything or waiting for anybody."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.locks import has_locks, is_in_use, mark_in_use
from lanner.errors import FileError
from lanner.typing import PathLike

_PARTIAL = re.compile(r"\..+\.lanner-[a-z0-9_]{8}(\.[^.]*)?")  # the names of files that are being written and locked
_NO_LINKS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV)


def write_atomically(path: PathLike, content: bytes | str, *, keep: bool = False) -> Path:
    """Write the content whole or not at all, as with `atomic_path`, and return where it is.

    With `keep`, a file that is there already stays: of two runs that write together, one wins.
    """
    with _replacing(Path(path), keep=keep, marked=True) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
    return Path(path)


@contextmanager
def atomic_path(path: PathLike) -> Iterator[Path]:
    """Give a path beside to write to, flush it to disk, then rename: a reader sees the old file or the new one."""
    with _replacing(Path(path), keep=False, marked=False) as partial:
        yield partial


@contextmanager
def _replacing(target: Path, *, keep: bool, marked: bool) -> Iterator[Path]:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _partial(target, marked=marked) as partial:
            yield partial
            with partial.open("rb+") as file:
                os.fsync(file.fileno())
            partial.chmod(0o644)
            if keep:
                _link(partial, target)
            else:
                partial.replace(target)
            _flush_folder(target.parent)
    except FileError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FileError(
                f"the disk of {target.parent} is full: {target.name} was not written, what was there before is safe. "
                "Free some space and run the same command again"
            ) from error
        raise FileError(f"{target} cannot be written: {error.strerror or error}") from error


@contextmanager
def _partial(target: Path, *, marked: bool) -> Iterator[Path]:
    """An empty file beside the target; marked, it is locked as long as it is written, and its name says so.

    That is how `remove_abandoned` knows it. Libraries that write files may lock them themselves, so theirs are not.
    """
    while True:
        # With the suffix in lower case, because libraries that write files look at it.
        prefix = f".{target.name}.lanner-" if marked else f".{target.name}."
        handle, name = tempfile.mkstemp(target.suffix.lower(), prefix, target.parent)
        partial = Path(name)
        try:
            if marked:
                mark_in_use(handle)
            if not marked or os.name == "nt":  # which does not rename open files
                os.close(handle)
                handle = -1
            if partial.exists():  # or `remove_abandoned` was faster than the lock
                yield partial
                return
        finally:
            if handle >= 0:
                os.close(handle)
            partial.unlink(missing_ok=True)


def _link(partial: Path, target: Path) -> None:
    """Give a file a second name, unless the name is taken; where files have but one, rename it."""
    try:
        os.link(partial, target)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if not target.exists():
            partial.replace(target)


def _flush_folder(folder: Path) -> None:
    """Have a new name on disk as well; where folders cannot be flushed, the system does it in its own time."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_abandoned(folder: PathLike) -> None:
    """Remove what was left half written in a folder by processes that died: files that nobody holds a lock of.

    Where the file system has no locks, nobody can tell, and they stay.
    """
    folder = Path(folder)
    with suppress(OSError):
        found = [path for path in folder.iterdir() if _PARTIAL.fullmatch(path.name)]
        if not found or not has_locks(folder):
            return
        for path in found:
            with suppress(OSError):
                handle = os.open(path, os.O_RDWR | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
                try:
                    if not is_in_use(handle):
                        path.unlink()
                finally:
                    os.close(handle)


def write_arrays(path: PathLike, arrays: dict[str, Any]) -> Path:
    """Write arrays by name to a .npz file, whole or not at all."""
    return write_atomically(path, arrays_as_bytes(arrays))


def arrays_as_bytes(arrays: dict[str, Any]) -> bytes:
    """What a .npz file of these arrays holds."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def read_arrays(path: PathLike) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file; nothing in it is executed."""
    return arrays_from_bytes(read_bytes(path))


def arrays_from_bytes(content: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file that was read; nothing in it is executed."""
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def read_bytes(path: PathLike) -> bytes:
    """What a file holds. Pipes and devices, at which one could wait for ever, are refused."""
    # O_NONBLOCK, or opening a pipe would wait for somebody who writes.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FileError(f"{path} is a pipe, a device or a folder where a file should be; remove it")
    with os.fdopen(handle, "rb") as file:
        return file.read()


def read_text(path: PathLike) -> str:
    """What a text file holds."""
    return read_bytes(path).decode("utf-8")


def digest_of(content: bytes) -> str:
    """SHA-256 of a file's content."""
    return hashlib.sha256(content).hexdigest()
