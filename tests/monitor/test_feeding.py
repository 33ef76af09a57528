"""From files to verdicts: counted once, refused with a record, read again when they change."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lanner.monitor.batches import Reader
from lanner.monitor.calibration import MonitorCalibration
from lanner.monitor.feeding import Fed, feed_files, follow
from lanner.monitor.rates import Rates
from lanner.monitor.store import BatchStore
from tests.monitor.folders import NAMES, batch, folder_of, write_csv

READER = Reader(NAMES)


@pytest.fixture
def store(tmp_path: Path, calibration: MonitorCalibration) -> Iterator[BatchStore]:
    made = BatchStore(folder_of(tmp_path / "monitor", calibration), MonitorCalibration.read)
    yield made
    made.close()


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    for k in range(3):
        write_csv(tmp_path / "runs" / f"run{k}.csv", batch(k))
    return tmp_path / "runs"


def told(found: Iterator[Fed | None]) -> list[tuple[str, bool]]:
    """Names of what was counted or refused now."""
    return [
        (one.entry.record.name, True) if one.entry is not None else (one.refusal.name, False)
        for one in found
        if one is not None and one.is_new
    ]


def fed(store: BatchStore, *sources: Path, reader: Reader = READER) -> list[tuple[str, bool]]:
    return told(feed_files(store, reader, tuple(map(str, sources))))


def watched(store: BatchStore, folder: Path, reader: Reader = READER, idle: float = 0.05) -> list[tuple[str, bool]]:
    return told(follow(store, reader, str(folder), poll=0.01, idle=idle))


def test_files_count_once(store: BatchStore, runs: Path) -> None:
    assert fed(store, runs / "*.csv") == [("run0", True), ("run1", True), ("run2", True)]
    assert fed(store, runs / "*.csv") == []
    again = list(feed_files(store, READER, (str(runs / "*.csv"),)))
    assert [(one.entry.record.name, one.is_new) for one in again] == [(f"run{k}", False) for k in range(3)]


def test_a_copy_and_other_events_of_a_name_are_refused_and_the_stream_goes_on(store: BatchStore, runs: Path) -> None:
    fed(store, runs / "run0.csv")
    (runs / "copy.csv").write_bytes((runs / "run0.csv").read_bytes())
    write_csv(runs / "run0.csv", batch(9))
    assert fed(store, runs / "*.csv") == [("copy", False), ("run0", False), ("run1", True), ("run2", True)]
    reasons = [json.loads(line)["reason"] for line in (store.folder / "quarantine.jsonl").read_text().splitlines()]
    assert "counted before, as batch 'run0'" in reasons[0]
    assert "no name counts twice" in reasons[1]


def test_bad_files_are_refused_by_name_and_read_again_when_they_change(store: BatchStore, runs: Path) -> None:
    (runs / "run1.csv").write_text("energy\n1\n")
    (runs / "nan.csv").write_text("energy,angle\n1,nan\n")
    (runs / "cut.parquet").write_bytes(b"PAR1 cut off")
    assert sorted(watched(store, runs)) == [
        ("cut", False), ("nan", False), ("run0", True), ("run1", False), ("run2", True)
    ]  # fmt: skip
    assert watched(store, runs) == []  # nothing has changed
    write_csv(runs / "run1.csv", batch(1))
    assert watched(store, runs) == [("run1", True)]
    assert sorted(r.name for r in store.quarantined) == ["cut", "nan"]


def test_a_file_that_is_written_to_while_it_is_read_waits(
    store: BatchStore, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[int] = []
    whole = Reader.batch

    def slow(self: Reader, file, name, origin):
        found = whole(self, file, name, origin)
        if name == "run0" and not times:
            times.append(1)
            with file.path.open("a") as more:
                more.write("1.5,0.5\n")
        return found

    monkeypatch.setattr(Reader, "batch", slow)
    assert sorted(watched(store, runs)) == [("run0", True), ("run1", True), ("run2", True)]
    assert {e.record.name: e.record.events for e in store.entries}["run0"] == 61


def test_a_file_with_several_runs_is_finished_after_a_restart(store: BatchStore, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write_csv(tmp_path / "in" / "a.csv", batch(1, 90), run=np.repeat([1.0, 2.0, 3.0], 30))
    reader = Reader(NAMES, by=("run",))
    stream = (one for one in follow(store, reader, str(tmp_path / "in"), poll=0.01, idle=0.05) if one is not None)
    assert next(stream).entry.record.name == "a: 1"
    stream.close()  # as if it were killed
    assert watched(store, tmp_path / "in", reader) == [("a: 2", True), ("a: 3", True)]
    assert [e.record.key for e in store.entries] == [(1.0,), (2.0,), (3.0,)]


def test_a_batch_whose_rate_is_not_known_yet_is_counted_when_it_is(store: BatchStore, runs: Path) -> None:
    rates = runs.parent / "rates.csv"
    rates.write_text("run0,60\nrun1,60\n")
    reader = Reader(NAMES, rates=Rates.read(rates))
    assert sorted(watched(store, runs, reader)) == [("run0", True), ("run1", True), ("run2", False)]
    assert watched(store, runs, reader) == []
    rates.write_text("run0,60\nrun1,60\nrun2,61\n")
    assert watched(store, runs, reader) == [("run2", True)]
    assert store.entries[-1].record.expected == 61


def test_events_of_several_files_are_split_together(store: BatchStore, tmp_path: Path) -> None:
    for k, name in enumerate("ab"):
        write_csv(tmp_path / f"{name}.csv", batch(k, 60), run=np.repeat([5.0 + k, 6.0 + k], 30))
    reader = Reader(NAMES, by=("run",))
    assert fed(store, tmp_path / "*.csv", reader=reader) == [("5", True), ("6", True), ("7", True)]
    assert [e.record.events for e in store.entries] == [30, 60, 30]
    assert fed(store, tmp_path / "*.csv", reader=reader) == []


def test_late_files_take_their_place_in_the_order_of_arrival(store: BatchStore, runs: Path) -> None:
    for k, when in enumerate((3000, 1000, 2000)):
        os.utime(runs / f"run{k}.csv", (when, when))
    watched(store, runs)
    write_csv(runs / "before.csv", batch(7))
    os.utime(runs / "before.csv", (500, 500))
    watched(store, runs)
    assert [e.record.name for e in store.entries] == ["run1", "run2", "run0", "before"]
