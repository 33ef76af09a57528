"""`lanner search --blind` and `lanner unblind`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from lanner.cli import main

SEARCH = ["search", "--reference", "mc.csv", "--data", "data.csv", "--expected", "100", "--toys", "60", "--seed", "1"]


def write(path: Path, events: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = np.column_stack([rng.exponential(size=events), rng.normal(size=events)])
    np.savetxt(path, columns, delimiter=",", header="x,y", comments="")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "mc.csv", 3000, 1)
    write(tmp_path / "data.csv", 104, 2)
    return tmp_path


def lanner(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, [*arguments])
    assert result.exit_code == code, result.output + result.stderr
    return result


def all_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_output_and_log_are_the_same_whatever_the_data(folder: Path) -> None:
    found = []
    for events, seed in ((104, 2), (77, 3)):
        write(folder / "data.csv", events, seed)
        command = [sys.executable, "-m", "lanner", *SEARCH, "--blind", "--output", "out"]
        run = subprocess.run(command, cwd=folder, capture_output=True, env=os.environ, check=True)
        found.append((all_files(folder / "out"), run.stdout, run.stderr))
        (folder / "out").rename(folder / f"out-{events}")
    assert found[0] == found[1]
    assert b"done" in found[0][2]


def test_nothing_below_the_header_of_the_data_is_read(folder: Path) -> None:
    (folder / "data.csv").write_text("x,y\nno event; at all\n")
    assert "no data were looked at" in lanner(*SEARCH, "--blind", "--output", "out").stdout


def test_data_without_a_column_are_refused_before_they_are_looked_at(folder: Path) -> None:
    (folder / "data.csv").write_text("x,z\n1,2\n")
    assert "'y'" in lanner(*SEARCH, "--blind", "--output", "out", code=1).stderr


def test_unblinding_gives_what_an_open_search_gives_and_a_second_time_says_so(folder: Path) -> None:
    lanner(*SEARCH, "--blind", "--output", "out")
    first = json.loads(lanner("unblind", "out", "--json").stdout)
    there = json.loads(lanner(*SEARCH, "--output", "open", "--json").stdout)
    same = ("p_value", "statistic", "combined", "null")
    assert [first[name] for name in same] == [there[name] for name in same]
    assert there["unblinded"] is None
    assert first["unblinded"] in (folder / "out" / "report.html").read_text()
    again = lanner("unblind", "out")
    assert f"was unblinded {first['unblinded']}" in again.stderr
    assert f"unblinded: {first['unblinded']}" in again.stdout
    assert "was unblinded" in lanner(*SEARCH, "--blind", "--output", "out", code=1).stderr


def test_a_blind_folder_refuses_all_that_would_look_at_data(folder: Path) -> None:
    (folder / "search.yaml").write_text(
        "reference: mc.csv\ndata: data.csv\nexpected: 100\ntoys: 60\nseed: 1\nblind: true\noutput: out\n"
    )
    lanner("search", "--config", "search.yaml")
    (folder / "data.csv").unlink()  # nobody looks for it
    for command in ([*SEARCH, "--output", "out"], ["report", "out"], ["inspect", "out"]):
        assert "out is blind" in lanner(*command, code=1).stderr
    assert "not the folder of a blind search" in lanner("unblind", ".", code=1).stderr


def test_an_open_search_without_output_comes_upon_the_blind_folder(folder: Path) -> None:
    lanner(*SEARCH, "--blind")
    assert "is blind" in lanner(*SEARCH, code=1).stderr


def test_a_reference_or_a_setting_that_changed_is_refused_by_its_file(folder: Path) -> None:
    lanner(*SEARCH, "--blind", "--output", "out")
    kept = (folder / "out" / "config.yaml").read_text()
    (folder / "out" / "config.yaml").write_text(kept.replace("100", "120"))
    assert "config.yaml" in lanner("unblind", "out", code=1).stderr
    (folder / "out" / "config.yaml").write_text(kept)
    write(folder / "mc.csv", 3000, 7)
    assert "mc.csv was changed" in lanner("unblind", "out", code=1).stderr
    assert not (folder / "out" / "unblinded.json").exists()


def test_an_analysis_file_is_blinded_and_unblinded(folder: Path) -> None:
    (folder / "analysis.yaml").write_text(
        "samples:\n  top: {files: mc.csv, weights: w}\n  other: {files: mc2.csv, weights: w}\ndata: data.csv\n"
        "features:\n  x: {label: lifetime, unit: ps}\n  y: {}\nsettings: {toys: 60, seed: 1}\n"
    )
    for name, seed in (("mc.csv", 1), ("mc2.csv", 5)):
        rng = np.random.default_rng(seed)
        columns = np.column_stack([rng.exponential(size=2000), rng.normal(size=2000), np.full(2000, 0.025)])
        np.savetxt(folder / name, columns, delimiter=",", header="x,y,w", comments="")
    uncertain = (folder / "analysis.yaml").read_text() + "uncertainties: {lumi: {normalisation: 0.02}}\n"
    (folder / "uncertain.yaml").write_text(uncertain)
    refused = lanner("search", "uncertain.yaml", "--blind", "--output", "out", code=1)
    assert "uncertainties (lumi)" in refused.stderr
    lanner("search", "analysis.yaml", "--blind", "--output", "out")
    assert not (folder / "out" / "result.json").exists()
    lanner("unblind", "out")
    assert json.loads((folder / "out" / "result.json").read_text())["unblinded"].endswith("UTC")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--null", "permutation"], "relabelling"),
        (["--normalisation", "lumi=0.02"], "nuisance parameters"),
        (["--spread"], "--spread"),
    ],
)
def test_what_cannot_be_blind_is_refused_with_the_reason(flags: list[str], words: str, folder: Path) -> None:
    assert words in lanner(*SEARCH, "--blind", "--output", "out", *flags, code=1).stderr


def test_a_test_of_the_shape_alone_is_refused(folder: Path) -> None:
    shape = ["observed" if argument == "100" else argument for argument in SEARCH]
    assert "not even know their number" in lanner(*shape, "--blind", "--output", "out", code=1).stderr


def test_a_signal_belongs_to_a_blind_search(folder: Path) -> None:
    assert "--blind" in lanner(*SEARCH, "--signal", "mc.csv", code=2).stderr
    assert "--signal-events" in lanner(*SEARCH, "--blind", "--signal", "mc.csv", code=2).stderr
