"""Whether a path names a file, and not something that only looks like one."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from lanner.errors import InputError

if TYPE_CHECKING:
    from lanner.typing import PathLike

_LARGEST = 2**20  # bytes of a file of settings


def check_regular(path: PathLike, what: str) -> None:
    """Refuse a pipe, a device, a socket or a folder in the place of a file: to read one could take for ever.

    A path that does not exist is left to whoever opens it.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket",
                 stat.S_IFDIR: "a folder"}  # fmt: skip
        kind = kinds.get(stat.S_IFMT(mode), "no regular file")
        raise InputError(f"{what} {path} is {kind}, not a file: write what it gives to a file, and name that")


def text_of_settings(path: Path, what: str) -> str:
    """The text of a small file that somebody wrote; a path that does not exist is left to the caller."""
    try:
        check_regular(path, what)
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{what} {path} is larger than a megabyte: give a file of settings")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{what} {path} cannot be read: {error}") from None
