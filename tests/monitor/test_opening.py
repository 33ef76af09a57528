"""A folder's calibration is made once, and never taken for another one."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import FolderError, InputError, NullWarning
from lanner.monitor.calibration import MonitorCalibration, Rules
from lanner.monitor.opening import Asked, calibrated
from lanner.settings import FitSettings
from tests.monitor.conftest import BATCH, events, reference
from tests.monitor.folders import folder_of

NOTHING = Asked.of(rules={}, fit={})


def asked(**rules) -> Asked:
    return Asked.of(rules=rules, fit={})


@pytest.fixture
def folder(tmp_path: Path, calibration: MonitorCalibration) -> Path:
    return folder_of(tmp_path, calibration) / "calibration"


def opened(folder: Path, given=None, what: Asked = NOTHING) -> MonitorCalibration:
    return calibrated(folder, given, what, read_only=False)


def test_the_same_reference_and_rules_are_taken_as_they_are(folder: Path) -> None:
    found = opened(folder, reference(), asked(batch=BATCH, windows=[8, 2, 4], run_length=50, seed=3))
    assert found.rules.batch == BATCH


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (asked(batch=BATCH + 1), f"batch=61.0, but .* was calibrated with batch={BATCH}"),
        (asked(windows=[2]), r"windows=\(2,\), but"),
        (asked(tolerance=0.1), r"tolerance=0.1, but"),
        (Asked.of(rules={}, fit={"missing": "keep"}), "missing='keep', but .* with missing='auto'"),
        (Asked.of(rules={}, fit={"scaling": "none"}), "scaling=None, but .* with scaling='robust'"),
    ],
)
def test_other_rules_are_refused(folder: Path, what: Asked, said: str) -> None:
    with pytest.raises(InputError, match=said):
        opened(folder, None, what)


def test_another_reference_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="another reference than these 6000 events"):
        opened(folder, lanner.Sample.of(events(6000, 2), names=["energy", "angle"]))


def test_what_is_missing_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no calibration"):
        opened(tmp_path / "new")
    with pytest.raises(InputError, match="batch=None: give the number of events"):
        opened(tmp_path / "new", reference())
    with pytest.raises(InputError, match="no calibration to look at"):
        calibrated(tmp_path / "new", reference(), asked(batch=BATCH), read_only=True)


@pytest.mark.parametrize("bad", [{"batch": 3}, {"windows": [1]}, {"false_discoveries": 1.5}, {"tolerance": -1}])
def test_rules_that_cannot_be_are_refused(bad: dict) -> None:
    with pytest.raises(InputError, match=f"{next(iter(bad))}="):
        asked(**bad)


def test_damaged_settings_are_an_error(folder: Path) -> None:
    (folder / "settings.json").write_text("{}")
    with pytest.raises(FolderError, match=r"settings\.json does not belong"):
        opened(folder)


def test_what_cannot_be_promised_is_said(
    tmp_path: Path, calibration: MonitorCalibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(sample, rules: Rules, settings: FitSettings, **how) -> MonitorCalibration:
        return MonitorCalibration(
            rules, calibration.yardstick, calibration.null, calibration.thresholds, "digest", ("windows of 99 batches",)
        )

    monkeypatch.setattr(MonitorCalibration, "make", made)
    with pytest.warns(NullWarning, match="the reference is too small for windows of 99 batches"):
        opened(tmp_path / "new", reference(), asked(batch=BATCH))
    shutil.rmtree(tmp_path / "new")


def test_a_calibration_is_made_of_arrays_and_used_as_it_is_read(tmp_path: Path) -> None:
    rules = Rules(batch=20, toys=200, streams=4, length=10, windows=(2,))

    class Quick(Asked):
        def rules_to_make(self) -> Rules:
            return rules

    made = opened(tmp_path / "new", np.random.default_rng(1).normal(size=(1000, 1)), Quick({}, {}))
    again = opened(tmp_path / "new")
    assert made.null.combined.tobytes() == again.null.combined.tobytes()
    assert made.rules == again.rules == rules


def test_good_batches_are_learned_from_and_remembered(tmp_path: Path) -> None:
    class Quick(Asked):
        def rules_to_make(self) -> Rules:
            return Rules(batch=40, toys=300, streams=4, length=10, windows=(2,), seed=1)

    rng = np.random.default_rng(2)
    given = rng.normal(size=(3000, 1))
    good = [rng.normal(size=(40, 1)) + 0.5 * rng.normal() for _ in range(20)]
    made = calibrated(tmp_path / "a", given, Quick({}, {}), good=good)
    assert made.yardstick.widths[0].spread.shape[0] >= 1
    again = calibrated(tmp_path / "a", given, NOTHING, good=good)
    assert again.yardstick.widths[0].spread.tolist() == made.yardstick.widths[0].spread.tolist()
    with pytest.raises(InputError, match="with other good batches"):
        calibrated(tmp_path / "a", None, NOTHING, good=good[1:])
    with pytest.raises(InputError, match="takes 10"):
        calibrated(tmp_path / "b", given, Quick({}, {}), good=good[:3])


def test_good_batches_that_were_not_there_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="without any good batches"):
        calibrated(folder, None, NOTHING, good=[events(50, 1)])
