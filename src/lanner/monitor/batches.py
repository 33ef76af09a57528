"""Batches from files: a file is a batch, or its events are split by the values of columns or by their number."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.text import count, joined
from lanner.errors import BatchError, ColumnWarning, EmptySampleError, InputError
from lanner.events.io import Events, read_sample
from lanner.events.io.paths import FORMATS, File
from lanner.monitor.rates import Rates
from lanner.typing import Array

Origin = dict[str, Any]


@dataclass(frozen=True)
class Batch:
    """Events that belong together, or the reason why they cannot be counted."""

    name: str
    features: Array | None
    reason: str = ""
    expected: float | None = None
    key: tuple[float, ...] = ()
    origin: Origin | None = None


@dataclass(frozen=True)
class Reader:
    """Reads the features of batches from files, as the reference's were."""

    features: tuple[str, ...]
    where: str | None = None
    drop_nan: bool = False
    memory: float | str | None = None
    by: tuple[str, ...] = ()  # columns by whose values events are split
    size: int | None = None  # or into batches of so many events
    sort: bool = False  # by the values, and not by the first events
    expected: float | None = None  # of every batch
    rates: Rates | None = None  # by the name of a batch
    column: str | None = None  # or in a column
    rate: float = 1.0  # events for each unit of the column

    def batch(self, file: File, name: str, origin: Origin) -> Batch:
        """A file as one batch."""
        beside = [self.column] if self.column is not None else []
        try:
            events = self._read(file, f"batch {name!r}", beside)
        except EmptySampleError:
            return self._made(name, np.zeros((0, len(self.features))), None, (), origin)
        except (InputError, OSError) as error:
            return Batch(name, None, str(error), origin=origin)
        numbers = None if self.column is None else events.extra[self.column]
        return self._made(name, events.sample.features, numbers, (), origin)

    def split(self, source: Any, what: str, origin: Origin, prefix: str = "") -> Iterator[Batch]:
        """The events of files as several batches, in their order."""
        beside = [*self.by, *([self.column] if self.column is not None else [])]
        bad: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        try:
            try:
                events = self._read(source, what, beside)
            except EmptySampleError:
                raise
            except InputError:
                # Where some rows alone are to blame, the batches that they are in are refused, and no others.
                events, bad = self._without_nan(source, what, beside)
        except (InputError, OSError) as error:
            yield Batch(prefix or what, None, str(error), origin=origin)
            return
        rows = np.arange(len(events.sample)) if events.rows is None else events.rows
        if self.size is not None:
            for start in range(0, len(rows), self.size):
                part = np.arange(start, min(start + self.size, len(rows)))
                yield self._part(events, part, f"{prefix}{start + 1}-{part[-1] + 1}", (), origin)
            return
        yield from self._by_value(events, bad, source, what, origin, prefix)

    def _by_value(
        self, events: Events, bad: NDArray[np.intp], source: Any, what: str, origin: Origin, prefix: str
    ) -> Iterator[Batch]:
        values = np.column_stack([events.extra[name] for name in self.by])
        refused: dict[tuple[float, ...], int] = {}
        if len(bad):
            others = read_sample(source, features=list(self.by), where=self.where, drop_nan=True, label=what)
            places = np.arange(len(others.sample)) if others.rows is None else others.rows
            for row in others.sample.features[np.isin(places, bad)]:
                refused[tuple(row)] = refused.get(tuple(row), 0) + 1
        nowhere = np.isnan(values).any(axis=1)
        if nowhere.any():
            words = f"{count(int(nowhere.sum()), 'event')} of {what} have no value of {joined(list(self.by))}"
            yield Batch(f"{prefix}{joined(list(self.by))} missing", None, words, origin=origin)
        found, first, which = np.unique(values[~nowhere], axis=0, return_index=True, return_inverse=True)
        places = np.flatnonzero(~nowhere)
        numbers = which.ravel()
        inside = dict(
            enumerate(np.split(places[np.argsort(numbers, kind="stable")], np.cumsum(np.bincount(numbers))[:-1]))
        )
        order = range(len(found)) if self.sort else np.argsort(first, kind="stable")
        there = {_called(found[k]): int(k) for k in order}
        for name in there if prefix else self._with_silent(list(there)):
            key = tuple(map(float, found[there[name]])) if name in there else ()
            if name not in there:
                yield self._made(name, np.zeros((0, len(self.features))), None, (), origin)
            elif key in refused:
                yield Batch(prefix + name, None, _with_nan(refused.pop(key), name), key=key, origin=origin)
            else:
                yield self._part(events, inside[there[name]], prefix + name, key, origin)
        for key, number in refused.items():
            name = _called(key)
            yield Batch(prefix + name, None, _with_nan(number, name), key=key, origin=origin)

    def _with_silent(self, names: list[str]) -> list[str]:
        """Names in their order, and between them those of which events are expected and none have come."""
        known = [] if self.rates is None else list(self.rates.numbers)
        places = [k for k, name in enumerate(known) if name in names]
        found = list(names)
        for k in range(places[-1] if places else 0, places[0] if places else 0, -1):
            if known[k - 1] not in found:
                found.insert(found.index(known[k]), known[k - 1])
        return found

    def _part(
        self, events: Events, places: NDArray[np.intp], name: str, key: tuple[float, ...], origin: Origin
    ) -> Batch:
        numbers = None if self.column is None else events.extra[self.column][places]
        return self._made(name, np.ascontiguousarray(events.sample.features[places]), numbers, key, origin)

    def _made(self, name: str, features: Array, numbers: Array | None, key: tuple[float, ...], origin: Origin) -> Batch:
        try:
            return Batch(name, features, "", self._expected(name, numbers), key, origin)
        except BatchError as error:
            return Batch(name, None, str(error), None, key, origin)

    def _expected(self, name: str, numbers: Array | None) -> float | None:
        if self.rates is not None:
            return self.rates.of(name)
        if self.column is None:
            return self.expected
        if numbers is None:
            raise BatchError(f"batch {name!r} has no events, so that column {self.column!r} says nothing of it")
        if not len(numbers) or not (numbers == numbers[0]).all() or not 0 < numbers[0] < 1e15:
            raise BatchError(
                f"column {self.column!r} must have one number above 0 within batch {name!r}, but it has "
                f"{numbers.min():g} to {numbers.max():g}"
            )
        return float(self.rate * numbers[0])

    def _read(self, source: Any, what: str, beside: Sequence[str], *, drop_nan: bool = False) -> Events:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ColumnWarning)  # of what is beside and missing in some events
            return read_sample(
                source,
                features=list(self.features),
                where=self.where,
                extra=list(dict.fromkeys(beside)),
                drop_nan=self.drop_nan or drop_nan,
                all_missing=True,  # of what is rare in the reference, a batch may have none
                label=what,
                memory=self.memory,
            )

    def _without_nan(self, source: Any, what: str, beside: Sequence[str]) -> tuple[Events, NDArray[np.intp]]:
        """The events without those that have NaN, and the rows of these; where that is not the reason, the error."""
        if self.drop_nan or not self.by:
            return self._read(source, what, beside), np.zeros(0, dtype=np.intp)
        events = self._read(source, what, beside, drop_nan=True)
        others = read_sample(source, features=list(self.by), where=self.where, drop_nan=True, label=what)
        all_rows, kept = (
            np.arange(len(e.sample)) if e.rows is None else e.rows for e in (others, events)
        )  # fmt: skip
        return events, np.setdiff1d(all_rows, kept)


