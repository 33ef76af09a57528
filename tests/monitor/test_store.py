"""No batch counts twice, whatever it is called; one process at a time; interrupted anywhere, nothing is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanner.errors import BatchError, InputError, StoreError
from lanner.monitor.calibration import MonitorCalibration
from lanner.monitor.journal import Journal
from lanner.monitor.store import BatchStore
from tests.monitor.conftest import events
from tests.monitor.folders import folder_of

BATCHES, KILLS = 40, 20


@pytest.fixture
def opened(tmp_path: Path, calibration: MonitorCalibration) -> Callable[..., BatchStore]:
    folder_of(tmp_path, calibration)
    return lambda **how: BatchStore(tmp_path, MonitorCalibration.read, **how)


def count(store: BatchStore, name: str, seed: int, number: int = 60, **how) -> object:
    return store.count(name, lambda: events(number, seed), **how)


def test_the_same_batch_again_is_the_same_verdict(opened: Callable[..., BatchStore]) -> None:
    store = opened()
    first = count(store, "a", 1)
    assert count(store, "a", 1) is first
    assert len(store) == 1


def test_a_name_with_other_events_and_events_with_another_name_are_refused(opened: Callable[..., BatchStore]) -> None:
    store = opened()
    count(store, "a", 1)
    with pytest.raises(BatchError, match="batch 'a' was counted before, with 60 events that are not these 50"):
        count(store, "a", 2, 50)
    with pytest.raises(BatchError, match="60 events of batch 'b' were counted before, as batch 'a'"):
        count(store, "b", 1)
    assert [r.name for r in store.quarantined] == ["a", "b"]
    assert len(store) == 1
    store.close()
    assert [r.name for r in opened().quarantined] == ["a", "b"]


def test_few_events_may_come_again(opened: Callable[..., BatchStore]) -> None:
    store = opened()
    for name in ("a", "b"):
        store.count(name, lambda: np.ones((3, 2)))
        store.count(f"empty {name}", lambda: np.zeros((0, 2)))
        store.count(f"same {name}", lambda: np.ones((20, 2)))
    assert len(store) == 6


def test_what_was_refused_and_then_counted_is_not_missing(opened: Callable[..., BatchStore]) -> None:
    store = opened()

    def damaged() -> np.ndarray:
        raise InputError("it is damaged")

    with pytest.raises(BatchError, match="it is damaged"):
        store.count("a", damaged, origin={"path": "a", "size": 1, "time": 1})
    assert [r.reason for r in store.quarantined] == ["it is damaged"]
    count(store, "a", 1)
    assert store.quarantined == []


def test_two_refuse_each_other_and_a_third_may_look(opened: Callable[..., BatchStore]) -> None:
    store = opened()
    count(store, "a", 1)
    with pytest.raises(StoreError, match="another monitor is at work"):
        opened()
    looking = opened(read_only=True)
    assert len(looking) == 1
    with pytest.raises(InputError, match="only looks"):
        count(looking, "b", 2)
    store.close()
    opened().close()


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupt_around_writing_neither_loses_nor_doubles(
    opened: Callable[..., BatchStore], monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    store, whole = opened(), Journal.append

    def interrupted(self: Journal, *args: Any, **how: Any) -> None:
        if when == "after":
            whole(self, *args, **how)
        raise KeyboardInterrupt

    count(store, "a", 1)
    monkeypatch.setattr(Journal, "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        count(store, "b", 2)
    monkeypatch.setattr(Journal, "append", whole)
    assert len(store.entries) == (2 if when == "after" else 1)
    count(store, "b", 2)
    count(store, "c", 3)
    assert [e.record.name for e in store.entries] == ["a", "b", "c"]


def count_all(folder: Path) -> None:
    store = BatchStore(folder, MonitorCalibration.read)
    for k in range(BATCHES):
        store.count(f"run {k}", lambda k=k: events(60, k) + (k > 20), wait=k % 3 == 0)  # type: ignore[misc]
    store.close()


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, so that they need not import anything")
def test_killed_at_random_moments_it_ends_with_the_same_decisions(
    tmp_path: Path, calibration: MonitorCalibration
) -> None:
    folder, rng = folder_of(tmp_path / "killed", calibration), np.random.default_rng(5)
    journal, kept = folder / "journal.jsonl", [0]
    for _ in range(KILLS):
        child = os.fork()
        if child == 0:
            count_all(folder)
            os._exit(0)
        more, deadline = int(rng.integers(0, 3)), time.monotonic() + 20
        while lines(journal) < kept[-1] + more and time.monotonic() < deadline:
            time.sleep(0.0005)
        time.sleep(float(rng.uniform(0, 0.01)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kept.append(lines(journal))
    assert kept == sorted(kept)  # whatever was decided stays
    assert len(set(kept)) > KILLS / 4
    count_all(folder)
    count_all(folder_of(tmp_path / "straight", calibration))
    killed, straight = (BatchStore(f, MonitorCalibration.read).entries for f in (folder, tmp_path / "straight"))
    assert [e.verdict.to_dict() for e in killed] == [e.verdict.to_dict() for e in straight]
    assert [e.record.sums.tobytes() for e in killed] == [e.record.sums.tobytes() for e in straight]
    assert len(killed) == BATCHES
    assert any(e.decided.is_alarm for e in killed)
