"""Build one sample of the chunks of all files, within the memory budget and without losing rows unnoticed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import megabytes
from lanner._util.text import count, joined
from lanner.errors import EmptySampleError, InputError, MemoryBudgetError
from lanner.events.columns import read_only
from lanner.events.expression_values import Longest
from lanner.events.io.request import Request
from lanner.events.io.spool import Spool
from lanner.events.io.table import Chunk
from lanner.events.lists import Lists
from lanner.events.missing import ABSENT
from lanner.events.sample import Sample
from lanner.typing import Array

log = logging.getLogger(__name__)

SPOOL = 4  # features that take more than this part of the budget are kept on disk


@dataclass
class SampleBuilder:
    """What was kept of the chunks so far, in float64, and the counts that messages need."""

    request: Request
    drop_nan: bool
    budget: int  # bytes
    what: str  # what messages call the events
    rows: int = 0  # of all chunks
    chosen: int = 0  # rows that the selection let through
    dropped: int = 0  # rows among them in which something that enters the search is NaN
    source: str = ""  # what messages call the table that is being read
    total: float = 0.0  # of what is added up over all rows
    all_missing: bool = False  # whether an object may be missing in every event
    absent: dict[str, int] = field(default_factory=dict)  # kept rows that lack an object, by feature
    # Of each object that is taken, by its text, its index and of whom it is asked: the length of the longest list.
    longest: dict[tuple[str, int, str], int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)  # how many of the selected rows are NaN, by column
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)  # to say why nothing was selected
    held: int = 0  # bytes of memory that are taken
    # For each result (the table of features, the weights if any, what uncertainties are made of, each further
    # variable) its part of each chunk.
    parts: list[list[Array]] = field(default_factory=list)
    spool: Spool | None = None  # has the features, where they are many
    places: list[NDArray[np.intp]] = field(default_factory=list)  # where the kept rows stand among all rows

    def kept_rows(self) -> NDArray[np.intp] | None:
        """Where the kept events stand among all rows; None where all were kept."""
        kept = sum(map(len, self.places))
        return np.concatenate(self.places) if self.places and kept < self.rows else None

    def add(self, chunk: Chunk) -> None:
        """Select rows of a chunk and keep what is asked for."""
        request, source = self.request, self.source or self.what
        columns, places, longest = request.select(chunk, source)
        self._note_longest(longest, "event")
        places = places + self.rows
        rows, there = len(places), len(next(iter(chunk.values())))
        self.rows += there
        if request.total is not None:
            self.total += float(request.total.taken(chunk, there, source).values.sum())
        self.chosen += rows
        if not self.chosen:
            self._note_ranges(chunk)
        if not rows:
            return
        table = np.empty((rows, len(request.features)))
        whose = "event" if request.where is None else "selected event"
        for j, feature in enumerate(request.features):
            taken = feature.taken(columns, rows, source)
            self._note_longest(taken.longest, whose)
            table[:, j] = taken.values if taken.absent is None else np.where(taken.absent, ABSENT, taken.values)
        results = [table]
        for item in (*request.weights, *request.varied, *request.extra):
            taken = item.taken(columns, rows, source)
            self._note_longest(taken.longest, whose)
            results.append(taken.values)
        whole = self._count_missing(results, rows)
        if self.drop_nan and not whole.all():
            results = [result[whole] for result in results]
            places = places[whole]
        if request.where is not None or self.drop_nan:
            self.places.append(places)
            self.held += places.nbytes
        table, *others = results
        for feature, column in zip(request.features, table.T, strict=True):
            if not isinstance(feature.source, str):
                self.absent[feature.name] = self.absent.get(feature.name, 0) + int(np.count_nonzero(column == ABSENT))
        self.held += sum(result.nbytes for result in others)
        self.parts = self.parts or [[] for _ in results]
        self._keep(table)
        if self.held > self.budget:
            raise MemoryBudgetError(
                f"the weights and further variables of {self.what} take more than the memory budget of "
                f"{megabytes(self.budget)} (after {count(self.rows, 'row')}): give a larger memory=..., select "
                f"fewer events with where=..., or fewer variables with extra=..."
            )
        for kept, result in zip(self.parts[1:], others, strict=True):
            kept.append(result)

    def _keep(self, table: Array) -> None:
        """Keep rows of features: in memory while they are few, on disk when they would take up the room of the fit."""
        tables = self.parts[0]
        tables.append(table)
        if self.spool is None:
            self.held += table.nbytes
            if self.held <= self.budget // SPOOL:
                return
            log.info("%s: more than %s of events, kept on disk", self.what, megabytes(self.budget // SPOOL))
            self.held -= sum(part.nbytes for part in tables)
            self.spool = Spool(table.shape[1])
        while tables:
            self.spool.add(tables.pop(0))

    def _count_missing(self, results: Sequence[Array], rows: int) -> NDArray[np.bool_]:
        """Return which rows have no NaN in features, weight and varied weights, and count the others.

        Only what enters the search can cost an event: a variable for plots must not change the result.
        """
        request, whole = self.request, np.ones(rows, dtype=np.bool_)
        fitted = (*results[0].T, *results[1 : 1 + len(request.weights) + len(request.varied)])
        for item, values in zip(request.fitted, fitted, strict=True):
            absent = np.isnan(values)
            self.missing[item.name] = self.missing.get(item.name, 0) + int(np.count_nonzero(absent))
            whole &= ~absent
        self.dropped += rows - int(np.count_nonzero(whole))
        return whole

    def finish(self) -> tuple[Sample, dict[str, Array], dict[str, Array]]:
        """Return the sample, what uncertainties are made of and the further variables; refuse rows without numbers."""
        self._check_rows()
        self._check_missing()
        if not self.all_missing:
            self._check_objects()
        request = self.request
        tables, *others = self.parts
        table = assembled(tables) if self.spool is None else self.spool.table()
        columns = [assembled(parts) for parts in others]
        weights = columns.pop(0) if request.weights else None
        sample = Sample(table, tuple(item.name for item in request.features), weights, label=self.what)
        beside = (*request.varied, *request.extra)
        named = [(item.name, read_only(column)) for item, column in zip(beside, columns, strict=True)]
        return sample, dict(named[: len(request.varied)]), dict(named[len(request.varied) :])

    def _check_rows(self) -> None:
        if not self.rows:
            raise EmptySampleError(f"{self.what} is empty (no rows): give at least one event")
        if not self.chosen:
            ranges = [f"{name!r} is {low:g} to {high:g}" for name, (low, high) in self.ranges.items()]
            out_of_reach = "; ".join(self._out_of_reach())
            raise EmptySampleError(
                f"the {self.request.where!s} selects none of the {count(self.rows, 'row')} of {self.what}"
                f"{f' ({joined(ranges)})' if ranges else ''}: loosen it{f' ({out_of_reach})' if out_of_reach else ''}"
            )

    def _check_missing(self) -> None:
        if not self.dropped:
            return
        found = joined([f"column {name!r} ({times})" for name, times in self.missing.items() if times])
        if not self.drop_nan:
            raise InputError(
                f"{self.what} has NaN or missing values in {count(self.dropped, 'row')} of {self.chosen}: {found}; "
                f"give drop_nan=True to drop these rows, or leave the columns out of the features"
            )
        if self.dropped == self.chosen:
            raise InputError(f"{self.what} has NaN or missing values in all {self.chosen} rows: {found}")

    def _check_objects(self) -> None:
        """Refuse what no event has: a variable without a single value is more likely a slip than a measurement."""
        small = "leave it out, or for a small data set, of whose reference some events have it, give all_missing=True"
        for text in self._out_of_reach():
            raise InputError(f"{text}: take a smaller index, {small}")
        kept = self.chosen - (self.dropped if self.drop_nan else 0)
        for name, number in self.absent.items():
            if number == kept:
                raise InputError(
                    f"feature {name!r} of {self.what} is missing in all {count(kept, 'event')}, because none has its "
                    f"objects: {small}"
                )

    def _out_of_reach(self) -> list[str]:
        """The objects that are asked for and that no event has, in words."""
        return [
            f"{text}: no {whose} of {self.what} has so many (at most {longest})"
            for (text, index, whose), longest in self.longest.items()
            if (index if index >= 0 else -index - 1) >= longest
        ]

    def _note_longest(self, found: Longest, whose: str) -> None:
        for (text, index), number in found.items():
            key = text, index, whose
            self.longest[key] = max(number, self.longest.get(key, 0))

    def _note_ranges(self, chunk: Chunk) -> None:
        for name in self.request.where.names if self.request.where is not None else ():
            column = chunk[name].content if isinstance(chunk[name], Lists) else chunk[name]
            values = column[np.isfinite(column)]
            if values.size:
                low, high = self.ranges.get(name, (np.inf, -np.inf))
                self.ranges[name] = (min(low, float(values.min())), max(high, float(values.max())))


def assembled(parts: list[Array]) -> Array:
    """Join the parts and let go of each as soon as it is copied, so that the events never exist twice."""
    if len(parts) == 1:
        return parts.pop()
    whole, at = np.empty((sum(map(len, parts)), *parts[0].shape[1:])), 0
    parts.reverse()
    while parts:
        part = parts.pop()
        whole[at : at + len(part)] = part
        at += len(part)
    return whole
