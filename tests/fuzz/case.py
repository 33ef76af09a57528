"""`Case`: what is tried, and all that is needed to try it again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Case:
    """Something to read or to run, made of a seed and a number."""

    kind: str  # the format of a file, "config" or "flags"
    seed: int
    number: int
    files: dict[str, bytes] = field(default_factory=dict)  # by name; the first is the one to read
    arguments: tuple[str, ...] = ()  # of the command line
    delimiter: str = ","  # of a text file, as it was written
    whole: bool = False  # nothing was damaged: it has to be read

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.seed}-{self.number}"

    @property
    def main(self) -> str:
        return next(iter(self.files))

    def write(self, folder: Path) -> Path:
        """Write the files; returns the first."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        return folder / self.main

    def keep(self, folder: Path, why: str) -> Path:
        """Write the files with what is needed to try them again, and why that is worth it."""
        self.write(folder / self.name)
        plain = asdict(self) | {"files": list(self.files), "why": why}
        (folder / self.name / "case.json").write_text(json.dumps(plain, indent=1))
        return folder / self.name

    @classmethod
    def kept(cls, folder: Path) -> Case:
        """Read what `keep` wrote."""
        plain = json.loads((folder / "case.json").read_text())
        plain.pop("why")
        files = {name: (folder / name).read_bytes() for name in plain.pop("files")}
        return cls(**plain | {"files": files, "arguments": tuple(plain["arguments"])})


def generator(seed: int, number: int) -> np.random.Generator:
    return np.random.default_rng([seed, number, 0xF022])


def pick(rng: np.random.Generator, options):
    """One of the options, of any type."""
    return options[int(rng.integers(len(options)))]
