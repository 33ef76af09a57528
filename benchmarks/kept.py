"""What a study has done so far, in a file: stopped by anything, it goes on where it was.

Files of long studies that are not finished are in `benchmarks/kept/`, so that they go on on another machine too. A file
says which version of the statistic its numbers are of, and is refused where the code has another.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from internals import numbers_version, write_atomically


@dataclass(frozen=True)
class Kept:
    """Numbers that were found, by a name of what they are of."""

    path: Path | None  # None where nothing is kept
    about: dict[str, Any]
    found: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path | None, **about: Any) -> Kept:
        """What the file holds, if there is one and it is `about` the same."""
        about = {**numbers_version(), **about}
        if path is None or not path.exists():
            return cls(path, about)
        kept = json.loads(path.read_text())
        if kept["about"] != about:
            raise SystemExit(
                f"{path} holds results of {kept['about']}, and these would be of {about}: give another file"
            )
        return cls(path, about, kept["found"])

    def save(self) -> None:
        """Write it all: whole or not at all."""
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, json.dumps({"about": self.about, "found": self.found}) + "\n")
