import json
from pathlib import Path

import pytest

import lanner
from lanner.errors import InputError
from lanner.paper.datasets.library import Library, published_files
from lanner.paper.reproduce.cases import case
from lanner.paper.reproduce.stages import Stages


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("one-dimensional")


@pytest.fixture(scope="module")
def found(folder: Path):
    return lanner.reproduce("one-dimensional", scale="smoke", output=folder, toys=30, experiments=12)


def test_the_page_has_every_figure(found, folder: Path) -> None:
    page = (folder / "results.md").read_text()
    figures = {"statistic", "observed", "probability", "sizes", "ratio-tail", "losses", "tuning", "widths"}
    for name in figures:
        assert f"(figures/{name}.png)" in page
        assert (folder / "figures" / f"{name}.png").stat().st_size > 10_000


def test_observed_significance_lies_below_the_ideal_one(found) -> None:
    from lanner.paper.reproduce.figures import quantiles, with_ideal

    for row in with_ideal(found.numbers):
        assert quantiles(row["z_chi2"])[1] < row["ideal"]


def test_a_second_run_makes_nothing_again(found, folder: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*.npz")} | {
        p: p.stat().st_mtime_ns for p in (folder / "stages").glob("*.json")
    }
    again = lanner.reproduce("one-dimensional", scale="smoke", output=folder, toys=30, experiments=12)
    assert {p: p.stat().st_mtime_ns for p in before} == before
    assert str(again) == str(found)


def test_the_papers_settings() -> None:
    full = case("one-dimensional")
    assert (full.expected, full.reference_size, full.centers, full.width, full.penalty) == (2000, 2e5, 3000, 0.3, 1e-10)
    dimuon = case("dimuon")
    assert dimuon.cuts == (("mass", 60.0),)
    assert (dimuon.expected, dimuon.reference_size, dimuon.centers, dimuon.width) == (2e4, 1e5, 2e4, 3.0)


@pytest.mark.parametrize(("name", "scale"), [("1d", "paper"), ("dimuon", "huge")])
def test_what_is_not_known_is_refused(name: str, scale: str) -> None:
    with pytest.raises(InputError, match="choose"):
        case(name, scale=scale)


def test_a_stage_of_other_settings_is_made_again(tmp_path: Path) -> None:
    made = []

    def make(_: object) -> dict[str, int]:
        made.append(1)
        return {"value": len(made)}

    stages = Stages(tmp_path, {"seed": 1})
    assert stages.run("a", make, width=1.0)["value"] == 1
    assert stages.run("a", make, width=1.0)["value"] == 1
    assert stages.run("a", make, width=2.0)["value"] == 2
    assert json.loads((tmp_path / "a.json").read_text())["value"] == 2


def test_published_files_are_named_by_sample(tmp_path: Path) -> None:
    file = tmp_path / "a.h5"
    file.touch()
    assert published_files("one-dimensional", [f"tail={file}"]) == {"tail": file}
    assert set(published_files("one-dimensional", [f"all={file}"])) == {"background", "tail", "bulk", "nonresonant"}
    with pytest.raises(InputError, match="SAMPLE=FILE"):
        published_files("one-dimensional", ["zprime=a.h5"])
    with pytest.raises(InputError, match="does not exist"):
        published_files("one-dimensional", ["tail=nowhere.h5"])


def test_one_dimensional_samples_grow_without_changing() -> None:
    library = Library("one-dimensional")
    few, many = library.events("background", 10)["x"], library.events("background", 100)["x"]
    assert (few == many[:10]).all()
