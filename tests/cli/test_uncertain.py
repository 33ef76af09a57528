"""Uncertainties as flags and in a configuration file: the same as in Python, and every mistake in one line."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import CliRunner, Result

import lanner
from lanner.cli import main
from lanner.cli.uncertain import pop_uncertainties
from lanner.events.io.write import write_columns
from lanner.settings import RunSettings

N = 12_000


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reference with a column of everything, its shifted versions, and data."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(4)
    x, w = rng.exponential(size=N), rng.uniform(0.5, 1.5, N)
    process = rng.integers(0, 4, N)
    columns: dict[str, Any] = {
        "x": x,
        "y": rng.normal(size=N),
        "w": w,
        "w_up": w * (1 + 0.05 * np.tanh(x)),
        "w_down": w * (1 - 0.05 * np.tanh(x)),
        "factor": 1 + 0.05 * np.tanh(x),
        "process": process,
        "is_tt": (process == 3) * 1,
        "zero": np.zeros(N),
        "hole": np.where(np.arange(N) % 1000 == 0, np.nan, w),
    }
    write_columns(folder / "reference.parquet", columns)
    for name, change in (("up", 1.03), ("down", 1 / 1.03), ("far", 1.0)):
        write_columns(folder / f"{name}.parquet", columns | {"x": x * change + (50 if name == "far" else 0)})
    write_columns(folder / "other.parquet", {"y": columns["y"], "w": w})
    write_columns(folder / "few.parquet", {key: column[: N // 4] for key, column in columns.items()})
    data = rng.exponential(1.02, 320)
    write_columns(folder / "data.parquet", {"x": data, "y": rng.normal(size=320)})
    return folder


def inputs(files: Path) -> tuple[object, ...]:
    return (
        *("--reference", files / "reference.parquet", "--data", files / "data.parquet", "--features", "x,s=y/2"),
        *("--weight", "w", "--where", "x < 6 && y > -2", "--expected", 300, "--toys", 90, "--seed", 3),
    )


def some(files: Path) -> tuple[object, ...]:
    return (
        *("--normalisation", "lumi=0.03", "--weights-up", "pdf=w_up", "--weights-down", "pdf=w_down"),
        *("--shifted", f"jes={files / 'up.parquet'},{files / 'down.parquet'}", "--process", "tt=0.06:process == 3"),
        *("--weights-up", "scale=w * factor"),
    )


IGNORED = pytest.mark.filterwarnings("ignore::lanner.errors.LannerWarning")


@IGNORED
def test_flags_and_file_say_what_python_says(files: Path, tmp_path: Path) -> None:
    done = run("search", *inputs(files), *some(files), "--json", "--output", tmp_path / "flags")
    assert done.exit_code == 0, done.output
    plain = json.loads(done.stdout)
    assert [one["name"] for one in plain["nuisances"]] == ["lumi", "pdf", "scale", "jes", "tt"]

    config = tmp_path / "analysis.yaml"
    config.write_text(
        f"""\
reference: {files / "reference.parquet"}
data: {files / "data.parquet"}
features: [x, s=y/2]
weight: w
where: x < 6 && y > -2
expected: 300
toys: 90
seed: 3
uncertainties:
  lumi: {{normalisation: 0.03}}
  pdf: {{weights-up: w_up, weights-down: w_down}}
  scale: {{weights_up: w * factor}}
  jes: {{shifted: [{files / "up.parquet"}, [{files / "down.parquet"}]]}}
  tt:
    process: 0.06
    label: process == 3
