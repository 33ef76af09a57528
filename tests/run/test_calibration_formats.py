"""Calibrations and toys of another version were of another test: they are refused in one line that says what to do."""

import json
from pathlib import Path

import pytest

import lanner
from lanner.errors import InputError, StoreError
from lanner.run.calibration import FORMAT as CALIBRATION
from lanner.run.toy_store import FORMAT as TOYS
from tests.conftest import exponential

R, D = exponential(3000, 100, seed=1)
SETTINGS = {"expected": 100, "toys": 20, "seed": 5, "width": 0.3, "penalty": 1e-6, "centers": 50}


def test_what_is_made_has_the_format_of_this_version(tmp_path: Path) -> None:
    lanner.calibrate(R, output=tmp_path, **SETTINGS)  # type: ignore[arg-type]
    assert json.loads((tmp_path / "calibration.json").read_text())["format"] == CALIBRATION == "lanner.calibration/8"
    assert json.loads((tmp_path / "toys" / "store.json").read_text())["format"] == TOYS == "lanner.toys/7"


@pytest.mark.parametrize("number", [1, 3, 4, 5, 6, 7, 9])
def test_another_calibration_is_refused_before_anything_of_it_is_read(number: int, tmp_path: Path) -> None:
    (tmp_path / "calibration.json").write_text(json.dumps({"format": f"lanner.calibration/{number}"}))
    match = rf"another version \(lanner.calibration/{number}, not lanner.calibration/8\).*; calibrate again$"
    for use in (lanner.load_calibration, lambda folder: lanner.apply(folder, D)):
        with pytest.raises(InputError, match=match) as error:
            use(tmp_path)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("number", [1, 3, 4, 5, 6, 8])
def test_toys_of_another_version_are_neither_used_nor_touched(number: int, tmp_path: Path) -> None:
    toys = tmp_path / "toys"
    toys.mkdir()
    (toys / "store.json").write_text(json.dumps({"format": f"lanner.toys/{number}", "made_for": {}, "batch_size": 20}))
    (toys / "batch-00000000.npz").write_bytes(b"toys")
    before = {path.name: path.read_bytes() for path in toys.iterdir()}
    match = rf"another version \(lanner.toys/{number}, not lanner.toys/7\).*; use a new folder$"
    with pytest.raises(StoreError, match=match) as error:
        lanner.search(R, D, output=tmp_path, **SETTINGS)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    assert {path.name: path.read_bytes() for path in toys.iterdir()} == before
