import json
import pickle
import zipfile
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from tests.conftest import exponential


@pytest.fixture(scope="module")
def ratio() -> lanner.LearnedRatio:
    reference, data = exponential(3000, 300)
    return lanner.fit_ratio({"mass": reference[:, 0]}, {"mass": data[:, 0]}, expected=290, scaling="standard", rng=1)


def test_a_saved_ratio_is_the_same_ratio(ratio: lanner.LearnedRatio, tmp_path: Path) -> None:
    ratio.save(tmp_path / "fit.npz")
    again = lanner.LearnedRatio.load(tmp_path / "fit.npz")
    x = {"mass": np.linspace(0, 1, 50)}
    np.testing.assert_array_equal(again.log_ratio(x), ratio.log_ratio(x))
    assert str(again) == str(ratio)
    assert lanner.analytic_null(again).mean == lanner.analytic_null(ratio).mean


def test_the_name_given_is_the_name_written(ratio: lanner.LearnedRatio, tmp_path: Path) -> None:
    ratio.save(tmp_path / "fit")
    assert [p.name for p in tmp_path.iterdir()] == ["fit"]


def test_a_fit_without_eigenvalues_survives_too(tmp_path: Path) -> None:
    reference, data = exponential(500, 100)
    ratio = lanner.fit_ratio(reference, data, expected=100, width=0.3, centers=20, solver="falkon", rng=1)
    ratio.save(tmp_path / "f.npz")
    assert lanner.LearnedRatio.load(tmp_path / "f.npz").spectrum is None
    with pytest.raises(InputError, match="solver='newton'"):
        lanner.analytic_null(ratio)


def test_it_cannot_be_changed(ratio: lanner.LearnedRatio) -> None:
    with pytest.raises(FrozenInstanceError):
        ratio.statistic = 0.0  # type: ignore[misc]


def test_the_file_holds_no_pickle(ratio: lanner.LearnedRatio, tmp_path: Path) -> None:
    ratio.save(tmp_path / "fit.npz")
    with zipfile.ZipFile(tmp_path / "fit.npz") as archive:
        for name in archive.namelist():
            assert b"|O" not in archive.read(name)[:128]


def test_a_pickle_in_disguise_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "evil.npz"
    np.savez(path, metadata=np.array([{"format": "x"}], dtype=object))
    with pytest.raises(InputError, match=r"evil\.npz is not a saved LearnedRatio"):
        lanner.LearnedRatio.load(path)
    path.write_bytes(pickle.dumps({"metadata": 1}))
    with pytest.raises(InputError, match=r"evil\.npz"):
        lanner.LearnedRatio.load(path)


def test_numbers_of_numpy_can_be_saved(tmp_path: Path) -> None:
    reference, data = exponential(500, 100)
    steps: Any = np.int64(1)
    ratio = lanner.fit_ratio(reference, data, expected=np.float64(100), width=0.3, newton_steps=steps, rng=1)
    ratio.save(tmp_path / "fit.npz")
    assert lanner.LearnedRatio.load(tmp_path / "fit.npz").newton_steps == 1


@pytest.mark.parametrize("damage", ["other format", "field missing", "truncated", "list", "coefficient missing"])
def test_a_damaged_file_is_named(ratio: lanner.LearnedRatio, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "fit.npz"
    ratio.save(path)
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-200])
    else:
        with np.load(path) as file:
            arrays = dict(file)
        meta = json.loads(str(arrays["metadata"]))
        if damage == "coefficient missing":
            arrays["coefficients"] = arrays["coefficients"][1:]
        elif damage == "other format":
            meta["format"] = "lanner.LearnedRatio/99"
        elif damage == "field missing":
            del meta["statistic"]
        else:
            meta = [1]
        np.savez(path, **(arrays | {"metadata": np.array(json.dumps(meta))}))
    with pytest.raises(InputError, match=r"fit\.npz"):
        lanner.LearnedRatio.load(path)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lanner.LearnedRatio.load(tmp_path / "nothing.npz")


def test_it_prints_what_one_wants_to_know(ratio: lanner.LearnedRatio) -> None:
    text = str(ratio)
    for word in (f"{ratio.statistic:.6g}", "yes (to convergence", "3000 reference, 300 data, 290 expected", "mass"):
        assert word in text
    assert len(max(text.splitlines(), key=len)) < 120


def test_feature_names_are_escaped_in_html() -> None:
    reference, data = exponential(500, 100)
    name = "<script>alert(1)</script>"
    ratio = lanner.fit_ratio({name: reference[:, 0]}, {name: data[:, 0]}, expected=100, width=0.3, rng=1)
    assert "<script>" not in ratio._repr_html_()
    assert "&lt;script&gt;" in ratio._repr_html_()


def test_events_with_other_columns_are_refused(ratio: lanner.LearnedRatio) -> None:
    with pytest.raises(InputError, match="mass"):
        ratio.log_ratio({"energy": np.ones(3)})
