"""`lanner export`, on a search from an analysis file."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import lanner
from lanner.cli import exporting, main
from lanner.report.export import KINDS, citation
from tests.report.test_analysis import write_samples


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    write_samples(folder)
    done = run("search", str(folder / "analysis.yaml"), "--toys", "90", "--output", str(folder / "out"), "--quiet")
    assert done.exit_code == 0, done.output
    return folder / "out"


def test_the_kinds_are_those_of_python() -> None:
    assert exporting._KINDS == KINDS


def test_a_search_is_exported(finished: Path) -> None:
    only = [word for kind in ("histograms", "toys", "ratios", "citation") for word in ("--only", kind)]
    data = str(finished.parent / "data.parquet")
    done = run(
        "export", str(finished), *only, "--format", "csv", "--events", str(finished.parent / "top.parquet"), "--json"
    )
    assert done.exit_code == 0, done.output
    names = json.loads(done.output.splitlines()[-1])
    assert sorted(Path(name).name for name in names) == [
        "citation.bib",
        "histograms.json",
        "ratio_data.csv",
        "ratio_reference.csv",
        "ratio_top.csv",
        "toys.csv",
    ]
    result = lanner.load_result(finished)
    toys = np.loadtxt(finished / "export" / "toys.csv", delimiter=",", skiprows=1)
    assert toys[:, 0] == pytest.approx(result.null.statistics)
    kept = lanner.read_sample(finished / "export" / "ratio_data.csv", features=["pt", "row"]).sample.features
    whole = lanner.read_sample(data, features=["pt"]).sample.features[:, 0]
    assert np.array_equal(kept[:, 0], whole[kept[:, 1].astype(int)])
    assert "pt/process/Drell-Yan" in (finished / "export" / "histograms.json").read_text()


def test_toys_need_no_samples(finished: Path, tmp_path: Path) -> None:
    (finished.parent / "data.parquet").rename(finished.parent / "moved.parquet")
    try:
        done = run("export", str(finished), "--only", "toys", "--output", str(tmp_path / "toys"), "--quiet")
        assert done.exit_code == 0, done.output
        assert (tmp_path / "toys" / "toys.npz").exists()
        assert run("export", str(finished), "--only", "ratios", "--quiet").exit_code != 0
    finally:
        (finished.parent / "moved.parquet").rename(finished.parent / "data.parquet")


def test_a_citation_needs_no_search() -> None:
    assert run("export", "--citation").output == citation()


def test_a_folder_is_asked_for(tmp_path: Path) -> None:
    assert "the folder of a finished search" in run("export").output
    assert run("export", str(tmp_path / "none"), "--quiet").exit_code != 0


def test_two_files_of_one_name_are_refused(finished: Path) -> None:
    file = str(finished.parent / "top.parquet")
    done = run("export", str(finished), "--events", file, "--events", file, "--quiet")
    assert done.exit_code != 0
    assert "two files are called top" in done.output
