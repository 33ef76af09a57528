"""Regions of an analysis file on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import lanner
from lanner.cli import main
from tests.report.test_regions import write_files


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    text = (tmp_path / "analysis.yaml").read_text()
    text = text.replace("[mll, eta1, eta2]", "[mll]")  # so that regions use columns that are no features
    (tmp_path / "analysis.yaml").write_text(text.replace("  high-mass:", "  far: mll > 400\n  high-mass:"))
    return tmp_path


def test_one_folder_holds_the_whole_and_every_region(folder: Path) -> None:
    done = run("search", "analysis.yaml", "--toys", "90", "--output", "out")
    assert done.exit_code == 0, done.output
    assert "global p = " in done.output
    whole = json.loads((folder / "out" / "result.json").read_text())
    assert list(whole["regions"]) == ["barrel", "far", "high-mass"]
    assert whole["expected"] == pytest.approx(150)
    for name, one in whole["regions"].items():
        there = lanner.load_result(folder / "out" / "regions" / name)
        assert (there.p_value, there.data_size) == (one["p_value"], one["observed"])
        assert (folder / "out" / "regions" / name / "report.html").exists() == (one["observed"] > 0)
    assert whole["regions"]["far"]["observed"] == 0
    assert 'href="regions/barrel/report.html"' in (folder / "out" / "report.html").read_text()
    again = run("report", "out/regions/high-mass", "--quiet")
    assert again.exit_code == 0, again.output
    refused = run("report", "out")
    assert "of several regions: give the folder of one of them" in refused.output
    other = run("search", "analysis.yaml", "--toys", "90", "--where", "mll > 60", "--output", "out", "--quiet")
    assert "out holds the result of other data" in other.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--dry-run",), "--dry-run: analysis.yaml has regions"),
        (("--blind",), "--blind: analysis.yaml has regions"),
        (("--workers", "2"), "--workers: analysis.yaml has regions"),
        (("--normalisation", "lumi=0.03"), "--uncertainties: analysis.yaml has regions"),
        (("--width", "3"), "tested by the score statistic"),
        (("--where", "mll < 150"), "analysis.yaml:7: regions.far: it selects 0 of"),
    ],
)
def test_what_does_not_go_together_is_refused(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = run("search", "analysis.yaml", "--output", "out", "--toys", "90", *arguments)
    assert done.exit_code != 0
    assert said in done.output
    assert "Traceback" not in done.output
    assert not (folder / "out" / "result.json").exists()


def test_the_folder_of_another_search_is_left_alone(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "result.json").write_text("{}")
    (folder / "out" / "manifest.json").write_text("{}")
    done = run("search", "analysis.yaml", "--output", "out", "--toys", "90", "--quiet")
    assert "holds the result of a search without regions" in done.output
    assert (folder / "out" / "result.json").read_text() == "{}"


def test_uncertainties_of_the_file_are_refused_with_their_line(folder: Path) -> None:
    text = (folder / "analysis.yaml").read_text()
    (folder / "analysis.yaml").write_text(text + "\nuncertainties: {lumi: {normalisation: 0.02}}\n")
    said = run("search", "analysis.yaml", "--toys", "60", "--output", "out").output
    assert f"analysis.yaml:{len(text.splitlines()) + 2}: uncertainties: regions are searched without" in said
