"""From what the user names, a path, a pattern or a list of them, to the files to read, each with its reader.

A format is a module of this folder with `open_table(path, inside)` and a line for each of its suffixes in `FORMATS`.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from lanner._util.text import joined, listed, with_nearest
from lanner.errors import InputError
from lanner.events.io.table import Table, guarded, reading

FORMATS = {  # suffix: (module of this folder, name of the format in messages)
    ".root": ("root", "ROOT"),
    ".parquet": ("parquet", "Parquet"),
    ".pq": ("parquet", "Parquet"),
    ".h5": ("hdf5", "HDF5"),
    ".hdf5": ("hdf5", "HDF5"),
    ".csv": ("csv", "CSV"),
    ".csv.gz": ("csv", "CSV"),
    ".txt": ("csv", "CSV"),
    ".txt.gz": ("csv", "CSV"),
    ".npy": ("numpy", "npy"),
    ".npz": ("numpy", "npz"),
}
_SUFFIXES = "|".join(re.escape(suffix) for suffix in sorted(FORMATS, key=len, reverse=True))
# As few characters as possible before a suffix that ends the text or has a colon behind it.
_SPLIT = re.compile(rf"(?P<path>.*?(?P<suffix>{_SUFFIXES}))(?::(?P<inside>.*))?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class File:
    """A file that exists, and the tree, group or dataset to read in it (None: the only one)."""

    path: Path
    inside: str | None
    suffix: str
    groups: tuple[int, ...] | None = None  # the row groups of a Parquet file to read (None: all)

    def __fspath__(self) -> str:
        return str(self.path)

    @property
    def format(self) -> str:
        """The name of its format."""
        return FORMATS[self.suffix][1]

    @contextmanager
    def open(self) -> Iterator[Table]:
        """Open it with the reader of its format; whatever the reader's library raises becomes an `InputError`."""
        module, name = FORMATS[self.suffix]
        with ExitStack() as closing:
            with reading(self.path, name):
                # Imported when needed, because each format brings a heavy library along.
                reader = import_module(f"lanner.events.io.{module}")
                part = {} if self.groups is None else {"groups": self.groups}
                table = closing.enter_context(reader.open_table(self.path, self.inside, **part))
            yield guarded(table, self.path, name)


def names_files(source: Any) -> bool:
    """Whether a source names files, as a path or a list of paths, and is not the events themselves."""
    if isinstance(source, str | os.PathLike):
        return True
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(s, str | os.PathLike) for s in source)


def files_of(source: Any, label: str) -> list[File]:
    """Return the files that a source names, those of a pattern sorted by name."""
    files = [file for text in _texts(source) for file in _expand(text, label)]
    seen: set[tuple[Path, str | None]] = set()
    for file in files:
        key = (file.path.resolve(), file.inside)
        if key in seen:
            raise InputError(f"{label} names {file.path} more than once: its events would count twice; name it once")
        seen.add(key)
    return files


def describe(source: Any) -> str:
    """Name a source of files in a few words."""
    return joined(_texts(source))


def _texts(source: Any) -> list[str]:
    return [os.fspath(path) for path in ([source] if isinstance(source, str | os.PathLike) else source)]


def _expand(text: str, label: str) -> list[File]:
    if "://" in text:
        raise InputError(f"{label}: {text!r} is not on this machine: download it first and give its path")
    match = _SPLIT.fullmatch(text)
    if match is None:
        raise InputError(
            f"{label}: the name {text!r} does not end like a format that can be read ({', '.join(FORMATS)}); "
            f"a tree or group comes after a colon, as in 'muons.root:events'"
        )
    path, inside = os.path.expanduser(match["path"]), match["inside"] or None
    if os.path.exists(text):  # a name with a colon of its own
        path, inside = text, None
    suffix = _suffix(path)
    if os.path.isfile(path):
        return [File(Path(path), inside, suffix)]
    if os.path.isdir(path):
        raise InputError(f"{label}: {path} is a folder: name the files in it, for example '{path}/*{suffix}'")
    found = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []
    if not found:
        raise InputError(_missing(path, label))
    return [File(Path(name), inside, _suffix(name)) for name in found]


def _suffix(path: str) -> str:
    lowered = path.lower()
    return max((suffix for suffix in FORMATS if lowered.endswith(suffix)), key=len)


def _missing(path: str, label: str) -> str:
    folder, name = os.path.split(path)
    shown = folder or "this folder"
    try:
        there = sorted(os.listdir(folder or "."))
    except OSError:
        return f"{label}: there is no file {path}, because there is no folder {shown}: check the path"
    if glob.has_magic(path):
        readable = [other for other in there if _SPLIT.fullmatch(other)]
        return f"{label}: no file matches {path}; files in {shown}: {listed(readable) or 'none that can be read'}"
    return f"{label}: there is no file {with_nearest([name], there)} in {shown}: check the path"
