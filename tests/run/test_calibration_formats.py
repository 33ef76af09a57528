"""Calibrations and toys of the last format can still be used."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import InputError, StoreError

KEPT = Path(__file__).with_name("data") / "calibration_format_3"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    shutil.copytree(KEPT, tmp_path / "kept")
    return tmp_path / "kept"


def test_a_calibration_of_the_last_format_gives_the_same_p_value(kept: Path) -> None:
    known = json.loads((KEPT / "expected.json").read_text())
    result = lanner.apply(kept, np.array(known["data"])[:, None])
    assert result.statistic == pytest.approx(known["statistic"], rel=1e-3)
    assert result.p_value == known["p_value"]


def test_its_toys_are_extended_and_not_made_again(kept: Path) -> None:
    reference = lanner.load_calibration(kept).reference
    before = {path.name: path.read_bytes() for path in (kept / "toys").glob("batch-*.npz")}
    more = lanner.calibrate(reference, expected=20, output=kept, toys=132, seed=3, centers=40, scaling="standard")
    assert len(more) == 132
    assert all((kept / "toys" / name).read_bytes() == content for name, content in before.items())
    assert len(lanner.load_calibration(kept)) == 132


def test_toys_of_other_settings_are_still_refused(kept: Path) -> None:
    reference = lanner.load_calibration(kept).reference
    with pytest.raises(StoreError, match="seed"):
        lanner.calibrate(reference, expected=20, output=kept, toys=66, seed=4, centers=40)


def test_an_older_format_says_how_to_make_it_again(kept: Path) -> None:
    path = kept / "calibration.json"
    path.write_text(path.read_text().replace("lanner.calibration/3", "lanner.calibration/1"))
    with pytest.raises(InputError, match="calibrate again"):
        lanner.load_calibration(kept)
