"""Files of a result or a calibration that are swapped, edited, cut, lost or half written: refused or repaired by name.

More than fifty harms. Whatever is left of a folder, JSON and report never disagree, and no number of another run is
ever given for one of this.
"""

from __future__ import annotations

import html
import json
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import lanner
from lanner.cli import main
from lanner.errors import LannerError, LannerWarning

rng = np.random.default_rng(5)
R, D = rng.exponential(size=(2400, 1)), rng.exponential(size=(100, 1))
E = np.vstack([D[:90], np.linspace(3.9, 4.1, 10)[:, None]])  # other data
FIT: dict[str, Any] = {"width": 0.5, "penalty": 1e-5, "centers": 40, "seed": 3, "memory": "1 GB"}


def command(where: Path, folder: Path, data: str = "data") -> Any:
    settings = [item for name, value in FIT.items() for item in (f"--{name}", str(value))]
    files = ["--reference", str(where / "reference.npz"), "--data", str(where / f"{data}.npz")]
    arguments = ["search", "--expected", "100", "--toys", "40", "--output", str(folder), *files, *settings]
    with warnings.catch_warnings():
        warnings.simplefilter("always", LannerWarning)
        return CliRunner().invoke(main, arguments)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results and calibrations, each with another of the same shape to take files from."""
    where = tmp_path_factory.mktemp("made")
    for name, events in (("reference", R), ("data", D), ("other", E)):
        np.savez(where / f"{name}.npz", x=events[:, 0])
    for folder, data in (("result", "data"), ("other-result", "other")):
        assert command(where, where / folder, data).exit_code == 0
    for folder, seed in (("calibration", 3), ("other-calibration", 4)):
        lanner.calibrate(R, expected=100, toys=66, output=where / folder, centers=40, seed=seed, memory="1 GB")
    return where


@pytest.fixture(scope="module")
def applied(made: Path) -> lanner.SearchResult:
    return lanner.apply(made / "calibration", D, memory="1 GB")


def _swap(path: Path, other: Path) -> None:
    shutil.copy(other, path)


def _half(path: Path, _: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _empty(path: Path, _: Path) -> None:
    path.write_bytes(b"")


def _byte(path: Path, _: Path) -> None:
    """One digit, or one bit, of the middle."""
    content = bytearray(path.read_bytes())
    digits = [i for i, c in enumerate(content) if c in b"0123456789"] if path.suffix == ".json" else []
    place = digits[len(digits) // 2] if digits else len(content) // 2
    content[place] = ord("1") + (content[place] == ord("1")) if digits else content[place] ^ 1
    path.write_bytes(bytes(content))


def _lose(path: Path, _: Path) -> None:
    path.unlink()


def _pipe(path: Path, _: Path) -> None:
    path.unlink()
    os.mkfifo(path)


HARMS: dict[str, Callable[[Path, Path], None]] = {
    f.__name__.strip("_"): f for f in (_swap, _half, _empty, _byte, _lose, _pipe)
}
OF_A_RESULT = ("result.json", "null.npz", "ratio.npz", "manifest.json", "report.html", "config.yaml")
OF_A_CALIBRATION = (
    "calibration.json",
    "reference.npz",
    "manifest.json",
    "widths/width-0.npz",
    "toys/store.json",
    "toys/batch-00000000.npz",
)
QUICK = ("swap", "byte")  # the others with `make faults`
# Both were made of the same reference, which is the same file.
CALIBRATIONS = [
    pytest.param(harm, name, marks=[] if harm in QUICK else pytest.mark.faults)
    for name in OF_A_CALIBRATION
    for harm in HARMS
    if (harm, name) != ("swap", "reference.npz")
]


def words_of(use: Callable[[], Any]) -> tuple[Any, str]:
    """What a use gives, or None; and all that it says on the way."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", LannerWarning)
        try:
            found = use()
        except LannerError as error:
            return None, f"{error} {[str(w.message) for w in said]}"
    return found, str([str(w.message) for w in said])


