"""The program as the terminal sees it: how it starts, and how a Ctrl-C ends it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from lanner.events.io.write import write_columns
from lanner.paper.datasets import one_dimensional


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for name, events, seed in (("reference", 20_000, 1), ("data", 1000, 2)):
        write_columns(folder / f"{name}.parquet", one_dimensional.generate(events=events, seed=seed))
    return folder


def started(files: Path, output: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lanner", "search", "--expected", "1000", "--output", str(output), *options]
    for name in ("reference", "data"):
        command += [f"--{name}", str(files / f"{name}.parquet")]
    # A group of its own, as a terminal gives to each command: Ctrl-C goes to all of it.
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def interrupted(process: subprocess.Popen[str]) -> str:
    os.killpg(process.pid, signal.SIGINT)
    try:
        _, said = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # it would take processor time from all tests that follow
        raise
    # 130 to a shell: as a code of ours, or because Python, interrupted within some imports, ends itself by the signal.
    assert process.returncode in (130, -signal.SIGINT), said
    assert "Traceback" not in said
    assert "Interrupted" in said
    return said


@pytest.mark.parametrize("executor", [(), ("--workers", "2")], ids=["local", "dask"])
def test_ctrl_c_in_the_middle_ends_it_with_one_line(files: Path, tmp_path: Path, executor: tuple[str, ...]) -> None:
    if executor:
        pytest.importorskip("distributed", reason="Dask is not installed: pip install 'lanner[dask]'")
    fits = ("--statistic", "likelihood-ratio", "--width", "0.3", "--penalty", "1e-6", "--toys", "100000")
    process = started(files, tmp_path / "out", *fits, *executor)
    end = time.monotonic() + 60
    while not list((tmp_path / "out" / "toys").glob("batch-*.npz")) and time.monotonic() < end:
        time.sleep(0.05)
    assert "run the same command to go on" in interrupted(process)
    assert list((tmp_path / "out" / "toys").glob("batch-*.npz"))


@pytest.mark.skipif(not hasattr(psutil.Process, "memory_maps"), reason="what a process has loaded cannot be seen here")
@pytest.mark.parametrize("seconds", [0.0, 1.0, 2.5])
def test_ctrl_c_while_it_starts(files: Path, tmp_path: Path, seconds: float) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'lanner[dask]'")
    process = started(files, tmp_path / "out", "--toys", "10000000", "--workers", "2")
    # From where the command line itself is imported on: before that nobody could hear a signal.
    while not any("numpy" in loaded.path for loaded in psutil.Process(process.pid).memory_maps()):
        time.sleep(0.01)
    time.sleep(seconds)
    said = interrupted(process)
    *steps, last = said.strip().splitlines()
    assert last.startswith("Interrupted.")
    assert all(
        line.startswith(("[0:", "1 feature")) for line in steps
    )  # where it was, and no trace of how Python got there


def test_the_command_line_imports_nothing_heavy() -> None:
    heavy = ("numpy", "scipy", "pandas", "pyarrow", "matplotlib", "torch", "distributed")
    code = f"import lanner.cli, sys; print([m for m in {heavy!r} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_reading_parquet_leaves_pandas_alone(files: Path) -> None:
    # Its import, which pyarrow would start, swallows a Ctrl-C.
    path = str(files / "data.parquet")
    code = f"import lanner, sys; lanner.read_sample({path!r}); print('pandas' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
