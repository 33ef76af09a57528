"""Batches that could not be counted, each with its reason: a file of JSON lines beside the journal."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lanner._util.files import read_bytes
from lanner.errors import FileError


@dataclass(frozen=True)
class Refusal:
    """A batch that was not counted."""

    name: str
    reason: str
    origin: dict[str, Any] | None
    after: int  # batches that had been counted
    time: str  # in UTC

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return dict(vars(self))


class Quarantine:
    """The file of refusals. A line that was cut off is passed over: its batch is refused again when it comes again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.refusals: list[Refusal] = []
        self._ends_well = True
        if path.exists():
            content = read_bytes(path)
            self._ends_well = content.endswith(b"\n") or not content
            for line in content.splitlines():
                refusal = _refusal(line)
                if refusal is not None:
                    self.refusals.append(refusal)

    def add(self, name: str, reason: str, origin: dict[str, Any] | None = None, *, after: int) -> Refusal:
        """Record a refusal, unless it is the last one of this batch already."""
        before = self.of(name)
        if before is not None and (before.reason, before.origin) == (reason, origin):
            return before
        made = Refusal(name, reason, origin, after, datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"))
        try:
            with self._path.open("ab") as file:
                file.write(b"" if self._ends_well else b"\n")
                file.write(json.dumps(made.to_dict()).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FileError(f"{self._path} cannot be written: {error.strerror or error}") from error
        self._ends_well = True
        self.refusals.append(made)
        return made

    def of(self, name: str) -> Refusal | None:
        """The last refusal of a batch."""
        return next((r for r in reversed(self.refusals) if r.name == name), None)

    def has(self, origin: dict[str, Any]) -> bool:
        """Whether this very file, as it is now, was refused."""
        return any(refusal.origin == origin for refusal in self.refusals)


def _refusal(line: bytes) -> Refusal | None:
    try:
        plain = json.loads(line)
        return Refusal(
            str(plain["name"]), str(plain["reason"]), plain["origin"], int(plain["after"]), str(plain["time"])
        )
    except (ValueError, KeyError, TypeError):
        return None
