"""The default test beside the paper's setting: the same toys, judged in the same way."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lanner.inference.combination import number_of_map_toys
from lanner.paper.reproduce import default_test
from lanner.paper.reproduce.cases import case
from lanner.paper.reproduce.default_test import DEFAULT, PAPER, BesideDefault, beside_default, chi2_of, made_for
from lanner.paper.reproduce.measure import Setting
from lanner.settings import FitSettings

TOYS, EXPERIMENTS = 45, 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("default")


@pytest.fixture(scope="module")
def found(folder: Path) -> BesideDefault:
    return beside_default("one-dimensional", output=folder, toys=TOYS, experiments=EXPERIMENTS)


def stored(folder: Path, test: str, label: str) -> np.ndarray:
    """The statistics of toys on disk, a row for each scale."""
    parts = [np.load(path)["statistic"] for path in sorted((folder / "toys-default" / test / label).glob("batch*.npz"))]
    return np.concatenate([np.atleast_2d(part) for part in parts], axis=-1)


def test_both_tests_count_as_many_null_toys_and_see_every_strength(found: BesideDefault) -> None:
    assert [(row.test, row.toys) for row in found.comparison.rows] == [(PAPER, TOYS), (DEFAULT, TOYS)]
    every = [(s.name, n) for s in case("one-dimensional", scale="smoke").signals for n in s.strengths]
    for row in found.comparison.rows:
        assert [(f.signal, f.signal_events) for f in row.found] == every
    assert len(found.chi2["median_z"]) == len(every)


def test_the_settings_are_those_of_the_reproduction_and_those_of_search(found: BesideDefault, folder: Path) -> None:
    one = case("one-dimensional", scale="smoke")
    paper, default = (
        json.loads((folder / "toys-default" / test / "null" / "store.json").read_text())["made_for"]
        for test in (PAPER, DEFAULT)
    )
    assert paper["settings"] == Setting(one.low_level, one.width).options(one, seed=1)
    assert default["settings"] == {}  # nothing differs from what search does
    assert default["plan"]["units"]["rule"] == FitSettings().scaling
    assert paper["plan"] == default["plan"]
    assert paper["toys"] == default["toys"]


def test_the_default_has_several_scales_and_the_papers_setting_one(found: BesideDefault, folder: Path) -> None:
    assert len(stored(folder, PAPER, "null")) == 1
    default = stored(folder, DEFAULT, "null")
    assert len(default) > 4
    # The same toys: where one test finds many events too many, so does the other.
    ours, theirs = default[:, :TOYS], stored(folder, PAPER, "null")[0]
    assert max(stats.spearmanr(row, theirs).statistic for row in ours) > 0.5


def test_a_second_run_prepares_and_makes_nothing_again(
    found: BesideDefault, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(default_test, "pool_of_signals", None)
    again = beside_default("one-dimensional", output=folder, toys=TOYS, experiments=EXPERIMENTS)
    assert again.comparison == found.comparison
    assert str(again) == str(found)


def test_more_toys_of_the_papers_setting_go_on_from_those_that_are_there(tmp_path: Path) -> None:
    few = beside_default("one-dimensional", output=tmp_path, toys=TOYS, paper_toys=20, experiments=EXPERIMENTS)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")}
    more = beside_default("one-dimensional", output=tmp_path, toys=TOYS, paper_toys=60, experiments=EXPERIMENTS)
    assert [(r.test, r.toys) for r in few.comparison.rows] == [(PAPER, 20), (DEFAULT, TOYS)]
    assert [(r.test, r.toys) for r in more.comparison.rows] == [(PAPER, 60), (DEFAULT, TOYS)]
    assert more.comparison.rows[1] == few.comparison.rows[1]
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")}
    assert {path: time for path, time in after.items() if path in before} == before
    assert stored(tmp_path, PAPER, "null").shape == (1, 60)


def test_the_numbers_on_disk_are_those_returned(found: BesideDefault, folder: Path) -> None:
    kept = json.loads((folder / "default.json").read_text())
    assert kept["comparison"] == json.loads(json.dumps(found.comparison.to_dict()))
    assert kept["chi2"] == found.chi2
    assert found.page == folder / "default.md"


def test_as_many_toys_are_left_to_be_counted_as_were_asked_for() -> None:
    for counted in (1, 20, 999, 2000, 30_001):
        made = made_for(counted)
        assert made - number_of_map_toys(made) == counted


def test_significances_by_the_chi2_of_the_null_toys(rng: np.random.Generator) -> None:
    null = rng.chisquare(20.0, 2000)
    made = chi2_of(null, [np.full(3, stats.chi2.isf(stats.norm.sf(3.0), 20.0))], seed=1)
    assert made["dof"] == pytest.approx(20.0, abs=0.6)
    assert made["median_z"] == [pytest.approx(3.0, abs=0.15)]
    assert made["goodness_of_fit"] > 0.001
    null[0] = -1.0  # no chi2 has such a toy
    closest = chi2_of(null, [], seed=1)
    assert closest["dof_error"] is None
    assert closest["dof"] == pytest.approx(20.0, abs=1.0)
