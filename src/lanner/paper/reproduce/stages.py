"""Stages of a reproduction: numbers that are kept once they are there, so that an interrupted run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanner._util.files import write_atomically
from lanner._util.progress import begin, named
from lanner.run.fingerprint import fingerprint
from lanner.typing import Progress

Numbers = dict[str, Any]


@dataclass(frozen=True)
class Stages:
    """A folder of finished stages, one JSON file each, and what they depend on."""

    folder: Path
    depends: Numbers
    progress: Progress | None = None

    def run(self, name: str, make: Callable[[Progress | None], Numbers], **depends: Any) -> Numbers:
        """The numbers of a stage: read if they were made for the same settings, made otherwise."""
        wanted = fingerprint(json.loads(json.dumps(self.depends | depends)))
        path = self.folder / f"{name}.json"
        if path.exists():
            kept: Numbers = json.loads(path.read_text())
            if kept.get("settings") == wanted:
                return kept
        begin(self.progress, f"{name}, preparing")
        numbers = make(named(self.progress, name)) | {"settings": wanted}
        write_atomically(path, json.dumps(numbers))
        return numbers
