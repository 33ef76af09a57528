"""Objects of NanoAOD on the command line: from flags and from a file, with data of which no event has a rare one."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from lanner.cli import main
from tests.events.io.nanoaod import events_of, write_tree

FEATURES = "pt2=Muon_pt[1],ht=sum(Jet_pt * (Jet_pt > 30)),r=hypot(MET_pt, max(Jet_pt))"
WEIGHT = "w=genWeight * where(count(Muon_pt) > 0, 0.98, 1)"
WHERE = "count(Jet_pt > 30) >= 1 && !(Muon_pt[0] > 500)"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lists")
    data = events_of(150, seed=8)
    data["Muon"] = data["Muon"][:, :1]
    write_tree(folder / "mc.root", events_of(3000, seed=7))
    write_tree(folder / "data.root", data)
    (folder / "search.yaml").write_text(
        f"reference: {folder}/mc.root\ndata: {folder}/data.root\nfeatures: {FEATURES}\nwhere: '{WHERE}'\n"
        f"weight: {WEIGHT}\nexpected: observed\ntoys: 20\nwidth: 3\npenalty: 1e-4\n"
    )
    return folder


def test_a_search_of_lists_is_the_same_by_flags_and_by_file_and_says_what_is_missing(files: Path) -> None:
    config = ["--config", str(files / "search.yaml")]
    flags = ["--reference", f"{files}/mc.root", "--data", f"{files}/data.root"]
    flags += ["--features", FEATURES, "--where", WHERE, "--weight", WEIGHT, "--expected", "observed", "--toys", "20"]
    flags += ["--width", "3", "--penalty", "1e-4"]
    found = []
    for name, given in (("a", config), ("b", flags)):
        done = CliRunner().invoke(main, ["search", *given, "--output", str(files / name)])
        assert done.exit_code == 0, done.output
        found.append(json.loads((files / name / "result.json").read_text()))
    assert found[0]["null"] == found[1]["null"]
    inputs = json.dumps(found[0])
    assert "objects that are missing: 'pt2' in" in inputs
    assert "events that have no such object" in inputs
    again = CliRunner().invoke(main, ["inspect", str(files / "a"), "--extra", "hardest=max(Jet_pt)"])
    assert again.exit_code == 0, again.output


def test_an_object_that_no_reference_event_has_is_refused_in_one_line(files: Path) -> None:
    given = ["--config", str(files / "search.yaml"), "--features", "pt=Muon_pt[40]", "--output", str(files / "c")]
    done = CliRunner().invoke(main, ["search", *given])
    assert done.exit_code == 1
    (line,) = [line for line in done.stderr.splitlines() if "Error" in line]
    assert "Muon_pt[40]: no selected event of reference" in line
