"""Where commands write if nobody says."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from lanner.cli import main
from lanner.cli.folders import default_folder
from lanner.events.io.write import write_columns
from lanner.settings import RunSettings

GIVEN = {"reference": "mc.root:events", "data": "run2/data*.root", "expected": 200}


def folder(**changed: object) -> str:
    return default_folder(RunSettings.of(GIVEN | changed), "search")


def test_the_name_is_of_the_inputs_in_letters_that_every_file_system_takes() -> None:
    assert folder().startswith("search-data-mc-")
    assert "/" not in folder(data="../a b/c:d e.parquet")
    assert "*" not in folder()


def test_another_run_has_another_folder_and_more_toys_have_the_same() -> None:
    names = {folder(), folder(seed=2), folder(features="x"), folder(where="x > 1"), folder(data="other/data.root")}
    assert len(names) == 5
    assert folder() == folder(toys=500) == folder(memory="2 GB") == folder(workers=3) == folder(until_z=4)


def test_a_search_and_a_calibration_say_where_they_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    write_columns("mc.parquet", {"x": rng.normal(size=4000)})
    write_columns("data.parquet", {"x": rng.normal(size=150)})

    def run(*arguments: object) -> Result:
        done = CliRunner().invoke(main, [str(a) for a in arguments])
        assert done.exit_code == 0, done.output
        return done

    search = ("search", "--reference", "mc.parquet", "--data", "data.parquet", "--expected", 150, "--toys")
    first = run(*search, 90)
    (made,) = tmp_path.glob("search-data-mc-*")
    assert f"output: {made.name} (give --output for another)" in first.stderr
    assert (made / "result.json").exists()
    assert f"output: {made.name} (goes on with what is there)" in run(*search, 120).stderr
    assert "output:" not in run(*search, 120, "--quiet").stderr
    run("calibrate", "--reference", "mc.parquet", "--expected", 150, "--toys", 90)
    assert len(list(tmp_path.glob("calibration-mc-*"))) == 1
    assert len(list(tmp_path.glob("search-*"))) == 1
