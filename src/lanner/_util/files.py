"""Files, written whole or not at all, and read without running anything."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.errors import FileError


def write_atomically(path: str | os.PathLike[str], content: bytes | str, *, keep: bool = False) -> Path:
    """Write beside, flush to disk, then rename: a reader sees the old file or the new one, never half of it.

    With `keep`, a file that is there already stays: of two runs that write together, one wins.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        partial = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
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
    return target


def write_arrays(path: str | os.PathLike[str], arrays: dict[str, Any]) -> Path:
    """Write arrays by name to a .npz file, whole or not at all."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return write_atomically(path, buffer.getvalue())


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file; nothing in it is executed."""
    # An open file of our own: NumPy leaves its own open where the archive is damaged.
    with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
