"""What a monitor says in words."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import lanner
from lanner.monitor.calibration import MonitorCalibration
from lanner.monitor.words import line, summary_rows
from tests.monitor.folders import batch, monitor_of


@pytest.fixture
def monitor(tmp_path: Path, calibration: MonitorCalibration) -> Iterator[lanner.Monitor]:
    with monitor_of(tmp_path, calibration) as made:
        yield made


def test_a_batch_has_a_line(monitor: lanner.Monitor) -> None:
    assert line(monitor.update(batch(1), "run\n7", expected=60)).startswith("run 7  60 events  p = 0.")
    alarm = line(monitor.update(batch(2, shift=1.0), "bad"))
    assert "\n" not in alarm
    assert "p ≤ 0.000" in alarm
    assert "ALARM (batch): p = " in alarm
    assert "angle: " in alarm
    assert line(monitor.update(batch(3, 1), "one")) == "one  1 event  too few events to be tested alone"
    assert line(monitor.update([], "none")) == "none  0 events  no events: says nothing"


def test_the_state_has_its_promises(monitor: lanner.Monitor) -> None:
    monitor.update(batch(2, shift=1.0), "bad")
    rows = dict(summary_rows(monitor.store))
    assert rows["batches"] == "1, 60 events"
    assert rows["alarms of a single batch"] == "1: bad"
    assert rows["false alarms, single batches"] == "once in 50 batches: p below 0.02"
    assert rows["false flags"] == "5 % of those flagged"
    assert "not counted" not in rows