def _with_nan(number: int, name: str) -> str:
    return (
        f"{count(number, 'event')} of batch {name!r} have NaN or missing values: mend them, or drop such events with "
        "drop_nan=True"
    )


def _called(key: Any) -> str:
    """The name of a batch by its values.

    >>> _called((163286.0, 12.0)), _called((0.5,))
    ('163286:12', '0.5')
    """
    return ":".join(f"{value:.15g}" for value in key)


def origin_of(file: File) -> Origin:
    """A file as it is now: path, size and time."""
    status = os.stat(file.path)
    inside = f":{file.inside}" if file.inside else ""
    return {"path": f"{file.path.resolve()}{inside}", "size": status.st_size, "time": status.st_mtime_ns}


def names_of(files: Sequence[File]) -> list[str]:
    """Names of batches by those of their files, which are as short as they can be."""
    short = [stem(file.path) for file in files]
    return (
        short
        if len(set(short)) == len(short)
        else [f"{file.path}{f':{file.inside}' if file.inside else ''}" for file in files]
    )


def stem(path: Path) -> str:
    """A file's name without what says its format.

    >>> stem(Path("runs/run7.csv.gz")), stem(Path("run7.v2.parquet"))
    ('run7', 'run7.v2')
    """
    suffix = max((s for s in FORMATS if path.name.lower().endswith(s)), key=len, default="")
    return path.name[: len(path.name) - len(suffix)] or path.name
