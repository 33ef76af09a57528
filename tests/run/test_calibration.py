from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import FolderError, InputError, StoreError
from tests.conftest import exponential

R, D = exponential(6000, 300, seed=1)
OPTIONS = {"expected": 300, "toys": 40, "seed": 5, "width": 0.3, "penalty": 1e-6, "centers": 200, "scaling": None}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibration")
    lanner.calibrate({"x": R[:, 0]}, output=folder, **OPTIONS)  # type: ignore[arg-type]
    return folder


def test_it_can_be_extended(kept: Path) -> None:
    before = lanner.load_calibration(kept)
    more = lanner.calibrate({"x": R[:, 0]}, output=kept, **(OPTIONS | {"toys": 60}))  # type: ignore[arg-type]
    assert len(more) == 60
    np.testing.assert_array_equal(more.toys.statistics[:, :40], before.toys.statistics)


def test_other_settings_in_its_folder_are_refused(kept: Path) -> None:
    with pytest.raises(StoreError, match="width"):
        lanner.calibrate({"x": R[:, 0]}, output=kept, **(OPTIONS | {"width": 0.2}))  # type: ignore[arg-type]


def test_a_reference_that_was_exchanged_is_refused(tmp_path: Path) -> None:
    lanner.calibrate(R, output=tmp_path, **OPTIONS)  # type: ignore[arg-type]
    np.savez(tmp_path / "reference.npz", features=R + 0.1)
    with pytest.raises(InputError, match=r"reference\.npz does not belong to the files beside it.*Calibrate again"):
        lanner.load_calibration(tmp_path)


def test_missing_and_damaged_ones_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no calibration"):
        lanner.apply(tmp_path, D)
    (tmp_path / "calibration.json").write_text("{")
    with pytest.raises(InputError, match="damaged calibration"):
        lanner.apply(tmp_path, D)


def test_a_permutation_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs the data"):
        lanner.calibrate(R, output=tmp_path, null="permutation", **OPTIONS)  # type: ignore[arg-type]


def test_a_result_survives_its_folder(tmp_path: Path) -> None:
    result = lanner.search(R, D, **OPTIONS)  # type: ignore[arg-type]
    lanner.save_result(result, tmp_path)
    again = lanner.load_result(tmp_path)
    assert again.to_json() == result.to_json()
    np.testing.assert_array_equal(again.ratio.log_ratio(D), result.ratio.log_ratio(D))
    (tmp_path / "null.npz").write_bytes(b"")
    with pytest.raises(InputError, match=r"null\.npz does not belong"):
        lanner.load_result(tmp_path)


def test_an_edited_number_of_toys_is_refused(tmp_path: Path) -> None:
    lanner.calibrate(R, output=tmp_path, **OPTIONS)  # type: ignore[arg-type]
    path = tmp_path / "calibration.json"
    path.write_text(path.read_text().replace('"toys": 40', '"toys": 14'))
    with pytest.raises(FolderError, match=r"calibration\.json does not belong.*Calibrate again into this folder"):
        lanner.apply(tmp_path, D)
    stored = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "toys").glob("batch-*")}
    lanner.calibrate(R, output=tmp_path, **OPTIONS)  # type: ignore[arg-type]
    assert len(lanner.load_calibration(tmp_path)) == 40
    assert {p.name: p.stat().st_mtime_ns for p in (tmp_path / "toys").glob("batch-*")} == stored


def test_a_calibration_of_another_statistic_is_refused(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanner.run.fingerprint.STATISTIC", 99)
    with pytest.raises(InputError, match=r"another version of the statistic .*calibrate again"):
        lanner.load_calibration(kept)


def test_a_result_may_be_kept_in_the_folder_of_its_calibration(tmp_path: Path) -> None:
    lanner.calibrate(R, output=tmp_path, **OPTIONS)  # type: ignore[arg-type]
    result = lanner.apply(tmp_path, D)
    result.save(tmp_path)
    assert lanner.load_result(tmp_path).p_value == lanner.apply(tmp_path, D).p_value == result.p_value
    lanner.calibrate(R, output=tmp_path, **(OPTIONS | {"toys": 60}))  # type: ignore[arg-type]
    assert lanner.load_result(tmp_path).p_value == result.p_value
