"""How many events are expected in each batch: from a file of names and numbers, or from a column of the events."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanner._util.regular import text_of_settings
from lanner._util.text import shown
from lanner.errors import BatchError, InputError

_FILES = (".csv", ".txt", ".json")


@dataclass(frozen=True)
class Rates:
    """Expected numbers of batches by their names."""

    path: Path
    numbers: dict[str, float]
    stamp: tuple[int, int] | None  # size and time of the file

    @classmethod
    def read(cls, path: Path, rate: float = 1.0) -> Rates:
        """Of a CSV file with two columns, name and number, or of a JSON file, {name: number}; times a rate."""
        try:
            stamp = stamp_of(path)
            text = text_of_settings(path, "file of rates")
        except FileNotFoundError:
            raise InputError(
                f"rates={str(path)!r}: there is no such file; give a CSV or JSON file of batches and their expected "
                "numbers of events, or the name of a column"
            ) from None
        found = _from_json(path, text) if path.suffix.lower() == ".json" else _from_csv(path, text)
        return cls(path, {name: rate * number for name, number in found.items()}, stamp)

    def of(self, name: str) -> float:
        """The number of a batch."""
        if name not in self.numbers:
            raise BatchError(f"{self.path} does not say how many events are expected in batch {name!r}: add it there")
        return self.numbers[name]


def stamp_of(path: Path) -> tuple[int, int] | None:
    """Size and time of a file, if it is there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def names_file(rates: str) -> bool:
    """Whether it is a file and not a column."""
    return rates.lower().endswith(_FILES)


def _from_json(path: Path, text: str) -> dict[str, float]:
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    if not isinstance(plain, dict):
        raise InputError(f"{path} is not of the form {{batch: expected events}}: write one number for each batch")
    return {str(name): _number(value, f"{path}: batch {name!r}") for name, value in plain.items()}


def _from_csv(path: Path, text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    reader = csv.reader(text.splitlines())
    for cells in reader:
        cells = [cell.strip() for cell in cells]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if len(cells) != 2:
            raise InputError(f"{path}:{reader.line_num}: {len(cells)} cells; give two: batch, expected events")
        try:
            value = float(cells[1])
        except ValueError:
            if found or reader.line_num > 1:
                raise InputError(f"{path}:{reader.line_num}: {shown(cells[1])} is not a number of events") from None
            continue  # the names of the columns
        if cells[0] in found:
            raise InputError(f"{path}:{reader.line_num}: batch {cells[0]!r} is there twice: give it once")
        found[cells[0]] = _number(value, f"{path}:{reader.line_num}")
    return found


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e15:
        raise InputError(f"{where}: {shown(value)} is not a number of events above 0")
    return float(value)
