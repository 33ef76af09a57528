"""A folder that is watched: its files become batches when they are whole.

A file counts when its size and time are those of the look before, and have not changed when it was read. One that
cannot be used is refused with a record, and read again when it changes.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lanner.errors import InputError
from lanner.events.io.paths import FORMATS, File, files_of
from lanner.monitor.batches import Origin, origin_of


@dataclass(eq=False)
class Watch:
    """A folder, or a pattern with a tree or group behind it, such as runs/*.root:events."""

    source: str
    is_done: Callable[[Origin], bool]  # whether this very file was counted or refused
    _before: dict[str, Origin] = field(default_factory=dict)

    def look(self) -> list[tuple[File, Origin]]:
        """The files that are new and whole, the oldest first."""
        found = {str(file.path): (file, origin) for file, origin in self._there()}
        ready = [
            (file, origin) for path, (file, origin) in found.items()
            if self._before.get(path) == origin and not self.is_done(origin)
        ]  # fmt: skip
        self._before = {path: origin for path, (_, origin) in found.items()}
        return sorted(ready, key=lambda one: (one[1]["time"], str(one[0].path)))

    def _there(self) -> Iterator[tuple[File, Origin]]:
        folder = os.path.isdir(self.source)
        if not folder and not glob.has_magic(self.source):
            raise InputError(
                f"follow={self.source!r}: there is no such folder; give one, or a pattern such as 'runs/*.csv'"
            )
        inside = Path(self.source).iterdir() if folder else ()
        patterns = sorted(str(path) for path in inside if _is_readable(path)) if folder else [self.source]
        for pattern in patterns:
            with suppress(InputError):  # there are none yet, or it has just gone
                for file in files_of(pattern, "batches"):
                    with suppress(OSError):
                        yield file, origin_of(file)


def _is_readable(path: Path) -> bool:
    return not path.name.startswith(".") and path.name.lower().endswith(tuple(FORMATS)) and path.is_file()


def looks(watch: Watch, *, poll: float, idle: float | None) -> Iterator[list[tuple[File, Origin]]]:
    """What each look finds, until nothing new has come for so many seconds."""
    last = time.monotonic()
    while True:
        found = watch.look()
        if found:
            yield found
            last = time.monotonic()
        elif idle is not None and time.monotonic() - last >= idle:
            return
        else:
            yield []
        time.sleep(poll)
