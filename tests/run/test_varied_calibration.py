"""Calibrations whose reference has uncertainties: toys at a fixed design of nuisance parameters."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import FolderError, InputError, NullWarning

SIZE, N = 0.1, 500
REFERENCE = np.random.default_rng(1).exponential(size=(40_000, 1))
UNCERTAINTIES = (
    lanner.Shifted("scale", REFERENCE * np.exp(SIZE), REFERENCE * np.exp(-SIZE)),
    lanner.Normalisation("yield", SIZE),
)
HOW: dict[str, Any] = {"expected": N, "seed": 2, "progress": False}


def data_at(scale_nu: float, yield_nu: float, seed: int = 7) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.exponential(np.exp(SIZE * scale_nu), size=(rng.poisson(N * np.exp(SIZE * yield_nu)), 1))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibration")
    made = lanner.calibrate(REFERENCE, output=folder, toys=600, uncertainties=UNCERTAINTIES, **HOW)
    assert made.uncertain is not None
    assert made.uncertain.design.points.tolist() == [[0, 0], [1, 0], [-1, 0], [2, 0], [-2, 0]]
    return folder


@pytest.mark.parametrize("truth", [(0.0, 0.0), (0.6, -0.5), (-1.4, 1.0)])
def test_data_are_judged_as_by_toys_of_their_own(kept: Path, truth: tuple[float, float]) -> None:
    data = data_at(*truth)
    found = lanner.apply(kept, data)
    own = lanner.search(REFERENCE, data, uncertainties=UNCERTAINTIES, toys=600, uncertainty_cost=False, **HOW)
    for one, other in zip(found.nuisances, own.nuisances, strict=True):
        assert one.name == other.name
        assert one.value == pytest.approx(other.value, abs=0.05 * other.error)
        assert one.error == pytest.approx(other.error, rel=0.05)
    assert len(found.null) == pytest.approx(400, abs=2)
    assert [(c.name, c.p_value) for c in found.systematics.closures] == [
        (c.name, c.p_value) for c in own.systematics.closures
    ]
    assert found.systematics.fitted is not None
    # Both are known to 400 toys, and the points around nu^ are not nu^.
    error = (own.p_value * (1 - own.p_value) / 400) ** 0.5
    assert found.p_value == pytest.approx(own.p_value, abs=5 * error + 0.03)


def test_a_peak_is_found_beside_a_shift(kept: Path) -> None:
    peak = np.full((30, 1), 3.0) + np.random.default_rng(3).normal(0, 0.03, (30, 1))
    assert lanner.apply(kept, np.vstack([data_at(1.0, 0.0), peak])).p_value < 0.01


def test_data_outside_of_the_design_have_toys_of_their_own(kept: Path) -> None:
    data = data_at(4.0, 0.0)
    with pytest.warns(NullWarning, match=r"fit best at scale \+[23]\.\d\d .*toys of their own"):
        found = lanner.apply(kept, data)
    own = lanner.search(REFERENCE, data, uncertainties=UNCERTAINTIES, toys=600, uncertainty_cost=False, **HOW)
    assert found.p_value == own.p_value
    assert found.nuisances[0].value == own.nuisances[0].value


def test_it_goes_on_where_it_was(kept: Path, tmp_path: Path) -> None:
    how = HOW | {"output": tmp_path, "uncertainties": UNCERTAINTIES[1:]}
    lanner.calibrate(REFERENCE, toys=60, **how)
    before = json.loads((tmp_path / "calibration.json").read_text())
    made = lanner.calibrate(REFERENCE, toys=90, **how)
    assert len(made) == len(lanner.load_calibration(tmp_path)) == 90
    assert before["uncertainties"]["names"] == ["yield"]
    assert before["uncertainties"]["design"] == [[0.0]]  # a yield does not shape the reference


def test_uncertainties_of_no_size_leave_none(tmp_path: Path) -> None:
    nothing = [lanner.Normalisation("yield", 0.0)]
    with pytest.warns(lanner.errors.UncertaintyWarning):
        made = lanner.calibrate(REFERENCE, output=tmp_path / "a", toys=60, uncertainties=nothing, **HOW)
    plain = lanner.calibrate(REFERENCE, output=tmp_path / "b", toys=60, **HOW)
    assert made.uncertain is None
    np.testing.assert_array_equal(made.toys.statistics, plain.toys.statistics)


def test_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    known = lanner.KnownRatio("scale", lambda x, nu: SIZE * nu * (x[:, 0] - 1))
    with pytest.raises(InputError, match="cannot be kept in a file"):
        lanner.calibrate(REFERENCE, output=tmp_path, toys=60, uncertainties=[known], **HOW)
    how = HOW | {"width": 0.5, "penalty": 1e-5}
    with pytest.raises(InputError, match=r"likelihood ratio.*search"):
        lanner.calibrate(REFERENCE, output=tmp_path, toys=60, uncertainties=UNCERTAINTIES[1:], **how)


@pytest.mark.parametrize("name", ["nuisances.npz", "widths/point-1/width-0.npz"])
def test_files_that_do_not_belong_are_refused(kept: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(kept, tmp_path / "copy")
    path = tmp_path / "copy" / name
    path.write_bytes(path.read_bytes()[:-7] + b"changed")
    with pytest.raises((InputError, FolderError), match=path.name.replace(".", r"\.")):
        lanner.apply(tmp_path / "copy", data_at(0.9, 0.0))
