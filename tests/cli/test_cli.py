import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner, Result

import lanner
from lanner.cli import main
from lanner.errors import ReachWarning
from lanner.events.io.write import write_columns
from lanner.paper.datasets import one_dimensional


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(4)

    def columns(n: int, peak: int = 0) -> dict[str, np.ndarray]:
        x = np.append(rng.exponential(1 / 8, n), rng.normal(0.8, 0.02, peak))
        return {"x": x, "y": rng.normal(size=n + peak), "unused": rng.random(n + peak), "w": np.ones(n + peak)}

    write_columns(folder / "reference.parquet", columns(8000))
    write_columns(folder / "data.parquet", columns(400, peak=15))
    write_columns(folder / "null.parquet", columns(400))
    write_columns(folder / "signal.parquet", {"x": rng.normal(0.8, 0.02, 300), "y": rng.normal(size=300)})
    return folder


COMMON = ("--features", "x,y", "--expected", 400, "--toys", 40, "--seed", 3, "--penalty", 1e-5, "--width", 1.0)


@pytest.fixture(scope="module")
def searched(files: Path) -> Path:
    output = files / "search"
    arguments = ("--reference", files / "reference.parquet", "--data", files / "data.parquet")
    done = run("search", *arguments, *COMMON, "--extra", "twice=2*x", "--extra", "unused", "--output", output)
    assert done.exit_code == 0, done.output
    assert "report:" in done.stdout
    return output


def test_help_lists_the_commands_in_the_order_of_the_work() -> None:
    text = run("--help").output
    places = [text.index(f"\n  {name} ") for name in
              ("generate", "tune", "calibrate", "search", "apply", "inspect", "report", "power")]  # fmt: skip
    assert places == sorted(places)


@pytest.mark.parametrize("name", list(main.commands))
def test_every_command_explains_itself(name: str) -> None:
    done = run(name, "--help")
    assert done.exit_code == 0
    assert len(done.output) > 200


def test_search_writes_what_it_says(searched: Path) -> None:
    plain = json.loads((searched / "result.json").read_text())
    assert plain["null"]["toys"] == 40
    assert plain["configuration"]["names"] == ["x", "y"]
    assert plain["z_score"] > 1.5
    page = (searched / "report.html").read_text()
    assert "twice" in page
    assert "unused" in page


def test_the_command_is_the_functions_twin(files: Path, searched: Path) -> None:
    names = ("reference", "data")
    reference, data = (lanner.read_sample(files / f"{n}.parquet", features=["x", "y"]).sample for n in names)
    with pytest.warns(ReachWarning, match="out of reach of the centres at this width"):
        result = lanner.search(reference, data, expected=400, toys=40, seed=3, penalty=1e-5, width=1.0)
    plain = json.loads((searched / "result.json").read_text())
    assert plain["statistic"] == result.statistic
    assert plain["p_value"] == result.p_value
    assert plain["warnings"] == list(result.warnings)


