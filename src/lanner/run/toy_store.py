"""A store of toys that survives anything: one file a batch, written whole or not at all.

Batches lie on a fixed grid (toys 0 to 99, 100 to 199, ...), so a run that was interrupted ends with exactly the
toys of one that was not. A batch file appears under its name only when it is complete and on disk. Runs that share
a store share the work: each batch is claimed by a lock that the operating system releases when its holder dies.
"""

from __future__ import annotations

import json
import logging
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.files import read_arrays, read_text, remove_abandoned, write_arrays, write_atomically
from lanner._util.locks import has_locks, release_lock, try_lock
from lanner.errors import FileError, StoreError, StoreWarning
from lanner.run.fingerprint import array_digest, fingerprint, numbers_version

log = logging.getLogger(__name__)

FORMAT = "lanner.toys/7"
_DESCRIPTION = "store.json"
_BATCH = re.compile(r"batch-(\d{8,})\.npz")


@dataclass(frozen=True, eq=False)
class Batch:
    """Toys `first` and following: their statistic and how their fits ended."""

    first: int
    statistic: NDArray[np.float64]  # (scales, toys)
    converged: NDArray[np.bool_]
    iterations: NDArray[np.int64]
    coefficients: NDArray[np.float32]  # (rank, k) of the batch's first k toys, for the bands of plots

    def __len__(self) -> int:
        return int(self.statistic.shape[1])

    @property
    def digest(self) -> str:
        """Of all that is in it, by which a change is seen."""
        return array_digest(np.array(self.first), self.statistic, self.converged, self.iterations, self.coefficients)


