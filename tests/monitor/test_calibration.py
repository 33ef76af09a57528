"""A calibration: what is refused, what is promised, and that a folder holds all of it."""

import json
from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import FolderError, InputError
from lanner.monitor.calibration import KIND, MonitorCalibration, Rules
from lanner.monitor.judge import Judge
from lanner.run.manifest import written_together
from lanner.settings import FitSettings
from tests.monitor.conftest import BATCH, events

QUICK = {"toys": 200, "streams": 4, "length": 10}


def made(reference: int, **rules) -> MonitorCalibration:
    asked = Rules(**{"batch": BATCH, **QUICK, **rules})
    return MonitorCalibration.make(lanner.Sample.of(events(reference, 1)), asked, FitSettings())


def written(calibration: MonitorCalibration, folder: Path) -> Path:
    with written_together(folder, KIND) as files:
        calibration.write(files)
    return folder


def test_a_reference_that_is_too_small_is_refused_with_the_size_that_it_takes() -> None:
    with pytest.raises(InputError, match=r"worth 900 events, 15 for each event of a batch.* give 1200 or more"):
        made(900)


def test_windows_that_are_too_large_for_the_reference_are_refused_with_the_size_that_they_take() -> None:
    calibration = made(24 * BATCH)
    assert calibration.windows == (2,)
    assert any("windows of 8 batches" in words and "5760 events" in words for words in calibration.refused)
    assert calibration.thresholds.windows is not None
    assert calibration.thresholds.drift is not None


def test_evidence_of_a_drift_is_refused_with_the_size_that_it_takes() -> None:
    calibration = made(22 * BATCH, windows=())
    assert calibration.thresholds.drift is None
    assert calibration.refused == (
        "evidence of a drift over many batches, for which a reference of 1440 events is needed",
    )
    assert made(25 * BATCH, windows=()).thresholds.drift is not None


def test_thresholds_are_stricter_the_longer_the_run() -> None:
    short, long = (made(100 * BATCH, run_length=r, streams=20, length=20).thresholds for r in (10.0, 80.0))
    assert long.single < short.single
    assert long.windows < short.windows
    assert long.drift > short.drift


def test_batches_of_more_events_than_the_largest_toys_have_no_smaller_p(calibration: MonitorCalibration) -> None:
    yardstick, rng = calibration.yardstick, np.random.default_rng(3)
    most = int(calibration.null.sizes[-1])
    x = np.column_stack([rng.exponential(size=4 * most), rng.standard_normal(4 * most)])
    sums = np.stack([yardstick.sums(x[: int(n * most)]) for n in (1.0, 4.0)])
    log_p, _, _ = calibration.log_p(yardstick.read(sums))
    assert np.isfinite(log_p).all()
    # Of the same departure the larger batch has no larger p, and where there is none p is not small.
    x[:, 1] += 0.3
    shifted, _, _ = calibration.log_p(yardstick.read(np.stack([yardstick.sums(x)])))
    assert log_p[1] > np.log(0.02)
    assert shifted[0] == pytest.approx(np.log(calibration.null.smallest_p))


def test_a_folder_holds_all_of_it(calibration: MonitorCalibration, tmp_path: Path) -> None:
    again = MonitorCalibration.read(written(calibration, tmp_path))
    assert again.rules == calibration.rules
    assert again.thresholds == calibration.thresholds
    assert (again.reference, again.refused) == (calibration.reference, calibration.refused)
    found = []
    for of in (calibration, again):
        judge = Judge(of)
        _, verdict = judge.after(judge.start(), judge.sums(events(50, 7)), "a")
        found.append(verdict)
    assert found[0].p_value == pytest.approx(found[1].p_value, rel=0.02)
    assert found[0].features == found[1].features


def test_of_the_events_of_the_reference_only_pivots_are_kept(calibration: MonitorCalibration) -> None:
    arrays = calibration.yardstick.to_arrays()
    assert max(len(a) for name, a in arrays.items() if name.endswith("pivots")) < 500


def test_a_damaged_folder_is_named(calibration: MonitorCalibration, tmp_path: Path) -> None:
    folder = written(calibration, tmp_path)
    (folder / "calibration.npz").write_bytes(b"nothing")
    with pytest.raises(FolderError, match=r"calibration\.npz"):
        MonitorCalibration.read(folder)


def test_a_folder_without_one_is_told_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give the reference"):
        MonitorCalibration.read(tmp_path)


def test_one_of_another_version_is_refused(calibration: MonitorCalibration, tmp_path: Path) -> None:
    with written_together(tmp_path, KIND) as files:
        calibration.write(files)
        path = tmp_path / "calibration.json"
        plain = json.loads(path.read_text())
        files.write("calibration.json", json.dumps(plain | {"format": "lanner.monitor/0"}))
    with pytest.raises(InputError, match="another version"):
        MonitorCalibration.read(tmp_path)


def test_progress_is_told_in_parts() -> None:
    seen: list[tuple[str, int, int]] = []
    rules = Rules(batch=BATCH, toys=200, streams=4, length=10)
    reference = lanner.Sample.of(events(3000, 1))
    MonitorCalibration.make(reference, rules, FitSettings(), progress=lambda *told: seen.append(told))
    assert list(dict.fromkeys(what for what, _, _ in seen)) == ["preparing", "toy batches", "toy streams"]
    assert all(done <= total for _, done, total in seen)
