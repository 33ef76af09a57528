import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import lanner
from lanner.cli import main
from lanner.comparison import NAMES


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
    lines = run("--list").output.splitlines()
    assert [line.split()[0] for line in lines] == list(NAMES)
    assert all(len(line.split()) > 2 for line in lines[:3])


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
    assert 0 < json.loads(made.stdout)["rows"][0]["p_value"] <= 1


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


@pytest.mark.parametrize("words", [["--signals", "tail"], ["--share", "0.1"]])
def test_options_of_a_suite_need_one(files: Path, words: list[str]) -> None:
    made = run("--reference", f"{files}/reference.npz", "--expected", "100", *words)
    assert made.exit_code == 2
    assert "--suite" in made.output


def test_a_suite_has_its_own_samples(files: Path) -> None:
    made = run("--suite", "one-dimensional", "--reference", f"{files}/reference.npz")
    assert made.exit_code == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ((5, 5, 5), 2.15, "newton", None, None)),
        (["--optimiser", "adam", "--epochs", "7"], ((5, 5, 5), 2.15, "adam", 7, None)),
        (["--clip", "3"], ((5, 5, 5), 3.0, "newton", None, None)),
        (["--hidden", "3,2"], ((3, 2), None, "newton", None, None)),
        (["--starts", "1"], ((5, 5, 5), 2.15, "newton", None, 1)),
    ],
)
def test_the_published_network_is_changed_only_where_asked(
    words: list[str], expected: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {}

    def compare_suite(_, **settings):
        seen.update(settings)
        raise lanner.errors.InputError("enough")

    monkeypatch.setattr("lanner.paper.suites.compare_suite", compare_suite)
    run("--suite", "dimuon", "--tests", "network,ks", *words)
    network = seen["tests"][0]
    assert (network.hidden, network.clip, network.optimiser, network.epochs, network.starts) == expected
