from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import FolderError, InputError, StoreWarning
from lanner.run.result_plain import EARLIER, FORMAT
from tests.conftest import exponential

KEPT = Path(__file__).with_name("data") / "result_format_4"
R, D = exponential(6000, 300, seed=1)


def small(toys: int = 60) -> lanner.SearchResult:
    return lanner.search(R, D, expected=300, width=0.3, penalty=1e-6, centers=200, scaling=None, seed=5, toys=toys)


@pytest.mark.parametrize("kind", ["combined", "single"])
def test_a_result_of_the_last_format_is_read_and_written_in_this_one(kind: str, tmp_path: Path) -> None:
    old = json.loads((KEPT / kind / "result.json").read_text())
    with pytest.warns(StoreWarning, match=r"earlier version, which kept no manifest"):
        result = lanner.load_result(KEPT / kind)
    assert old["schema"] == "lanner.result/4"
    assert (result.p_value, result.statistic, result.seconds) == (old["p_value"], old["statistic"], old["seconds"])
    assert result.null.statistics.tolist() == old["null"]["statistics"]
    if old["combined"] is not None:
        assert result.combined is not None
        assert result.combined.dominant_scale == old["combined"]["dominant_scale"]
        assert result.combined.n_map_toys == old["combined"]["n_map_toys"]
        assert result.combined.combination == old["combined"]["combination"]
        assert [s.local_z for s in result.combined.scales] == [s["local_z"] for s in old["combined"]["scales"]]
        assert result.combined.terms == ()
        assert result.tail is not None
        assert result.tail.z_score == pytest.approx(old["tail"]["z_score"], rel=1e-12)
    assert (result.spread, result.out_of_reach, result.looks) == (None, None, ())  # which it did not have
    lanner.save_result(result, tmp_path)
    again = lanner.load_result(tmp_path)
    assert json.loads((tmp_path / "result.json").read_text())["schema"] == FORMAT == "lanner.result/6"
    assert again.to_json() == result.to_json()
    assert again.combined == result.combined
    np.testing.assert_array_equal(again.null_coefficients, result.null_coefficients)


@pytest.mark.parametrize("number", [2, 3])
def test_an_older_format_says_in_one_line_how_to_remake_it(number: int, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(f'{{"schema": "lanner.result/{number}"}}')
    match = rf"lanner.result/{number}.*running the search again with the same settings"
    with pytest.raises(InputError, match=match) as error:
        lanner.load_result(tmp_path)
    assert "\n" not in str(error.value)


def test_no_result_and_a_damaged_one_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no result.json; give the output folder of `lanner search`"):
        lanner.load_result(tmp_path)
    shutil.copytree(KEPT / "single", tmp_path / "single")
    (tmp_path / "single" / "null.npz").write_bytes(b"PK nonsense")
    with (
        pytest.warns(StoreWarning, match="no manifest"),
        pytest.raises(InputError, match=r"holds a damaged result.*Run the same search again into this folder"),
    ):
        lanner.load_result(tmp_path / "single")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folders of two results of the same shape."""
    folders = (tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other"))
    lanner.save_result(small(), folders[0])
    other = lanner.search(R, D + 0.05, expected=300, width=0.3, penalty=1e-6, centers=200, scaling=None, toys=60)
    lanner.save_result(other, folders[1])
    return folders


@pytest.mark.parametrize("name", ["result.json", "null.npz", "ratio.npz", "manifest.json"])
def test_a_file_of_another_result_is_refused_by_name(two: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    folder = tmp_path / "mixed"
    shutil.copytree(two[0], folder)
    shutil.copy(two[1] / name, folder / name)
    named = "result.json" if name == "manifest.json" else name
    with pytest.raises(FolderError, match=rf"{named} does not belong.*Run the same search again into this folder"):
        lanner.load_result(folder)


def test_a_result_of_an_earlier_format_is_checked_by_its_numbers(two: tuple[Path, Path], tmp_path: Path) -> None:
    folder = tmp_path / "old"
    shutil.copytree(two[0], folder)
    (folder / "manifest.json").unlink()
    path = folder / "result.json"
    path.write_text(path.read_text().replace(FORMAT, EARLIER[0]))
    with pytest.warns(StoreWarning, match="no manifest"):
        assert lanner.load_result(folder).to_json() == lanner.load_result(two[0]).to_json()
    shutil.copy(two[1] / "null.npz", folder / "null.npz")
    with (
        pytest.warns(StoreWarning, match="no manifest"),
        pytest.raises(FolderError, match=r"result\.json and .*null\.npz are of different results"),
    ):
        lanner.load_result(folder)


def test_without_its_manifest_a_result_of_this_format_is_not_whole(two: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(two[0], tmp_path / "copy")
    (tmp_path / "copy" / "manifest.json").unlink()
    with pytest.raises(FolderError, match=r"manifest\.json is missing"):
        lanner.load_result(tmp_path / "copy")
