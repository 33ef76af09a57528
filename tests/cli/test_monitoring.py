"""`lanner monitor`: lines, JSON, exit codes, and what is kept between two calls."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from lanner.cli import main
from lanner.monitor import feeding, opening
from lanner.monitor.calibration import Rules
from tests.monitor.folders import batch, write_csv

LEARN = ["--reference", "ref.csv", "--batch", "40", "--windows", "2", "--run-length", "50", "--seed", "3"]


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["monitor", "--output", "m", *words], catch_exceptions=False)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reference, and three good and a bad run; calibrations of few toys."""
    monkeypatch.setattr(opening, "Rules", partial(Rules, toys=600, streams=10, length=30))
    monkeypatch.chdir(tmp_path)
    write_csv(Path("ref.csv"), batch(1, 4000))
    Path("runs").mkdir()
    for k in range(4):
        write_csv(Path(f"runs/run{k}.csv"), batch(40 + k, 40, shift=2.0 * (k == 3)), live=np.full(40, 39.0 + k))
    return tmp_path


def learned(*words: str) -> Result:
    made = run(*LEARN, *words)
    assert made.exit_code in (0, 3), made.output
    return made


def test_a_line_a_batch_and_3_for_an_alarm() -> None:
    made = learned("--batches", "runs/*.csv")
    assert made.exit_code == 3
    lines = made.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["run0", "run1", "run2", "run3"]
    assert "ALARM (batch)" in lines[3]
    assert "angle" in lines[3]
    assert "Alarms with" in Path("m/timeline.html").read_text()
    assert json.loads(Path("m/good_runs.json").read_text())["run0"] == [[1, 9999]]


def test_the_same_command_again_counts_nothing_twice() -> None:
    learned("--batches", "runs/*.csv")
    again = run("--batches", "runs/*.csv")
    assert (again.stdout, again.exit_code) == ("", 3)
    assert run("--batches", "runs/run0.csv").exit_code == 0
    both = run(*LEARN, "--batches", "runs/*.csv")
    assert (both.stdout, both.exit_code) == ("", 3)


def test_json_has_a_line_for_each() -> None:
    made = learned("--batches", "runs/*.csv", "--json", "--quiet")
    found = [json.loads(line) for line in made.stdout.splitlines()]
    assert [one["name"] for one in found] == ["run0", "run1", "run2", "run3"]
    assert found[3]["alarms"][0]["kind"] == "batch"
    assert found[3]["flagged"] in (True, False)
    assert made.stderr == ""


def test_the_folder_alone_shows_the_state() -> None:
    learned("--batches", "runs/*.csv")
    shown = run()
    assert shown.exit_code == 3
    assert "run3" in shown.stdout
    assert "once in 50 batches" in shown.stdout
    assert len(run("--json").stdout.splitlines()) == 4


def test_a_reference_alone_calibrates_and_no_alarm_is_0() -> None:
    assert learned().exit_code == 0
    assert Path("m/calibration/calibration.json").exists()
    assert "No batch has come yet" in Path("m/timeline.html").read_text()
    assert run("--batches", "runs/run0.csv").exit_code == 0


def test_a_folder_is_followed_and_what_cannot_be_read_is_said() -> None:
    Path("runs/bad.csv").write_text("energy\n1\n")
    made = learned("--follow", "runs", "--poll", "0.01", "--idle", "0.05")
    assert len(made.stdout.splitlines()) == 4
    assert "not counted: bad: " in made.stderr
    assert "'angle'" in made.stderr
    assert 'http-equiv="refresh"' not in Path("m/timeline.html").read_text()


def test_runs_of_one_file_with_a_column_of_rates() -> None:
    run_numbers = np.repeat([163300.0, 163299.0], 40)
    write_csv(Path("all.csv"), batch(70, 80), run=run_numbers, live=run_numbers / 163300 * 40)
    write_csv(Path("ref.csv"), batch(1, 4000), live=np.random.default_rng(1).uniform(1, 2, 4000))
    made = learned("--batches", "all.csv", "--by", "run", "--sort", "--rates", "live", "--json", "--quiet")
    found = [json.loads(line) for line in made.stdout.splitlines()]
    assert [(one["name"], round(one["expected"])) for one in found] == [("163299", 40), ("163300", 40)]
    assert set(json.loads(Path("m/good_runs.json").read_text())) <= {"163299", "163300"}


def test_batches_of_a_size_need_no_other() -> None:
    words = [word for word in LEARN if word not in ("--batch", "40")]
    made = run(*words, "--batches", "ref.csv", "--size", "50", "--where", "energy > 0.1")
    assert made.exit_code in (0, 3), made.output
    assert made.stdout.splitlines()[1].startswith("51-100  50 events")
    assert "batch: 50" not in Path("m/config.yaml").read_text()
    refused = run("--batches", "runs/*.csv", "--where", "energy > 0.2")
    assert refused.exit_code == 1
    assert "leave it out, or use another folder" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--by", "run", "--size", "9"], "give one of them"),
        (["--batches", "a.csv", "--follow", "b"], "give one of them"),
        (["--batches", "a.csv", "--rate", "3"], "--rate belongs to --rates"),
        (["--batches", "a.csv", "--idle", "3"], "--idle belongs to --follow"),
        (["--expected", "weights"], "give the number expected"),
        (["--by", "a,b,c"], "one column, or those of run"),
        (["--windows", "1"], "--windows"),
    ],
)
def test_commands_that_mean_nothing_are_refused(words: list[str], said: str) -> None:
    made = run(*words)
    assert made.exit_code == 2
    assert said in made.stderr


def test_what_the_user_can_mend_is_1() -> None:
    assert run().exit_code == 1
    learned()
    for words in (["--batch", "50"], ["--batches", "none.csv"], ["--batches", "runs/*.csv", "--rates", "none.csv"]):
        made = run(*LEARN[:2], *words)
        assert made.exit_code == 1, made.output
        assert made.stderr.splitlines()[-1].startswith("Error: ") or "page" in made.stderr


def test_ctrl_c_ends_with_a_line_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    learned()
    whole = feeding.feed_files

    def interrupted(*args, **how):
        yield next(whole(*args, **how))
        raise KeyboardInterrupt

    monkeypatch.setattr(feeding, "feed_files", interrupted)
    made = run("--batches", "runs/*.csv")
    assert made.exit_code == 130
    assert "1 batch is kept in m" in made.stderr
    assert "Interrupted" in made.stderr
    assert "1 batch," in Path("m/timeline.html").read_text()


def test_good_runs_teach_what_is_no_alarm() -> None:
    rng = np.random.default_rng(5)
    for name, seed in (("good", 100), ("new", 200)):
        parts = [batch(seed + k, 40, shift=float(rng.normal(0, 0.6))) for k in range(20)]
        columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        write_csv(Path(f"{name}.csv"), columns, run=np.repeat(np.arange(20.0), 40))
    split = ["--by", "run", "--json", "--quiet"]
    plain = CliRunner().invoke(main, ["monitor", "--output", "plain", *LEARN, "--batches", "new.csv", *split])
    taught = learned("--batches", "new.csv", "--good", "good.csv", *split)
    alarms = [sum(bool(json.loads(line)["alarms"]) for line in one.stdout.splitlines()) for one in (plain, taught)]
    assert alarms[1] < alarms[0] / 2
    assert "in which good batches differ" in run().stdout
