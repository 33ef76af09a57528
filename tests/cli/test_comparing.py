import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from lanner.baselines import NAMES
from lanner.cli import main


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "reference.npz", a=rng.normal(size=1500), b=rng.normal(size=1500))
    np.savez(tmp_path / "signal.npz", a=rng.normal(2, 0.2, 500), b=rng.normal(2, 0.2, 500))
    np.savez(tmp_path / "data.npz", a=rng.normal(size=100), b=rng.normal(size=100))
    return tmp_path


def run(*words: str):
    return CliRunner().invoke(main, ["compare", *words], catch_exceptions=False)


def test_the_tests_are_named() -> None:
    assert run("--list").output.split() == list(NAMES)


def test_a_signal_is_injected_and_a_table_printed(files: Path) -> None:
    common = ["--reference", f"{files}/reference.npz", "--expected", "100", "--toys", "60", "--quiet"]
    signal = ["--signal", f"{files}/signal.npz", "--signal-events", "10,20", "--experiments", "10"]
    made = run(*common, *signal, "--tests", "ks,chi2", "--output", f"{files}/out")
    assert made.exit_code == 0, made.output
    assert "signal 20" in made.output
    assert "compare.png" in made.output
    found = json.loads((files / "out" / "compare.json").read_text())
    assert [r["test"] for r in found["rows"]] == ["ks", "chi2"]


def test_data_get_p_values_as_json(files: Path) -> None:
    made = run(
        "--reference", f"{files}/reference.npz", "--data", f"{files}/data.npz", "--expected", "100", "--toys", "40",
        "--tests", "energy", "--json", "--quiet",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    assert 0 < json.loads(made.output)["rows"][0]["p_value"] <= 1


def test_a_test_that_is_not_known_is_named(files: Path) -> None:
    made = run(
        "--reference", f"{files}/reference.npz", "--data", f"{files}/data.npz", "--expected", "100", "--tests", "t-test"
    )
    assert made.exit_code == 1
    assert "t-test" in made.output
    assert "energy" in made.output


def test_a_signal_that_the_suite_lacks_is_named() -> None:
    made = run("--suite", "one-dimensional", "--signals", "hump", "--quiet")
    assert made.exit_code == 1
    assert "nonresonant" in made.output
