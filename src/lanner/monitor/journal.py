"""The journal of a monitor: what is kept of each batch, a line after another, and all that a monitor starts from.

Each line is JSON with a batch's name, digest, numbers and sums, and ends with a check over itself and all lines before.
A line is on disk before anything is decided on it. One that was cut off, because the process or the machine died while
it was written, is the last one, and is ignored: its batch is counted when it comes again. Any other damage is an error.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.files import digest_of, read_bytes, write_atomically
from lanner.errors import FileError, FolderError
from lanner.typing import Array

FORMAT = "lanner.monitor.journal/1"
_CHECK = b', "check": "'
_LETTERS = 16  # of a check


@dataclass(frozen=True, eq=False)
class Record:
    """What is kept of one batch."""

    name: str
    digest: str  # of its events
    events: int
    expected: float | None
    sums: Array | None  # None where there are no events
    key: tuple[float, ...] = ()  # the values of the columns that it was split by, such as run and luminosity section
    origin: dict[str, Any] | None = None  # the file, its size and time

    def to_text(self) -> str:
        """As a line of JSON, without its check."""
        plain = {
            "name": self.name,
            "digest": self.digest,
            "events": self.events,
            "expected": self.expected,
            "key": list(self.key),
            "origin": self.origin,
            "sums": None if self.sums is None else base64.b64encode(self.sums.astype("<f8").tobytes()).decode(),
        }
        return json.dumps(plain)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Record:
        """Read what `to_text` wrote."""
        kept = plain["sums"]
        sums = None if kept is None else np.frombuffer(base64.b64decode(kept, validate=True), "<f8").astype(np.float64)
        return cls(
            str(plain["name"]), str(plain["digest"]), int(plain["events"]), plain["expected"], sums,
            tuple(plain["key"]), plain["origin"],
        )  # fmt: skip


class Journal:
    """The lines of a file, read once and then only added to."""

    def __init__(self, path: Path, calibration: str) -> None:
        self._path, self._calibration = path, calibration
        self._size, self._check = 0, b""  # of the file up to the last whole line

    def read(self, *, begin: bool = True) -> list[Record]:
        """All batches so far; `begin` makes the journal where there is none."""
        if not self._path.exists():
            if not begin:
                return []
            head = json.dumps({"format": FORMAT, "calibration": self._calibration}).encode()
            write_atomically(self._path, self._closed(head, b"")[0])
        content, found = read_bytes(self._path), []
        self._size, self._check = 0, b""
        for number, line in enumerate(content.splitlines(keepends=True), start=1):
            if not line.endswith(b"\n"):
                break  # cut off
            plain = self._opened(line, number)
            if number == 1:
                self._check_head(plain)
            else:
                try:
                    found.append(Record.from_plain(plain))
                except (KeyError, TypeError, ValueError, binascii.Error) as error:
                    raise self._damaged(number) from error
            self._size += len(line)
        if self._size == 0:
            raise self._damaged(1)
        return found

    def append(self, record: Record, *, wait: bool = True) -> None:
        """Add a batch, and `wait` until it is on disk; otherwise `flush` does, and it survives this process alone."""
        line, check = self._closed(record.to_text().encode(), self._check)
        try:
            # What was cut off is overwritten: nothing of it may stay behind the line.
            with self._path.open("r+b") as file:
                file.truncate(self._size)
                file.seek(self._size)
                file.write(line)
                file.flush()
                if wait:
                    os.fsync(file.fileno())
        except OSError as error:
            raise FileError(
                f"{self._path} cannot be written: {error.strerror or error}. The batch {record.name!r} was not "
                "counted, and those before are safe"
            ) from error
        self._size, self._check = self._size + len(line), check

    def flush(self) -> None:
        """Wait until all lines are on disk."""
        with self._path.open("r+b") as file:
            os.fsync(file.fileno())

    def _closed(self, body: bytes, before: bytes) -> tuple[bytes, bytes]:
        check = digest_of(before + body)[:_LETTERS].encode()
        return body[:-1] + _CHECK + check + b'"}\n', check

    def _opened(self, line: bytes, number: int) -> dict[str, Any]:
        at = line.rfind(_CHECK)
        body, check = line[:at] + b"}", line[at + len(_CHECK) : at + len(_CHECK) + _LETTERS]
        if at < 0 or check != digest_of(self._check + body)[:_LETTERS].encode():
            raise self._damaged(number)
        self._check = check
        plain: dict[str, Any] = json.loads(body)
        return plain

    def _check_head(self, plain: dict[str, Any]) -> None:
        if plain.get("format") != FORMAT:
            raise FolderError(f"{self._path} is of another version ({plain.get('format')}, not {FORMAT})")
        if plain.get("calibration") != self._calibration:
            raise FolderError(
                f"{self._path} has batches that another calibration than the one beside it has judged: use another "
                "folder, or put that calibration back"
            )

    def _damaged(self, number: int) -> FolderError:
        return FolderError(
            f"{self._path}:{number}: this line is damaged or was changed, and what follows depends on it: put a copy "
            "of the file back, or begin a new folder and give all batches again"
        )
