"""`generate` and `reproduce` on the command line, with the generator."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import lanner
from lanner.cli import main
from lanner.paper.datasets import higgs, susy

generator = pytest.importorskip("pythia8mc", reason="the generator is not installed")

COLUMNS = {
    "dimuon": ("pt1", "pt2", "eta1", "eta2", "delta_phi", "mll"),
    "susy": (*susy.LOW_LEVEL, *susy.HIGH_LEVEL),
    "higgs": (*higgs.LOW_LEVEL, *higgs.HIGH_LEVEL),
}
SIGNALS = {"dimuon": "zprime-600", "susy": "chargino", "higgs": "heavy-higgs"}
# Of gradient-boosted trees on the published rows.
AUC = {"susy": 0.87, "higgs": 0.78}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.mark.parametrize("name", list(COLUMNS))
def test_generate_makes_collisions_and_says_how(name: str, tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    made = run("generate", name, "--events", 20, "--signal", SIGNALS[name], "--signal-events", 5, "--processes", 1,
               "--seed", 3, "--output", path, "--quiet")  # fmt: skip
    assert made.exit_code == 0, made.output
    sample = lanner.read_sample(path).sample
    assert sample.names == COLUMNS[name]
    assert len(sample) == 25
    note = json.loads(pq.read_schema(path).metadata[b"lanner"])
    assert (note["signal"], note["seed"]) == (SIGNALS[name], 3)
    assert note["settings"]["pythia"]


def test_generate_obeys_cuts_and_energy(tmp_path: Path) -> None:
    path = tmp_path / "z.h5"
    made = run("generate", "dimuon", "--events", 50, "--cut", "mass=60", "--cut", "pt=30", "--energy", 7000,
               "--processes", 1, "--output", path)  # fmt: skip
    assert made.exit_code == 0, made.output
    assert f"50 events in {path}" in made.output
    columns = lanner.read_sample(path).sample
    values = dict(zip(columns.names, columns.features.T, strict=True))
    assert values["pt2"].min() > 30
    assert 60 < values["mll"].min() < 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dimuon", "--cut", "mass"), "give NAME=VALUE"),
        (("dimuon", "--cut", "met=5"), "has the cuts pt, eta, mass"),
        (("dimuon", "--signal", "zprime-301"), "choose"),
        (("one-dimensional", "--cut", "pt=3"), "no cuts"),
    ],
)
def test_what_generate_cannot_do(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    made = run("generate", *arguments, "--output", tmp_path / "a.parquet")
    assert made.exit_code != 0
    assert message in made.output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", list(COLUMNS))
def test_reproduce_from_generator_to_page(name: str, tmp_path: Path) -> None:
    made = run("reproduce", name, "--toys", 20, "--experiments", 8, "--samples", tmp_path / "samples",
               "--output", tmp_path / "out", "--quiet")  # fmt: skip
    assert made.exit_code == 0, made.output
    assert f"results: {tmp_path / 'out' / 'results.md'}" in made.output
    page = (tmp_path / "out" / "results.md").read_text()
    figures = {"statistic", "observed", "probability", "sizes", "all", f"ratio-{_first_signal(name)}"}
    for figure in figures | ({"losses"} if name == "dimuon" else set()):
        assert f"(figures/{figure}.png)" in page
        assert (tmp_path / "out" / "figures" / f"{figure}.png").stat().st_size > 10_000
    numbers = json.loads((tmp_path / "out" / "numbers.json").read_text())
    assert len(numbers["low"]["null"]["t"]) == 20
    if name in AUC:
        assert numbers["ideal"]["auc"] == pytest.approx(AUC[name], abs=0.05)
    kept = {path.name for path in (tmp_path / "samples").iterdir()}
    assert f"{name}-background.parquet" in kept


def test_the_default_test_beside_the_papers_setting(tmp_path: Path) -> None:
    made = run("reproduce", "one-dimensional", "--default-test", "--toys", 45, "--paper-toys", 30, "--experiments", 4,
               "--output", tmp_path, "--quiet")  # fmt: skip
    assert made.exit_code == 0, made.output
    assert "null toys paper 30, default 45" in made.output
    assert f"results: {tmp_path / 'default.md'}" in made.output
    assert not (tmp_path / "results.md").exists()


def test_toys_of_the_papers_setting_alone_go_with_the_default_test(tmp_path: Path) -> None:
    made = run("reproduce", "one-dimensional", "--paper-toys", 30, "--output", tmp_path / "out")
    assert made.exit_code != 0
    assert "--paper-toys goes with --default-test" in made.output
    assert not (tmp_path / "out").exists()


def _first_signal(name: str) -> str:
    return {"dimuon": "zprime-300"}.get(name, SIGNALS[name])
