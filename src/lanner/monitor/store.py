"""What a monitor's folder holds: the calibration, a journal of batches, and those that could not be counted.

Everything else, such as evidence and windows, is folded again from the journal. One process at a time may write.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from lanner._util.files import digest_of, read_bytes
from lanner._util.locks import has_locks, release_lock, try_lock
from lanner.errors import BatchError, FileError, InputError, StoreError
from lanner.monitor.calibration import MonitorCalibration
from lanner.monitor.history import Entry, History, stamp_of
from lanner.monitor.journal import Journal, Record
from lanner.monitor.judge import Judge
from lanner.monitor.quarantine import Quarantine, Refusal
from lanner.monitor.toys import SMALLEST
from lanner.run.fingerprint import array_digest
from lanner.run.manifest import NAME as MANIFEST
from lanner.typing import Array

CALIBRATION, JOURNAL, QUARANTINE, LOCK = "calibration", "journal.jsonl", "quarantine.jsonl", "monitor.lock"


class BatchStore:
    """Batches in a folder, in the order of their arrival."""

    def __init__(
        self, folder: Path, calibrated: Callable[[Path], MonitorCalibration], *, read_only: bool = False
    ) -> None:
        self.folder, self._read_only = folder, read_only
        self._lock = None if read_only else _locked(folder)
        try:
            self.calibration = calibrated(folder / CALIBRATION)
            self._read()
        except BaseException:
            self.close()
            raise

    def _read(self) -> None:
        self._journal = Journal(self.folder / JOURNAL, digest_of(read_bytes(self.folder / CALIBRATION / MANIFEST)))
        self._history = History(Judge(self.calibration), self._journal.read(begin=not self._read_only))
        self._quarantine = Quarantine(self.folder / QUARANTINE)
        self._is_behind = False

    def close(self) -> None:
        """Let another have the folder."""
        if self._lock is not None:
            release_lock(self._lock)
            self._lock = None

    def __len__(self) -> int:
        return len(self._history.entries)

    @property
    def entries(self) -> list[Entry]:
        """All batches."""
        if self._is_behind:  # something came in between, such as Ctrl-C: the journal knows
            self._read()
        return self._history.entries

    @property
    def quarantined(self) -> list[Refusal]:
        """The batches that were refused, but those that were counted later."""
        last = {refusal.name: refusal for refusal in self._quarantine.refusals}
        places = {entry.record.name: number for number, entry in enumerate(self.entries)}
        return [refusal for name, refusal in last.items() if places.get(name, -1) < refusal.after]

    def of_file(self, origin: dict[str, Any]) -> list[Entry]:
        """The batches of this very file, as it is now."""
        return self._history.by_origin.get(stamp_of(origin), [])

    def has_refused(self, origin: dict[str, Any]) -> bool:
        """Whether this very file, as it is now, was refused."""
        return self._quarantine.has(origin)

    def last_refusal(self, name: str) -> Refusal | None:
        """Why a batch was refused the last time."""
        return self._quarantine.of(name)

    def refuse(self, name: str, reason: str, origin: dict[str, Any] | None = None) -> Refusal:
        """Record that a batch cannot be counted, and why."""
        self._check_open()
        return self._quarantine.add(name, reason, origin, after=len(self))

    def count(
        self,
        name: str,
        features: Callable[[], Array],
        *,
        expected: float | None = None,
        key: tuple[float, ...] = (),
        origin: dict[str, Any] | None = None,
        details: bool = True,
        wait: bool = True,
    ) -> Entry:
        """Judge a batch; one that is refused is recorded as well. `wait` until it is on disk, or `flush` later."""
        self._check_open()
        if self._is_behind:
            self._read()
        try:
            found = features()
            known = self._known(name, found)
            if known is not None:
                return known
        except InputError as error:
            self.refuse(name, str(error), origin)
            if isinstance(error, BatchError):
                raise
            raise BatchError(str(error)) from error
        number = len(found)
        sums = self._history.judge.sums(found) if number else None
        record = Record(name, array_digest(found), number, expected, sums, key, origin)
        self._is_behind = True  # until both the file and this object have it
        self._journal.append(record, wait=wait)
        entry = self._history.add(record, details=details)
        self._is_behind = False
        return entry

    def flush(self) -> None:
        """Wait until all batches are on disk."""
        self._journal.flush()

    def _known(self, name: str, features: Array) -> Entry | None:
        """The same batch, where it was counted before; one that would count something twice is refused."""
        digest, number = array_digest(features), len(features)
        before = self._history.by_name.get(name)
        if before is not None:
            if before.record.digest == digest:
                return before
            raise BatchError(
                f"batch {name!r} was counted before, with {before.record.events} events that are not these {number}: "
                "no name counts twice; if they are further events, give them another name"
            )
        same = self._history.by_digest.get(digest)
        # A few events, or a few different values, may well come again.
        if same is not None and len(np.unique(features, axis=0)) >= SMALLEST:
            raise BatchError(
                f"the {number} events of batch {name!r} were counted before, as batch {same.record.name!r}: no event "
                "counts twice"
            )
        return None

    def _check_open(self) -> None:
        if self._lock is None:
            raise InputError(f"this monitor only looks at {self.folder}, or was closed: make one that may write")


def _locked(folder: Path) -> FileLock:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        has = has_locks(folder)
    except OSError as error:
        raise FileError(f"{folder} cannot be written to: {error.strerror or error}") from error
    if not has:
        raise StoreError(
            f"files in {folder} cannot be locked, so that two monitors could count the same batch: use a folder on "
            "another disk"
        )
    lock = try_lock(folder / LOCK)
    if lock is None:
        raise StoreError(
            f"another monitor is at work in {folder}: end it first, use another folder, or only look at this one "
            "(read_only=True; on the command line --output alone)"
        )
    return lock