class ToyStore:
    """Toys in a folder. `description` is what they depend on, with the version of the code; another one is refused."""

    def __init__(self, folder: Path, description: dict[str, Any], *, batch_size: int) -> None:
        self.folder = folder
        self.description = description | {"numbers": numbers_version()}
        self._fingerprint = fingerprint(self.description)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise StoreError(f"{folder} is a file; give a folder for the toys") from None
        except OSError as error:
            raise StoreError(f"{folder} cannot be made: {error.strerror}; give a folder you may write to") from None
        remove_abandoned(folder)
        self._remove_idle_locks()
        self.batch_size = self._open(batch_size)

    def _open(self, batch_size: int) -> int:
        """Read the description of an old store, or write that of a new one; returns the grid's batch size."""
        path = self.folder / _DESCRIPTION
        if not path.exists():
            self._describe(self._size_of_batches() or batch_size)
        try:
            found = json.loads(read_text(path))
            if found["format"] != FORMAT:
                raise StoreError(
                    f"{path} is of another version ({found['format']}, not {FORMAT}), whose toys were of another test; "
                    "use a new folder"
                )
            made_for, size, kept = dict(found["made_for"]), int(found["batch_size"]), found["fingerprint"]
            if kept != fingerprint(made_for) or found["digest"] != _digest(found):
                raise ValueError("it was changed after it was written")
        except StoreError:
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            return self._repaired(path, error)
        if kept != self._fingerprint:
            different = "; ".join(_differences(made_for, self.description))
            raise StoreError(
                f"{self.folder} holds toys of another configuration ({different}); "
                "use another folder, or the settings it was made for"
            )
        return size

    def _remove_idle_locks(self) -> None:
        """Remove lock files of runs that died: those that nobody holds."""
        with suppress(OSError):
            found = list(self.folder.glob("batch-*.lock"))
            for path in found if found and has_locks(self.folder) else []:
                lock = try_lock(path)
                if lock is not None:
                    release_lock(lock)

    def _describe(self, batch_size: int, *, keep: bool = True) -> None:
        about = {
            "format": FORMAT,
            "fingerprint": self._fingerprint,
            "batch_size": batch_size,
            "made_for": self.description,
        }
        # Of two runs that start together, one describes the store.
        text = json.dumps(about | {"digest": _digest(about)}, indent=1)
        write_atomically(self.folder / _DESCRIPTION, text, keep=keep)

    def _repaired(self, path: Path, error: Exception) -> int:
        """Describe the store anew where the toys beside it are ours, which each of their files tells."""
        size = self._size_of_batches()
        if size is None:
            raise StoreError(
                f"{path} is damaged ({error}); the toys beside it are safe, but what they were made for is lost: "
                "use a new folder"
            ) from None
        warnings.warn(
            f"{path} is damaged ({error}); the toys beside it are of this configuration, so it is written again",
            StoreWarning,
            stacklevel=4,
        )
        self._describe(size, keep=False)
        return size

    def _size_of_batches(self) -> int | None:
        """The size of the first batch that is whole and of this configuration; None if there is none."""
        for path in sorted(path for path in self.folder.iterdir() if _BATCH.fullmatch(path.name)):
            with suppress(Exception):  # whatever a damaged archive makes NumPy or zipfile raise
                return len(self._checked(path, None))
        return None

    def batches(self, toys: int) -> list[int]:
        """The first toy of each batch of the grid that the toys asked for need."""
        return list(range(0, toys, self.batch_size))

    def read(self, first: int) -> Batch | None:
        """A stored batch, or None. One that is damaged is set aside with a warning, to be made again."""
        path = self._path(first)
        if not path.exists():
            return None
        try:
            batch = self._checked(path, first)
            if len(batch) != self.batch_size:
                raise ValueError("it is not complete")
        except MemoryError:
            raise
        except Exception as error:  # whatever a damaged archive makes NumPy or zipfile raise
            aside = path.with_suffix(".damaged")
            try:
                if isinstance(error, OSError) and error.errno is not None:
                    raise error  # the disk, and not what is on it
                os.replace(path, aside)
            except OSError as failed:
                raise StoreError(f"{path} cannot be read: {failed.strerror}; see to it, its toys are safe") from error
            warnings.warn(
                f"{path} is damaged ({error}); set aside as {aside.name}, its toys are made again",
                StoreWarning,
                stacklevel=2,
            )
            return None
        return batch

    def _checked(self, path: Path, first: int | None) -> Batch:
        """The batch of a file, if it is of this store, of that number, and as it was written."""
        found = read_arrays(path)
        number = int(found["first"])
        if str(found["fingerprint"]) != self._fingerprint or number != (number if first is None else first):
            raise ValueError("it belongs to another store")
        batch = Batch(number, found["statistic"], found["converged"], found["iterations"], found["coefficients"])
        if str(found["digest"]) != batch.digest:
            raise ValueError("it was changed after it was written")
        if not batch.statistic.shape == batch.converged.shape == batch.iterations.shape:
            raise ValueError("it is not complete")
        return batch

    def write(self, batch: Batch) -> None:
        """Store a batch whole or not at all."""
        about = {"fingerprint": np.array(self._fingerprint), "digest": np.array(batch.digest)}
        write_arrays(self._path(batch.first), about | vars(batch))

    @contextmanager
    def claim(self, first: int) -> Iterator[bool]:
        """Whether this run may make the batch: false while another one is making it."""
        if not self._locks:
            yield True
            return
        path = self.folder / f"batch-{first:08d}.lock"
        try:
            lock = try_lock(path)
        except FileError as error:
            raise StoreError(str(error)) from None
        except OSError as error:
            raise StoreError(f"{path} cannot be locked: {error.strerror}; give a folder on another disk") from None
        try:
            yield lock is not None
        finally:
            if lock is not None:
                release_lock(lock)

    @cached_property
    def _locks(self) -> bool:
        """Whether runs can tell each other what they make; if not, two of them may make the same toys twice."""
        try:
            found = has_locks(self.folder)
        except OSError as error:
            raise StoreError(
                f"{self.folder} cannot be written to: {error.strerror or error}; give a folder you may write to"
            ) from None
        if not found:
            warnings.warn(
                f"the file system of {self.folder} has no locks: runs that share this folder do not see each other and "
                "may make the same toys twice. The toys are right all the same; start one run at a time",
                StoreWarning,
                stacklevel=2,
            )
        return found

    def _path(self, first: int) -> Path:
        return self.folder / f"batch-{first:08d}.npz"


def _digest(about: dict[str, Any]) -> str:
    """Of all that a description says but this."""
    return fingerprint({name: value for name, value in about.items() if name != "digest"})


def _differences(there: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    for key in sorted(set(there) | set(now)):
        one, other = there.get(key), now.get(key)
        if one == other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _differences(one, other)
        elif isinstance(one, list | dict) or isinstance(other, list | dict):
            yield f"other {key}"
        else:
            yield f"{key}: {json.dumps(one)} there, {json.dumps(other)} now"
