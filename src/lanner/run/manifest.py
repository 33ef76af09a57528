"""The manifest of a folder: which files belong together, each by a digest. Written last, it makes the folder whole.

A run that dies while it writes leaves files of two runs beside a manifest that fits only some of them, and files may be
copied, edited or lost. Whoever reads such a folder is told which file does not belong and how to make it again, and
never gets numbers of two runs as those of one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from lanner._util.files import digest_of, read_bytes, remove_abandoned, write_atomically
from lanner._util.locks import has_locks, release_lock, try_lock
from lanner._util.progress import waiting
from lanner.errors import FileError, FolderError

T = TypeVar("T")

FORMAT = "lanner.manifest/1"
NAME = "manifest.json"
_LOCK = ".writing.lock"
_WAIT = 60.0  # seconds that another run may take to write its files
_LOOKS, _PAUSE = 4, 0.5  # how often, and seconds between, a folder is looked at that is being written


@dataclass(eq=False)
class FolderWriter:
    """Writes the files of a folder and remembers what was written."""

    folder: Path
    digests: dict[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()  # what the last manifest named

    def remove(self, name: str, *, others: bool = False) -> None:
        """Remove a file of the last run, which would not fit; with `others`, whoever wrote it."""
        if others or name in self.before:
            try:
                (self.folder / name).unlink(missing_ok=True)
            except OSError as error:
                raise FileError(f"{self.folder / name} cannot be removed: {error.strerror or error}") from error

    def write(self, name: str, content: bytes | str) -> Path:
        """Write a file whole or not at all; its path."""
        content, path = content.encode() if isinstance(content, str) else content, self.folder / name
        if path.parent not in {(self.folder / other).parent for other in self.digests}:
            remove_abandoned(path.parent)
        self.digests[name] = digest_of(content)
        return write_atomically(path, content)

    def include(self, name: str) -> None:
        """Have the manifest name a file that was written otherwise."""
        self.digests[name] = digest_of(read_bytes(self.folder / name))


@contextmanager
def written_together(folder: Path, kind: str, *, to: bool = False) -> Iterator[FolderWriter]:
    """Write files that belong together; where the block ends well, the manifest follows.

    `to` adds them to those that the manifest names already, if it is whole.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder} cannot be made: {error.strerror or error}") from error
    with _alone(folder):
        named = Manifest.read(folder, kind).files if to else {}
        writer = FolderWriter(folder, dict(named), tuple(_named_in(folder).get(kind, ())))
        yield writer
        # A calibration's folder may hold a result as well, which stays what it was.
        plain = {"format": FORMAT, "files": _named_in(folder) | {kind: writer.digests}}
        write_atomically(folder / NAME, json.dumps(plain | {"digest": _digest(plain)}, indent=1))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While no other run writes its files into the folder: runs that shared the toys end at the same time."""
    try:
        has = has_locks(folder)
        lock = try_lock(folder / _LOCK) if has else None
        if has and lock is None:
            with waiting(f"another run, which is writing its files to {folder}"):
                lock = try_lock(folder / _LOCK, seconds=_WAIT)
        if lock is None and (folder / _LOCK).exists():
            raise FileError(
                f"another run has been writing to {folder} for {_WAIT:g} seconds; try again when it is done"
            )
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{folder} cannot be written to: {error.strerror or error}") from error
    try:
        yield
    finally:
        if lock is not None:
            release_lock(lock)


@dataclass(frozen=True, eq=False)
class Manifest:
    """The digests of the files of a folder."""

    folder: Path
    files: dict[str, str]

    @classmethod
    def read(cls, folder: Path, kind: str) -> Manifest:
        """The manifest of a folder, or an error that says in what it fails."""
        path = folder / NAME
        try:
            plain: dict[str, Any] = json.loads(read_bytes(path))
            if plain["format"] != FORMAT:
                raise FolderError(f"{path} is of another version ({plain['format']}, not {FORMAT})")
            if plain["digest"] != _digest(plain):
                raise FolderError(f"{path} was changed after it was written")
            if kind not in plain["files"]:
                raise FolderError(f"{path} names no {kind}: whoever wrote it did not come to its end")
            return cls(folder, {str(name): str(digest) for name, digest in plain["files"][kind].items()})
        except FileNotFoundError:
            raise FolderError(f"{path} is missing: whoever wrote the {kind} did not come to its end") from None
        except FolderError:
            raise
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise FolderError(f"{path} is damaged ({_in_words(error)})") from error

    def content(self, name: str) -> bytes:
        """What a file holds, if it is the one that the manifest names."""
        path = self.folder / name
        try:
            content = read_bytes(path)
        except FileNotFoundError:
            raise FolderError(f"{path} is missing") from None
        except OSError as error:
            raise FolderError(f"{path} cannot be read ({_in_words(error)})") from error
        if name not in self.files:
            raise FolderError(f"{path} is not named by {NAME} beside it: it belongs to something else")
        if self.files[name] != digest_of(content):
            raise FolderError(
                f"{path} does not belong to the files beside it: it was changed, copied from elsewhere, or is of a run "
                "that was interrupted while it wrote"
            )
        return content

    def fits(self, name: str) -> bool:
        """Whether a file is the one that the manifest names, if it names one."""
        if name not in self.files:
            return True
        try:
            self.content(name)
        except FolderError:
            return False
        return True


def read_together(folder: Path, read: Callable[[], T]) -> T:
    """Read files that belong together, again if another run is just writing them."""
    for _ in range(_LOOKS - 1):
        try:
            return read()
        except FolderError:
            if not (folder / _LOCK).exists():
                raise
            time.sleep(_PAUSE)
    return read()


def _named_in(folder: Path) -> dict[str, dict[str, str]]:
    """The files that a manifest names, be it whole or not, by what they are of."""
    try:
        return {str(kind): dict(files) for kind, files in json.loads(read_bytes(folder / NAME))["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _digest(plain: dict[str, Any]) -> str:
    """Of all that a manifest says but this."""
    text = json.dumps({name: value for name, value in plain.items() if name != "digest"}, sort_keys=True)
    return digest_of(text.encode())


def _in_words(error: BaseException) -> str:
    return str(error) or type(error).__name__