"""
    )
    by_file = run("search", "--config", config, "--json", "--output", tmp_path / "file")
    assert by_file.exit_code == 0, by_file.output

    how: dict[str, Any] = {"features": ["x", "s=y/2"], "weight": "w", "where": "x < 6 && y > -2"}
    varied = ["w_up", "w_down", "tt=process == 3", "scale=w * factor"]
    events = lanner.read_sample(files / "reference.parquet", varied=varied, **how)
    up, down = (lanner.read_sample(files / f"{name}.parquet", **how).sample for name in ("up", "down"))
    data = lanner.read_sample(files / "data.parquet", features=["x", "s=y/2"], where="x < 6 && y > -2").sample
    result = lanner.search(
        events.sample,
        data,
        expected=300,
        toys=90,
        seed=3,
        uncertainties=[
            lanner.Normalisation("lumi", 0.03),
            lanner.Weights("pdf", up="w_up", down="w_down").resolved(events.varied),
            lanner.Weights("scale", up=events.varied["scale"]),
            lanner.Shifted("jes", up=up, down=down),
            lanner.Process("tt", 0.06, label="tt").resolved(events.varied),
        ],
    )
    for found in (plain, json.loads(by_file.stdout)):
        assert found["statistic"] == result.statistic
        assert found["p_value"] == result.p_value
        assert [one["value"] for one in found["nuisances"]] == [one.value for one in result.nuisances]

    again = run("report", tmp_path / "flags", "--output", tmp_path / "again.html")
    assert again.exit_code == 0, again.output
    kept = yaml.safe_load((tmp_path / "flags" / "config.yaml").read_text())
    assert kept["uncertainties"]["tt"] == {"process": 0.06, "label": "process == 3"}
    assert RunSettings.of(kept).uncertainties[3].shifted == (
        (str(files / "up.parquet"),),
        (str(files / "down.parquet"),),
    )


@IGNORED
def test_a_dry_run_says_which_are_in(files: Path) -> None:
    done = run("search", *inputs(files), *some(files), "--dry-run")
    assert done.exit_code == 0, done.output
    for words in ("lumi: normalisation, 3 %", "pdf: event weights, yield +", "jes: samples of", "tt: a process with 25",
                  "scale: event weights, yield +", "mirrored", "learning them"):  # fmt: skip
        assert words in done.stdout
    found = json.loads(run("search", *inputs(files), *some(files), "--dry-run", "--json", "--quiet").stdout)
    assert [name for name, _ in found["uncertainties"]] == ["lumi", "pdf", "scale", "jes", "tt"]
    without = json.loads(run("search", *inputs(files), "--dry-run", "--json", "--quiet").stdout)
    assert without["uncertainties"] == []
    assert without["learning_seconds"] == 0 < found["learning_seconds"]


def test_columns_of_uncertainties_are_no_features(files: Path) -> None:
    arguments = ("--reference", files / "reference.parquet", "--data", files / "data.parquet", "--expected", 300)
    columns = ("--weights-up", "a=w_up", "--weights-down", "a=w_down", "--process", "tt=0.1:is_tt")
    rest = ("--weights-up", "b=hole", "--process", "p=0.1:process > 2", "--weights-up", "c=w*factor+zero")
    done = run("search", *arguments, *columns, *rest, "--weight", "w", "--drop-nan", "--dry-run", "--json", "--quiet")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["features"] == ["x", "y"]


@IGNORED
def test_rows_without_a_varied_weight_are_dropped_with_all_that_belongs_to_them(files: Path, tmp_path: Path) -> None:
    flags = ("--weights-up", "pdf=w_up", "--weights-up", "half=hole", "--drop-nan", "--output", tmp_path, "--json")
    done = run("search", *inputs(files), *flags)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    # The weights with holes are the nominal ones where there are any: nothing is left of this uncertainty.
    assert [one["name"] for one in found["nuisances"]] == ["pdf"]
    assert any("had missing values and were dropped" in text for text in found["warnings"])
    holes = ("--features", "x,hole", "--drop-nan", "--dry-run", "--shifted", f"jes={files / 'up.parquet'}")
    data = ("--data", files / "reference.parquet")
    said = run("search", *inputs(files), *data, *holes).stderr
    assert "rows of the sample up of 'jes' had missing values and were dropped" in said
    assert any("'half' has variations that are the reference itself: it is left out" in x for x in found["warnings"])


@IGNORED
def test_what_does_nothing_changes_nothing(files: Path, tmp_path: Path) -> None:
    nothing = ("--normalisation", "lumi=0", "--weights-up", "pdf=w", "--weights-down", "pdf=w", "--process",
               "tt=0:is_tt", "--shifted", f"jes={files / 'reference.parquet'}")  # fmt: skip
    plain = run("search", *inputs(files), "--json", "--output", tmp_path / "plain")
    done = run("search", *inputs(files), *nothing, "--json", "--output", tmp_path / "nothing")
    assert done.exit_code == 0, done.output
    found, truth = json.loads(done.stdout), json.loads(plain.stdout)
    for key in ("statistic", "p_value", "p_value_interval", "z_score", "null", "nuisances"):
        assert found[key] == truth[key]
    assert sum("it is left out" in text for text in found["warnings"]) == 4


def flags_refused() -> dict[str, tuple[tuple[str, ...], str, int]]:
    """Flags, the words that refuse them, and the exit code. {} stands for the folder of the files."""
    return {
        "other columns": (("--shifted", "jes={}/other.parquet"), "sample up of 'jes' .*other.parquet.*'x'", 1),
        "NaN": (("--weights-up", "pdf=hole"), "NaN or missing values in .*'weights up of pdf'.*--drop-nan", 1),
        "zero total": (("--weights-up", "pdf=zero"), "weights up of 'pdf' cannot be used: the total weight is 0", 1),
        "negative total": (("--weights-up", "pdf=-w"), "weights up of 'pdf' cannot be used: the total weight is -", 1),
        "up and down alike": (
            ("--weights-up", "pdf=w_up", "--weights-down", "pdf=w_up"),
            "up and down of 'pdf' are the same.*leave out that down",
            1,
        ),
        "300 %": (("--normalisation", "lumi=3"), "normalisation of 'lumi'=.*at most 1, such as 0.03 for 3 %", 2),
        "no number": (("--process", "tt=6%:is_tt"), "process of 'tt'='6%': give a number", 2),
        "a name twice": (("--normalisation", "a=0.1", "--normalisation", "a=0.2"), "'a' is given twice", 2),
        "a name of two kinds": (
            ("--normalisation", "a=0.1", "--weights-up", "a=w_up"),
            "'a' is 'normalisation', 'weights_up' in one",
            2,
        ),
        "no overlap": (
            ("--shifted", "jes={}/far.parquet", "--where", "y > -2"),
            "sample up of 'jes' hardly overlaps with the reference in 'x'",
            1,
        ),
        "a missing column": (("--weights-up", "pdf=w_upp"), "'w_upp' \\(nearest: 'w_up'", 1),
        "a missing label": (("--process", "tt=0.1:is_t"), "'is_t' \\(nearest: 'is_tt'", 1),
        "no label": (("--process", "tt=0.1:process"), "label of 'tt' has other values than true and false", 1),
        "no label at all": (("--process", "tt=0.1"), "give NAME=SIZE:LABEL, such as ttbar=0.06:is_ttbar", 2),
        "a missing file": (("--shifted", "jes={}/upp.parquet"), "sample up of 'jes'.*upp.parquet", 1),
        "three files": (("--shifted", "jes=a,b,c"), "give the sample up, or those up and down", 2),
        "another luminosity": (
            ("--shifted", "jes={}/few.parquet"),
            "not at equal luminosity.*--shifted-yield NAME=1 for none",
            1,
        ),
        "down without up": (("--weights-down", "pdf=w_down"), "give --weights-up pdf=... too", 2),
        "a yield without a sample": (("--shifted-yield", "jes=1"), "give --shifted jes=... too", 2),
        "no value": (("--normalisation", "lumi"), "--normalisation lumi: give NAME=SIZE, such as lumi=0.03", 2),
        "no name": (("--normalisation", "=0.1"), "give NAME=SIZE", 2),
        "spread": (("--normalisation", "lumi=0.03", "--spread"), "left in its files has features alone", 1),
        "permutation": (("--normalisation", "lumi=0.03", "--null", "permutation"), "relabels reference and data", 1),
        "generator": (("--normalisation", "lumi=0.03", "--null", "generator"), "--null generator", 2),
    }


@IGNORED
@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("case", flags_refused())
def test_mistakes_are_told_in_one_line(files: Path, tmp_path: Path, case: str, dry_run: bool) -> None:
    flags, words, code = flags_refused()[case]
    given = [text.replace("{}", str(files)) for text in flags]
    arguments = list(inputs(files))
    if case in ("permutation", "spread"):
        del arguments[arguments.index("--weight") : arguments.index("--weight") + 2]
    how = ("--dry-run",) if dry_run else ("--output", tmp_path / "out")
    done = run("search", *arguments, *given, "--quiet", *how)
    assert done.exit_code == code, done.output
    said = [line for line in done.stderr.splitlines() if line.startswith("Error:")]
    assert len(said) == 1
    assert done.stderr.endswith(said[0] + "\n")
    assert re.search(words, said[0]), said[0]


@IGNORED
def test_a_sample_of_another_luminosity_can_have_its_yield(files: Path) -> None:
    flags = ("--shifted", f"jes={files / 'few.parquet'}", "--shifted-yield", "jes=1.02", "--dry-run")
    done = run("search", *inputs(files), *flags)
    assert done.exit_code == 0, done.output
    assert "yield +2.00 %, mirrored" in done.stdout


def test_flags_stand_in_the_place_of_those_of_the_file(files: Path, tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("uncertainties:\n  lumi: {normalisation: 0.03}\n  2016: {normalisation: 0.01}\n")
    done = run("search", *inputs(files), "--config", config, "--normalisation", "lumi=0.05", "--dry-run")
    assert "lumi: normalisation, 5 %; 2016: normalisation, 1 %" in done.stdout


@pytest.mark.parametrize(("command", "more"), [("compare", ()), ("power --suite", ("--suite", "dimuon"))])
def test_commands_that_take_none_say_so(files: Path, tmp_path: Path, command: str, more: tuple[str, ...]) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("uncertainties: {lumi: {normalisation: 0.03}}\n")
    flags = ("--reference", files / "reference.parquet", "--expected", 300, "--output", tmp_path / "out")
    signal = ("--signal", files / "data.parquet", "--signal-events", 10)
    done = run(command.split()[0], *flags, *signal, *more, "--config", config)
    assert done.exit_code == 1
    assert f"lanner {command} takes no uncertainties: leave lumi out" in done.stderr


@IGNORED
def test_a_calibration_keeps_them_for_the_data(files: Path, tmp_path: Path) -> None:
    made = run(
        *("calibrate", "--reference", files / "reference.parquet", "--features", "x", "--expected", 300),
        *("--toys", 90, "--normalisation", "lumi=0.1", "--output", tmp_path / "kept"),
    )
    assert made.exit_code == 0, made.output
    data = ("apply", tmp_path / "kept", "--data", files / "data.parquet", "--features", "x")
    found = run(*data, "--json")
    assert found.exit_code == 0, found.output
    assert [one["name"] for one in json.loads(found.stdout)["nuisances"]] == ["lumi"]
    config = tmp_path / "c.yaml"
    config.write_text("uncertainties: {jes: {normalisation: 0.03}}\n")
    other = run(*data, "--config", config)
    assert other.exit_code == 1
    assert "made with the uncertainties lumi, and the configuration has jes" in other.stderr


@IGNORED
def test_power_with_them_is_no_more_than_without(files: Path) -> None:
    flags = ("--reference", files / "reference.parquet", "--features", "x", "--expected", 300, "--toys", 90)
    flags += ("--signal", files / "data.parquet", "--signal-events", 60, "--experiments", 30)  # type: ignore[assignment]
    plain, uncertain = (
        json.loads(run("power", *flags, *more, "--json").stdout)["strengths"][0]["empirical"]["z_16_50_84"][1]
        for more in ((), ("--normalisation", "lumi=0.3"))
    )
    assert plain > 1.5  # 60 more events of the same law as the reference
    assert uncertain < plain - 0.7


def test_flags_become_what_a_file_would_say() -> None:
    given = {"normalisation": ("lumi = 0.03",), "process": ("tt=0.06: process == 3",), "toys": 5}
    assert pop_uncertainties(given) == {
        "lumi": {"normalisation": "0.03"},
        "tt": {"process": "0.06", "label": " process == 3"},
    }
    assert given == {"toys": 5}


@IGNORED
def test_exposure_writes_a_table_and_json(files: Path, tmp_path: Path) -> None:
    flags = ("--reference", files / "reference.parquet", "--features", "x", "--expected", 300, "--toys", 90)
    flags += ("--experiments", 20, "--seed", 1, "--normalisation", "lumi=0.4")  # type: ignore[assignment]
    done = run("exposure", *flags, "--weights-up", "pdf=w_up", "--weight", "w", "--output", tmp_path)
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.stdout.splitlines()[3:]]
    assert [row[:2] for row in rows[1:]] == [["lumi", "+1"], ["lumi", "-1"], ["pdf", "+1"], ["pdf", "-1"]]
    found = json.loads((tmp_path / "exposure.json").read_text())
    assert found["rows"][0]["claims"]["3 sigma"]["fraction"] > 0.9
    assert found["rows"][2]["claims"]["3 sigma"]["fraction"] < 0.2
    again = run("exposure", *flags, "--weights-up", "pdf=w_up", "--weight", "w", "--output", tmp_path, "--json")
    assert json.loads(again.stdout) == found
    dry = run("exposure", *flags, "--dry-run")
    assert "130 toys" in dry.stdout
    refused = run("exposure", "--reference", files / "reference.parquet", "--expected", 300)
    assert refused.exit_code == 2
    assert "what may the reference be off by?" in refused.stderr
    shape = run("exposure", *flags, "--expected", "observed")
    assert "give --expected N" in shape.stderr
