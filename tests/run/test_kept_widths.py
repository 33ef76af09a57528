"""A calibration keeps what judges data: `apply` needs no feature of the reference, and says what a search says."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.inference.multiscale import Recipe
from lanner.run.kept_widths import read_widths
from tests.conftest import exponential

R, D = exponential(8000, 200, seed=1)
OPTIONS = {"expected": 200, "toys": 120, "seed": 5}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibration")
    lanner.calibrate({"x": R[:, 0]}, output=folder, **OPTIONS)  # type: ignore[arg-type]
    return folder


def test_data_are_judged_as_a_search_judges_them(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = lanner.search({"x": R[:, 0]}, {"x": D[:, 0]}, **OPTIONS)  # type: ignore[arg-type]

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the features of the reference were built again")

    monkeypatch.setattr(Recipe, "prepare", refuse)
    applied = lanner.apply(kept, {"x": D[:, 0]})
    assert applied.p_value == searched.p_value
    assert applied.statistic == searched.statistic
    assert applied.combined == searched.combined
    assert applied.out_of_reach == searched.out_of_reach
    assert applied.spread == searched.spread
    np.testing.assert_array_equal(applied.ratio.coefficients, searched.ratio.coefficients)
    assert applied.null_coefficients is not None
    assert searched.null_coefficients is not None
    scale = np.abs(searched.null_coefficients).max()
    np.testing.assert_allclose(applied.null_coefficients, searched.null_coefficients, atol=1e-4 * scale)


def test_weighted_references_and_fits_are_judged_from_the_reference(tmp_path: Path) -> None:
    weights = np.random.default_rng(1).uniform(0.5, 1.0, len(R))
    sample = lanner.Sample(R, ("x",), weights)
    assert lanner.calibrate(sample, output=tmp_path / "weights", **OPTIONS).kept == ()  # type: ignore[arg-type]
    fits = lanner.calibrate(R, output=tmp_path / "fits", expected=200, toys=20, width=0.3, penalty=1e-5)
    assert fits.kept == ()


@pytest.mark.parametrize("harm", ["missing", "damaged", "swapped"])
def test_files_that_do_not_belong_are_refused(kept: Path, tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(kept, folder)
    path = folder / "widths" / "width-1.npz"
    if harm == "missing":
        path.unlink()
    elif harm == "damaged":
        path.write_bytes(path.read_bytes()[:100])
    else:
        shutil.copy(folder / "widths" / "width-0.npz", path)
    with pytest.raises(InputError, match=r"width-1\.npz .*calibrate again"):
        lanner.apply(folder, {"x": D[:, 0]})


def test_each_width_is_kept_once(kept: Path) -> None:
    made = lanner.load_calibration(kept)
    widths = read_widths(kept, made.kept)
    assert sorted(widths) == sorted({plan.width for plan in made.plans})
