"""`Monitor`: batches in, verdicts out, the same after it was closed and opened again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import BatchError, InputError
from lanner.monitor.calibration import MonitorCalibration
from tests.monitor.conftest import events
from tests.monitor.folders import batch, monitor_of


@pytest.fixture
def monitor(tmp_path: Path, calibration: MonitorCalibration) -> Iterator[lanner.Monitor]:
    with monitor_of(tmp_path, calibration) as made:
        yield made


def test_what_was_said_is_said_again_after_it_was_opened_again(monitor: lanner.Monitor) -> None:
    for k in range(12):
        monitor.update(batch(k, shift=0.6 * (k > 7)), f"run {k}", expected=None if k % 3 else 55.0)
    before = [v.to_dict() for v in monitor.verdicts]
    flagged, good, summary = monitor.flagged, monitor.good_runs(), monitor.summary()
    monitor.close()
    with lanner.Monitor(monitor.folder) as again:
        assert [v.to_dict() for v in again.verdicts] == before
        assert (again.flagged, again.good_runs(), again.summary()) == (flagged, good, summary)
        assert [v.name for v in again.alarms] == [v["name"] for v in before if v["alarms"]]
        assert "run 8" not in again.good_runs() or not again.flagged


def test_columns_are_matched_by_name_and_arrays_by_place(monitor: lanner.Monitor) -> None:
    columns = batch(1)
    first = monitor.update(dict(reversed(columns.items())), "a")
    with pytest.raises(BatchError, match="counted before, as batch 'a'"):
        monitor.update(np.column_stack(list(columns.values())), "b")
    assert first.events == 60


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"energy": [1.0, 2.0]}, "angle"),
        ({"energy": [1.0, 2.0], "angle": [1.0, np.nan]}, "angle"),
        (np.zeros((3, 5)), "5|columns"),
        (lanner.Sample.of(events(20, 1), names=["energy", "angle"], weights=np.ones(20)), "weights"),
    ],
)
def test_what_cannot_be_counted_is_refused_and_recorded(monitor: lanner.Monitor, bad: object, said: str) -> None:
    with pytest.raises(BatchError, match=said):
        monitor.update(bad, "bad")
    assert [r.name for r in monitor.quarantined] == ["bad"]
    assert monitor.verdicts == []
    assert monitor.update(batch(1), "bad").events == 60
    assert monitor.quarantined == []


def test_batches_without_a_name_are_numbered(monitor: lanner.Monitor) -> None:
    assert [monitor.update(batch(k)).name for k in range(2)] == ["batch 1", "batch 2"]
    with pytest.raises(InputError, match="name=''"):
        monitor.update(batch(3), "")


def test_empty_batches_of_every_kind_count(monitor: lanner.Monitor) -> None:
    assert monitor.update(np.zeros((0, 2)), "array").p_value is None
    assert monitor.update({"energy": [], "angle": []}, "columns").alarms == ()
    assert monitor.update([], "dead", expected=50).is_alarm


@pytest.mark.parametrize("expected", [0, -1, np.nan, "many"])
def test_an_expected_number_is_a_number_above_0(monitor: lanner.Monitor, expected: Any) -> None:
    with pytest.raises(InputError, match="expected="):
        monitor.update(batch(1), expected=expected)


def test_details_can_be_left_out_and_asked_for_later(monitor: lanner.Monitor) -> None:
    plain = monitor.update(batch(1, shift=1.0), details=False)
    assert plain.is_alarm
    assert plain.features == ()
    assert monitor.verdicts[0].features[0].name == "angle"


def test_one_that_only_looks_may_not_write(monitor: lanner.Monitor) -> None:
    monitor.update(batch(1), "a")
    with lanner.Monitor(monitor.folder, read_only=True) as looking:
        assert looking.verdicts == monitor.verdicts
        with pytest.raises(InputError, match="only looks"):
            looking.update(batch(2))


def test_a_folder_without_a_calibration_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no calibration: give a reference"):
        lanner.Monitor(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_it_shows_itself(monitor: lanner.Monitor) -> None:
    monitor.update(batch(1, shift=1.0), "<b>run</b>")
    assert repr(monitor) == "Monitor(1 batch, 1 alarm; 'energy', 'angle')"
    assert "1: <b>run</b>" in monitor.summary()
    html = monitor._repr_html_()
    assert "<svg" in html
    assert "<b>run</b>" not in html
