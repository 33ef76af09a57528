"""All batches of a stream in the order of their arrival, judged one after another from what the journal keeps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lanner.monitor.journal import Record
from lanner.monitor.judge import BatchVerdict, Judge, StreamState
from lanner.typing import Array


@dataclass(eq=False)
class Entry:
    """A batch, the state that it came upon, and what was decided."""

    judge: Judge
    record: Record
    before: StreamState
    decided: BatchVerdict  # maybe without what only people look at
    is_flagged: bool = False  # by e-LOND
    is_flagged_by_lord: bool = False

    @cached_property
    def verdict(self) -> BatchVerdict:
        """With the size of the departure, the features and the place, worked out when somebody asks."""
        return _after(self.judge, self.before, self.record, details=True)[1]

    @property
    def is_good(self) -> bool | None:
        """Whether a batch was tested and nothing was found; None where it was not tested."""
        if self.decided.p_value is None:
            return None
        return not self.is_flagged and not any(alarm.kind == "batch" for alarm in self.decided.alarms)


class History:
    """Entries, found by their names and by their events."""

    def __init__(self, judge: Judge, records: Iterable[Record] = ()) -> None:
        self.judge = judge
        self.entries: list[Entry] = []
        self.by_name: dict[str, Entry] = {}
        self.by_digest: dict[str, Entry] = {}
        self.by_origin: dict[tuple[str, int, int], list[Entry]] = {}
        self._state = judge.start()
        for record in records:
            self.add(record)

    def add(self, record: Record, *, details: bool = False) -> Entry:
        """Judge one more batch, with all that people look at or without."""
        before = self._state
        self._state, decided = _after(self.judge, before, record, details=details)
        entry = Entry(self.judge, record, before, decided)
        if details:
            entry.__dict__["verdict"] = decided
        now, then = self._state.flagged, before.flagged
        assert now is not None
        assert then is not None
        entry.is_flagged = len(now.by_e) > len(then.by_e)
        entry.is_flagged_by_lord = len(now.by_lord) > len(then.by_lord)
        self.entries.append(entry)
        self.by_name[record.name] = entry
        if record.events:
            self.by_digest.setdefault(record.digest, entry)
        if record.origin is not None and "size" in record.origin:
            self.by_origin.setdefault(stamp_of(record.origin), []).append(entry)
        return entry


def stamp_of(origin: dict[str, object]) -> tuple[str, int, int]:
    """A file as it was: path, size and time."""
    return str(origin["path"]), int(str(origin["size"])), int(str(origin["time"]))


def _after(judge: Judge, state: StreamState, record: Record, *, details: bool) -> tuple[StreamState, BatchVerdict]:
    if record.sums is None and record.expected is None:
        return _skipped(state, record)
    sums = _no_events(judge) if record.sums is None else record.sums
    return judge.after(state, sums, record.name, expected=record.expected, details=details)


def _skipped(state: StreamState, record: Record) -> tuple[StreamState, BatchVerdict]:
    """A batch without events of which nobody knows how many are expected says nothing: all stays as it was."""
    nothing = BatchVerdict(
        name=record.name,
        number=state.number,
        events=0,
        expected=None,
        p_value=None,
        z_score=None,
        is_limit=False,
        p_shape=None,
        p_count=None,
        scale=None,
        effect=None,
        features=(),
        place=None,
        windows=(),
        log_r=state.evidence.log_r,
        log_product=state.evidence.log_product,
        alarms=(),
    )
    return replace(state, number=state.number + 1), nothing


def _no_events(judge: Judge) -> Array:
    return np.zeros(judge.calibration.yardstick.columns)
