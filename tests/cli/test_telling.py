"""What a search says of its samples: the features, what is no feature, and what a selection has kept."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from lanner.cli import main
from lanner.cli.telling import lines_on_samples
from lanner.events.io import read_sample
from lanner.settings import RunSettings

ROWS = 2400


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two parts of one table as experiments publish them: identifiers, text, and what was measured."""
    folder, rng = tmp_path_factory.mktemp("published"), np.random.default_rng(7)
    columns = {
        "Run": rng.choice([163286, 163374, 165548, 173663], ROWS).astype(str),
        "Event": rng.choice(2 * 10**9, ROWS, replace=False).astype(str),
        "pt": rng.exponential(30.0, ROWS).astype(str),
        "Q": rng.choice([-1, 1], ROWS).astype(str),
        "type": rng.choice(["EB", "EE"], ROWS),
    }
    rows = [",".join(row) for row in zip(*columns.values(), strict=True)]
    for name, part in (("reference", rows[:2000]), ("data", rows[2000:])):
        (folder / f"{name}.csv").write_text("\n".join([",".join(columns), *part]) + "\n")
    return folder


def test_a_search_without_options_leaves_identifiers_out_and_says_so(published: Path, tmp_path: Path) -> None:
    arguments = ("--reference", published / "reference.csv", "--data", published / "data.csv", "--expected", 400)
    done = run("search", *arguments, "--toys", 90, "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert "2 features: pt, Q" in done.stderr
    assert done.stderr.count("left out of the features") == 1
    for reason in ("'Run' looks like a run number", "'Event' looks like an event number", "'type' holds text"):
        assert reason in done.stderr
    plain = json.loads((tmp_path / "result.json").read_text())
    assert plain["configuration"]["names"] == ["pt", "Q"]
    assert list(plain["left_out"]) == ["Run", "Event", "type"]
    assert "left out" in done.stdout
    assert "looks like a run number" in (tmp_path / "report.html").read_text()
    assert "Name the columns you mean with --features A,B,..." in done.stderr


def test_a_dry_run_says_the_same(published: Path) -> None:
    done = run("search", "--reference", published / "reference.csv", "--data", published / "data.csv",
               "--expected", 400, "--dry-run")  # fmt: skip
    assert "pt, Q" in done.stdout
    assert "'Run' looks like a run number" in done.stderr


def test_a_selection_says_what_it_kept_and_of_which_events_the_expected_number_is() -> None:
    table = {"x": [1.0, 2.0, np.nan, 4.0]}
    reference = read_sample(table, where="x != 1", drop_nan=True)
    settings = {"where": "x != 1", "expected": 400, "drop_nan": True}
    lines = lines_on_samples(RunSettings.of(settings), reference=reference)
    assert lines == [
        "1 feature: x",
        "reference: 2 of 4 events kept by --where 'x != 1' and --drop-nan (1 row)",
        "--expected 400 has to be the number after this selection: it is taken as it is",
    ]
    assert len(lines_on_samples(RunSettings.of(settings | {"expected": "observed"}), reference=reference)) == 2
    assert lines_on_samples(RunSettings.of({}), reference=read_sample({"x": [1.0, 2.0]})) == ["1 feature: x"]


def test_the_same_file_as_reference_and_data_is_warned_of_by_its_name(published: Path, tmp_path: Path) -> None:
    same = published / "reference.csv"
    done = run("search", "--reference", same, "--data", same, "--features", "pt", "--expected", 100, "--toys", 90,
               "--output", tmp_path)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert f"{same} is given both as --reference and as --data" in done.stderr
    assert "the same 2000 events" in done.stderr
    plain = json.loads((tmp_path / "result.json").read_text())
    assert any(str(same) in text for text in plain["warnings"])
    assert plain["z_score"] is not None
    assert "Z = ≤" not in done.stdout
    assert "−∞" not in done.stdout
