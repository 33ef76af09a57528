"""Analysis files on the command line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import lanner
from lanner.cli import main
from tests.report.test_analysis import write_samples
from tests.uncertainties.test_of_analysis import path

__all__ = ["path"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_samples(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_template_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "lanner search analysis.yaml" in run("init").output
    done = run("init")
    assert done.exit_code != 0
    assert "analysis.yaml exists" in done.output
    assert run("init", "other.txt").exit_code != 0


def test_an_analysis_is_searched_reported_and_reported_again(folder: Path) -> None:
    done = run("search", "analysis.yaml", "--toys", "90", "--output", "out")
    assert done.exit_code == 0, done.output
    assert "Drell-Yan: " in done.output
    assert "of negative weight" in done.output
    assert "NaN" not in done.output
    result = json.loads((folder / "out" / "result.json").read_text())
    assert result["configuration"]["expected"] == pytest.approx(243.545, abs=0.01)
    assert result["configuration"]["seed"] == 1
    assert (folder / "out" / "report.html").exists()
    (folder / "out" / "report.html").unlink()
    again = run("report", "out")
    assert again.exit_code == 0, again.output
    assert (folder / "out" / "report.html").exists()


def test_flags_come_before_the_file_and_normalisations_beside_it(folder: Path) -> None:
    of_file = "uncertainties: {lumi: {normalisation: 0.5}, luminosity: {normalisation: 0.012}}\n"
    (folder / "analysis.yaml").write_text((folder / "analysis.yaml").read_text() + of_file)
    where = ("--where", "pt > 20", "--expected", "250", "--normalisation", "lumi=0.03")
    done = run("search", "analysis.yaml", *where, "--toys", "90", "--output", "out", "--quiet")
    assert done.exit_code == 0, done.output
    result = json.loads((folder / "out" / "result.json").read_text())
    assert result["configuration"]["expected"] == 250
    found = {one["name"]: one["error"] for one in result["nuisances"]}
    assert list(found) == ["lumi", "luminosity"]
    assert found["lumi"] > 0.85  # of 3 %, not of 50 %


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--reference", "top.parquet"), "reference: an analysis file says"),
        (("--weight", "generator"), "weight: an analysis file says"),
        (("--features", "pt"), "those of analysis.yaml are tested"),
        (("--process", "top=0.06:label"), "'top'"),
    ],
)
def test_what_does_not_go_together_is_refused(folder: Path, arguments: tuple[str, str], said: str) -> None:
    done = run("search", "analysis.yaml", "--output", "out", "--toys", "90", *arguments)
    assert done.exit_code != 0
    assert said in done.output
    assert "Traceback" not in done.output


@pytest.mark.filterwarnings("ignore::lanner.errors.LannerWarning")
def test_uncertainties_of_the_file_are_those_of_python(path: Path) -> None:
    out = path.parent / "out"
    done = run("search", str(path), "--quiet", "--output", str(out))
    assert done.exit_code == 0, done.output
    by_python = lanner.read_analysis(path).search()
    by_command = lanner.load_result(out)
    assert [one.name for one in by_command.nuisances] == ["lumi", "top rate", "pileup", "scale", "events simulated"]
    assert by_command.p_value == by_python.p_value
    assert "nuisance" in (out / "report.html").read_text()
