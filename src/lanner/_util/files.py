"""Files, written whole or not at all, and read without running anything."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.errors import FileError
from lanner.typing import PathLike


def write_atomically(path: PathLike, content: bytes | str, *, keep: bool = False) -> Path:
    """Write the content with `atomic_path` and return where it is."""
    with atomic_path(path, keep=keep) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
    return Path(path)


@contextmanager
def atomic_path(path: PathLike, *, keep: bool = False) -> Iterator[Path]:
    """Give a path beside to write to, flush it to disk, then rename: a reader sees the old file or the new one.

    With `keep`, a file that is there already stays: of two runs that write together, one wins.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # With the suffix in lower case, because libraries that write files look at it.
        handle, name = tempfile.mkstemp(target.suffix.lower(), f".{target.name}.", target.parent)
        partial = Path(name)
        try:
            os.close(handle)
            yield partial
            with partial.open("rb+") as file:
                os.fsync(file.fileno())
            partial.chmod(0o644)
            if keep:
                with suppress(FileExistsError):
                    os.link(partial, target)
            else:
                partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FileError(
                f"the disk of {target.parent} is full: {target.name} was not written, what was there before is safe. "
                "Free some space and run the same command again"
            ) from error
        raise FileError(f"{target} cannot be written: {error.strerror or error}") from error


def write_arrays(path: PathLike, arrays: dict[str, Any]) -> Path:
    """Write arrays by name to a .npz file, whole or not at all."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return write_atomically(path, buffer.getvalue())


def read_arrays(path: PathLike) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file; nothing in it is executed."""
    # An open file of our own: NumPy leaves its own open where the archive is damaged.
    with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