@pytest.mark.parametrize("name", OF_A_RESULT)
@pytest.mark.parametrize("harm", HARMS)
def test_a_harmed_result_is_refused_by_name(made: Path, tmp_path: Path, harm: str, name: str) -> None:
    folder = tmp_path / "out"
    shutil.copytree(made / "result", folder)
    HARMS[harm](folder / name, made / "other-result" / name)
    found, words = words_of(lambda: lanner.load_result(folder))
    assert name in words or (name, harm) == ("manifest.json", "swap")
    if name in ("report.html", "config.yaml"):  # which no number is read from
        assert found.p_value == lanner.load_result(made / "result").p_value
    else:
        assert found is None


@pytest.mark.parametrize("name", OF_A_RESULT)
@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.faults
def test_the_same_search_repairs_a_harmed_result(made: Path, tmp_path: Path, harm: str, name: str) -> None:
    _repaired(made, tmp_path / "out", harm, name)


@pytest.mark.parametrize(("harm", "name"), [("half", "result.json"), ("swap", "null.npz"), ("swap", "report.html")])
def test_the_same_search_repairs_some_at_once(made: Path, tmp_path: Path, harm: str, name: str) -> None:
    _repaired(made, tmp_path / "out", harm, name)


def _repaired(made: Path, folder: Path, harm: str, name: str) -> None:
    """The same search into the folder makes it whole from the toys, and makes no new ones."""
    shutil.copytree(made / "result", folder)
    HARMS[harm](folder / name, made / "other-result" / name)
    if (harm, name) == ("swap", "result.json"):  # which might be all that there is of another search
        assert "in result.json; use another folder, or remove that file" in command(made, folder).output
        (folder / name).unlink()
    toys = {path.name: path.stat().st_mtime_ns for path in (folder / "toys").iterdir()}
    done = command(made, folder)
    assert done.exit_code == 0, done.output
    assert {path.name: path.stat().st_mtime_ns for path in (folder / "toys").iterdir()} == toys
    known, result = lanner.load_result(made / "result"), lanner.load_result(folder)
    np.testing.assert_array_equal(result.null.statistics, known.null.statistics)
    plain = json.loads((folder / "result.json").read_text())
    assert plain["p_value"] == result.p_value == known.p_value
    assert result.statistic == known.statistic
    assert plain["verdict"] in html.unescape((folder / "report.html").read_text())


@pytest.mark.parametrize(("harm", "name"), CALIBRATIONS)
def test_a_harmed_calibration_is_refused_or_repaired_by_name(
    made: Path, tmp_path: Path, applied: lanner.SearchResult, harm: str, name: str
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(made / "calibration", folder)
    HARMS[harm](folder / name, made / "other-calibration" / name)
    found, words = words_of(lambda: lanner.apply(folder, D, memory="1 GB"))
    if (harm, name) == ("lose", "toys/store.json"):  # all that it says, the toys say too
        assert found.p_value == applied.p_value
    elif (harm, name) == ("swap", "toys/store.json"):
        assert found is None
        assert "seed: 4 there, 3 now" in words
    else:
        assert Path(name).name in words or (name, harm) == ("manifest.json", "swap") or "lacks toys 0" in words
        assert found is None or found.p_value == applied.p_value
    if found is None and name != "toys/store.json":
        how: dict[str, Any] = {"centers": 40, "seed": 3, "memory": "1 GB"}
        words_of(lambda: lanner.calibrate(R, expected=100, toys=66, output=folder, **how))
        assert lanner.apply(folder, D, memory="1 GB").p_value == applied.p_value


def test_there_are_more_than_fifty() -> None:
    assert len(OF_A_RESULT) * len(HARMS) + len(CALIBRATIONS) > 50


def test_the_result_of_other_data_is_not_overwritten_be_it_harmed_or_not(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "result", tmp_path / "out")
    (tmp_path / "out" / "null.npz").unlink()
    done = command(made, tmp_path / "out", "other")
    assert done.exit_code != 0
    assert "holds the result of other data" in done.output