def test_json_goes_to_stdout_and_nothing_else(files: Path, tmp_path: Path) -> None:
    done = run(
        "search", "--reference", files / "reference.parquet", "--data", files / "null.parquet", *COMMON,
        "--json", "--quiet", "--output", tmp_path,
    )  # fmt: skip
    assert done.exit_code == 0
    assert json.loads(done.stdout)["p_value"] > 0.01


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_workers_and_devices_find_the_same(files: Path, searched: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'lanner[dask]'")
    pytest.importorskip("torch", reason="torch is not installed: pip install 'lanner[gpu]'")
    arguments = ("--reference", files / "reference.parquet", "--data", files / "data.parquet", *COMMON, "--json")
    done = run("search", *arguments, "--workers", 1, "--device", "torch", "--output", tmp_path / "out")
    assert done.exit_code == 0, done.output
    there, here = json.loads(done.stdout), json.loads((searched / "result.json").read_text())
    assert there["p_value"] == here["p_value"]
    assert there["statistic"] == pytest.approx(here["statistic"], abs=0.01)
    done = run("search", *arguments, "--workers", 1, "--executor", "local", "--output", tmp_path / "out2")
    assert done.exit_code != 0
    assert "leave out one or the other" in done.output


def test_a_reference_that_is_left_in_its_files_gives_the_same_answer(files: Path, tmp_path: Path) -> None:
    arguments = ("--reference", files / "reference.parquet", "--data", files / "data.parquet", "--features", "x,y")
    arguments += ("--expected", 400, "--toys", 90, "--seed", 3, "--json")  # type: ignore[assignment]
    here, there = (run("search", *arguments, *how, "--output", tmp_path / f"{len(how)}") for how in ((), ("--spread",)))
    assert there.exit_code == 0, there.output
    found, truth = json.loads(there.stdout), json.loads(here.stdout)
    assert found["p_value"] == truth["p_value"]
    assert found["statistic"] == pytest.approx(truth["statistic"], rel=1e-5)
    assert "left in its files" in (tmp_path / "1" / "report.html").read_text()
    again = run("report", tmp_path / "1", "--output", tmp_path / "again.html")
    assert again.exit_code == 0, again.output
    refused = run("search", *arguments, "--spread", "--extra", "unused", "--output", tmp_path / "2")
    assert refused.exit_code != 0
    assert "leave out --extra" in refused.output


def test_report_and_inspect_open_a_finished_search(searched: Path, tmp_path: Path) -> None:
    done = run("report", searched, "--output", tmp_path / "r.html", "--title", "Again")
    assert done.exit_code == 0, done.output
    assert "Again" in (tmp_path / "r.html").read_text()
    done = run("inspect", searched, "--figures", tmp_path / "figures", "--variable", "x", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)
    assert list((tmp_path / "figures").iterdir())


def test_calibrate_then_apply(files: Path, tmp_path: Path) -> None:
    done = run("calibrate", "--reference", files / "reference.parquet", *COMMON, "--output", tmp_path / "c")
    assert done.exit_code == 0, done.output
    done = run(
        "apply",
        tmp_path / "c",
        "--data",
        files / "data.parquet",
        "--json",
        "--extra",
        "s=x+y",
        "--output",
        tmp_path / "a",
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["z_score"] > 1.5
    refused = run("apply", tmp_path / "c", "--data", files / "data.parquet", "--expected", 999)
    assert refused.exit_code == 1
    assert "made for 400" in refused.stderr


def test_tune_writes_a_configuration_that_search_reads(files: Path, tmp_path: Path) -> None:
    done = run(
        "tune", "--reference", files / "reference.parquet", "--features", "x", "--expected", 400, "--output", tmp_path
    )
    assert done.exit_code == 0, done.output
    settings = yaml.safe_load((tmp_path / "config.yaml").read_text())
    assert {"width", "penalty", "centers", "features", "reference", "expected"} <= set(settings)
    done = run(
        "search",
        "--config",
        tmp_path / "config.yaml",
        "--data",
        files / "null.parquet",
        "--toys",
        20,
        "--output",
        tmp_path / "s",
    )
    assert done.exit_code == 0, done.output
    plain = json.loads((tmp_path / "s" / "result.json").read_text())
    assert plain["configuration"]["width"] == settings["width"]


def test_power_prints_a_table(files: Path) -> None:
    done = run(
        "power", "--reference", files / "reference.parquet", "--signal", files / "signal.parquet", *COMMON,
        "--signal-events", "0,20", "--experiments", 20, "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    strengths = json.loads(done.stdout)["strengths"]
    assert strengths[1]["analytic"]["z_16_50_84"][1] > strengths[0]["analytic"]["z_16_50_84"][1] + 1


@pytest.mark.parametrize("suffix", [".parquet", ".h5", ".root", ".csv", ".npz"])
def test_generate_writes_every_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"events{suffix}"
    done = run(
        "generate",
        "one-dimensional",
        "--events",
        50,
        "--signal",
        "bulk",
        "--signal-events",
        5,
        "--seed",
        9,
        "--output",
        path,
    )
    assert done.exit_code == 0, done.output
    truth = one_dimensional.generate(events=50, signal="bulk", signal_events=5, seed=9)["x"]
    np.testing.assert_array_equal(lanner.read_sample(path).sample.features[:, 0], truth)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--data", "x.parquet"), 2, "Missing options: --reference"),
        (("--reference", "nothing.parquet"), 1, "nothing.parquet"),
        (("--features", "x,z"), 1, "'z'"),
        (("--expected", "many"), 2, "expected"),
        (("--where", "__import__('os').system('true')"), 1, "__import__"),
        (("--where", "x > 100"), 1, "selection"),
        (("--width", "-1"), 2, "width"),
        (("--toys", "0"), 2, "toys"),
        (("--memory", "tiny"), 1, "memory"),
        (("--memory", "1 MB", "--features", "x"), 1, "a search needs 64.0 MB"),
        (("--width", "1", "--combination", "product"), 2, "several scales"),
        (("--p-precision", "0.1"), 2, "--until-z"),
        (("--newton-steps", "2", "--features", "x"), 1, "the score statistic needs no fit"),
        (("--threads", "2"), 1, "give --workers or --scheduler too"),
    ],
)
def test_errors_are_one_message_and_a_code(
    files: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    given: list[object] = list(arguments)
    if "Missing" not in message:
        if "--reference" not in arguments:
            given += ["--reference", files / "reference.parquet"]
        given += ["--data", files / "null.parquet", "--output", tmp_path]
        if "--expected" not in arguments:
            given += ["--expected", 400]
    done = run("search", *given)
    assert done.exit_code == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_of_another_configuration_is_refused(searched: Path, files: Path) -> None:
    arguments = ("--reference", files / "reference.parquet", "--data", files / "data.parquet")
    done = run("search", *arguments, *COMMON, "--seed", 4, "--output", searched)
    assert done.exit_code == 1
    assert "another configuration" in done.stderr
    assert (searched / "result.json").exists()


def test_every_format_of_the_same_events_gives_the_same_result(files: Path, tmp_path: Path) -> None:
    numbers = set()
    for suffix in (".parquet", ".h5", ".root", ".csv", ".npz", ".npy"):
        for name in ("reference", "data"):
            sample = lanner.read_sample(files / f"{name}.parquet", features=["x", "y"]).sample
            columns = dict(zip(sample.names, sample.features.T, strict=True))
            if suffix == ".npy":
                records = np.rec.fromarrays(list(columns.values()), names=list(columns))  # type: ignore[call-overload]
                np.save(tmp_path / f"{name}.npy", records)
            else:
                write_columns(tmp_path / f"{name}{suffix}", columns)
        done = run(
            "search", "--reference", tmp_path / f"reference{suffix}", "--data", tmp_path / f"data{suffix}", *COMMON,
            "--json", "--quiet", "--output", tmp_path / f"out{suffix}",
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        plain = json.loads(done.stdout)
        numbers.add((plain["statistic"], plain["p_value"], *plain["null"]["statistics"]))
    assert len(numbers) == 1


def test_a_folder_keeps_the_result_it_has(tmp_path: Path) -> None:
    reference, first, second = (tmp_path / f"{name}.csv" for name in ("r", "a", "b"))
    rng = np.random.default_rng(1)
    for path, n in ((reference, 4000), (first, 200), (second, 200)):
        path.write_text("x\n" + "\n".join(map(str, rng.exponential(size=n))))
    common = ["--reference", str(reference), "--expected", "200", "--toys", "10", "--width", "1", "--penalty", "1e-5"]
    args = ["search", *common, "--output", str(tmp_path / "out"), "--quiet"]
    assert run(*args, "--data", str(first)).exit_code == 0
    before = (tmp_path / "out" / "result.json").read_text()
    refused = run(*args, "--data", str(second))
    assert refused.exit_code == 1
    assert "holds the result of other data" in refused.output
    assert (tmp_path / "out" / "result.json").read_text() == before
    # The data change under a finished search: as many events, but others.
    first.write_text(second.read_text())
    changed = run("inspect", str(tmp_path / "out"))
    assert changed.exit_code == 1
    assert "as many events as the search's, but others" in changed.output
    # Moved, they are found by the option.
    moved = run("inspect", str(tmp_path / "out"), "--data", str(tmp_path / "nowhere.csv"))
    assert "nowhere.csv" in moved.output


@pytest.mark.parametrize("expected", ["nan", "inf", "-5", "0", "many"])
def test_an_expected_number_that_is_none_is_a_wrong_option(expected: str, tmp_path: Path) -> None:
    found = run("search", "--reference", "r", "--data", "d", "--output", str(tmp_path), f"--expected={expected}")
    assert found.exit_code == 2
    assert expected in found.output


def test_angles_and_kept_values_are_flags(files: Path, tmp_path: Path) -> None:
    arguments = ("--reference", files / "reference.parquet", "--data", files / "null.parquet", *COMMON)
    done = run("search", *arguments, "--periodic", "y=20,x", "--missing", "keep", "--output", tmp_path / "out")
    assert done.exit_code == 0, done.output
    found = lanner.load_result(tmp_path / "out").plan
    assert (found.periodic, found.missing, found.units.periodic) == (("y=20", "x"), "keep", ("y", "x"))
    assert yaml.safe_load((tmp_path / "out" / "config.yaml").read_text())["periodic"] == ["y=20", "x"]


def test_an_angle_that_is_no_feature_offers_the_nearest(files: Path, tmp_path: Path) -> None:
    arguments = ("--reference", files / "reference.parquet", "--data", files / "null.parquet", *COMMON)
    done = run("search", *arguments, "--periodic", "yy", "--output", tmp_path)
    assert done.exit_code == 1
    assert "'yy' is not a feature" in done.output


@pytest.mark.parametrize("command", ["search", "calibrate", "power"])
def test_a_dry_run_tells_what_would_be_done_and_writes_nothing(command: str, files: Path, tmp_path: Path) -> None:
    arguments = [command, "--reference", files / "reference.parquet", "--expected", 400, "--features", "x", "--dry-run"]
    if command == "search":
        arguments += ["--data", files / "data.parquet"]
    if command == "power":
        arguments += ["--signal", files / "data.parquet", "--signal-events", "5,10", "--experiments", 50]
    done = run(*arguments, "--output", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("A dry run: nothing was computed")
    assert not (tmp_path / "out").exists()
    told = json.loads(run(*arguments, "--json").stdout)
    assert told["features"] == ["x"]
    assert told["toys"] == {"search": [2300, 202000], "calibrate": [3000, 3000], "power": [1100, 1100]}[command]


@pytest.mark.parametrize(
    "command",
    [
        ("search", "--reference", "r.csv", "--data", "d.csv", "--expected", 5, "--output", ""),
        ("calibrate", "--reference", "r.csv", "--expected", 5, "--output", ""),
        ("tune", "--reference", "r.csv", "--expected", 5, "--output", ""),
        ("example", "--output", ""),
        ("generate", "one-dimensional", "--output", ""),
        ("reproduce", "one-dimensional", "--output", ""),
        ("report", "folder", "--output", ""),
        ("report", "folder", "--data", ""),
        ("inspect", "folder", "--figures", ""),
    ],
)
def test_an_empty_name_is_not_the_current_folder(
    command: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*command)
    assert done.exit_code == 2
    assert "Invalid value for '--" in done.output
    assert list(tmp_path.iterdir()) == []
