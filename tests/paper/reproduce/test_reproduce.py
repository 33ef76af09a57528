import json
from pathlib import Path

import pytest

import lanner
from lanner.paper.reproduce import Reproduction
from lanner.paper.reproduce.summaries import quantiles, with_ideal


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("one-dimensional")


@pytest.fixture(scope="module")
def told() -> list[tuple[str, int, int]]:
    """What is told of the progress."""
    return []


@pytest.fixture(scope="module")
def found(folder: Path, told: list[tuple[str, int, int]]) -> Reproduction:
    return lanner.reproduce(
        "one-dimensional", scale="smoke", output=folder, toys=30, experiments=12, progress=lambda *x: told.append(x)
    )


def test_the_page_has_every_figure(found: Reproduction, folder: Path) -> None:
    page = (folder / "results.md").read_text()
    figures = {"statistic", "observed", "probability", "sizes", "ratio-tail", "losses", "tuning", "widths"}
    for name in figures:
        assert f"(figures/{name}.png)" in page
        assert (folder / "figures" / f"{name}.png").stat().st_size > 10_000


def test_observed_significance_lies_below_the_ideal_one(found: Reproduction) -> None:
    for row in with_ideal(found.numbers):
        assert quantiles(row["z_chi2"])[1] < row["ideal"]


def test_a_second_run_makes_nothing_again(found: Reproduction, folder: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*.npz")} | {
        p: p.stat().st_mtime_ns for p in (folder / "stages").glob("*.json")
    }
    again = lanner.reproduce("one-dimensional", scale="smoke", output=folder, toys=30, experiments=12)
    assert {p: p.stat().st_mtime_ns for p in before} == before
    assert str(again) == str(found)


def test_the_numbers_on_disk_are_those_returned(found: Reproduction, folder: Path) -> None:
    assert json.loads((folder / "numbers.json").read_text()) == json.loads(json.dumps(found.numbers))
    assert found.page == folder / "results.md"
    assert [row["ratio"] for row in found.numbers["sizes"]] == list(found.case.sizes)


def test_progress_names_its_stages(found: Reproduction, told: list[tuple[str, int, int]]) -> None:
    assert {"low", "logistic", "extended", "scan", "times"} <= {name for name, _, _ in told}
    assert all(0 <= done <= total for _, done, total in told)
