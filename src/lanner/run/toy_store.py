"""A store of toys that survives anything: one file a batch, written whole or not at all.

Batches lie on a fixed grid (toys 0 to 99, 100 to 199, ...), so a run that was interrupted ends with exactly the
toys of one that was not. A batch file appears under its name only when it is complete and on disk. Runs that share
a store share the work: each batch is claimed by a lock that the operating system releases when its holder dies.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from lanner._util.files import read_arrays, write_arrays, write_atomically
from lanner.errors import StoreError, StoreWarning
from lanner.events import Sample
from lanner.events.spread import SpreadTable

log = logging.getLogger(__name__)

FORMAT = "lanner.toys/6"
_DESCRIPTION = "store.json"


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


def fingerprint(description: dict[str, Any]) -> str:
    """A short name for what toys depend on."""
    text = json.dumps(description, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def array_digest(*arrays: NDArray[Any] | SpreadTable | None) -> str:
    """A digest of samples, to tell whether a store was made from the same events."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none")
        elif isinstance(array, SpreadTable):
            digest.update(array.digest.encode())
        else:
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def sample_digest(sample: Sample) -> str:
    """A digest of a sample's events and weights."""
    return array_digest(sample.features, sample.weights)


class ToyStore:
    """Toys in a folder. `description` is what they depend on; another one is refused."""

    def __init__(self, folder: Path, description: dict[str, Any], *, batch_size: int) -> None:
        self.folder = folder
        self.description = description
        self._fingerprint = fingerprint(description)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise StoreError(f"{folder} is a file; give a folder for the toys") from None
        except PermissionError as error:
            raise StoreError(f"{folder} cannot be made: {error.strerror}; give a folder you may write to") from None
        self.batch_size = self._open(batch_size)

    def _open(self, batch_size: int) -> int:
        """Read the description of an old store, or write that of a new one; returns the grid's batch size."""
        path = self.folder / _DESCRIPTION
        if not path.exists():
            text = json.dumps(
                {
                    "format": FORMAT,
                    "fingerprint": self._fingerprint,
                    "batch_size": batch_size,
                    "made_for": self.description,
                },
                indent=1,
            )
            write_atomically(path, text, keep=True)  # of two runs that start together, one describes the store
        try:
            found = json.loads(path.read_text())
            if found["format"] != FORMAT:
                raise StoreError(
                    f"{path} is of another version ({found['format']}, not {FORMAT}), whose toys were of another test; "
                    "use a new folder"
                )
            made_for, size, kept = dict(found["made_for"]), int(found["batch_size"]), found.get("fingerprint")
        except StoreError:
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"{path} is damaged ({error}); the toys beside it are safe, but what they were made for is lost: "
                "use a new folder"
            ) from None
        if kept != self._fingerprint:
            different = "; ".join(_differences(made_for, self.description))
            raise StoreError(
                f"{self.folder} holds toys of another configuration ({different}); "
                "use another folder, or the settings it was made for"
            )
        return size

    def batches(self, toys: int) -> list[int]:
        """The first toy of each batch of the grid that the toys asked for need."""
        return list(range(0, toys, self.batch_size))

    def read(self, first: int) -> Batch | None:
        """A stored batch, or None. One that is damaged is set aside with a warning, to be made again."""
        path = self._path(first)
        if not path.exists():
            return None
        try:
            found = read_arrays(path)
            if str(found["fingerprint"]) != self._fingerprint or int(found["first"]) != first:
                raise ValueError("it belongs to another store")
            batch = Batch(first, found["statistic"], found["converged"], found["iterations"], found["coefficients"])
            if (
                not batch.statistic.shape == batch.converged.shape == batch.iterations.shape
                or len(batch) != self.batch_size
            ):
                raise ValueError("it is not complete")
        except Exception as error:  # whatever a damaged archive makes NumPy or zipfile raise
            aside = path.with_suffix(".damaged")
            os.replace(path, aside)
            warnings.warn(
                f"{path} is damaged ({error}); set aside as {aside.name}, its toys are made again",
                StoreWarning,
                stacklevel=2,
            )
            return None
        return batch

    def write(self, batch: Batch) -> None:
        """Store a batch whole or not at all."""
        write_arrays(self._path(batch.first), {"fingerprint": np.array(self._fingerprint)} | vars(batch))

    @contextmanager
    def claim(self, first: int) -> Iterator[bool]:
        """Whether this run may make the batch: false while another one is making it."""
        path = self.folder / f"batch-{first:08d}.lock"
        # Not bound to a thread: a batch may end in another one than it was claimed in.
        lock = FileLock(path, blocking=False, thread_local=False)
        try:
            lock.acquire()
            mine = True
        except Timeout:
            mine = False
        except OSError as error:
            raise StoreError(f"{path} cannot be locked: {error.strerror}; give a folder on another disk") from None
        try:
            yield mine
        finally:
            if mine:
                # While it is still ours, or it could be the next holder's; where open files cannot go, it stays.
                with suppress(OSError):
                    path.unlink()
                lock.release()

    def _path(self, first: int) -> Path:
        return self.folder / f"batch-{first:08d}.npz"


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
