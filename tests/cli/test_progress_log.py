"""Nobody who reads the log of a search waits for a word."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from lanner.events.io.write import write_columns
from lanner.paper.datasets import one_dimensional

LINE = re.compile(r"\[(\d+):(\d\d)\] (.+)")
TOYS = re.compile(r"toys (\d+) of (\d+), about (\d+):(\d\d) left")


@dataclass(frozen=True)
class Logged:
    """A search whose stderr went to a file."""

    seconds: float
    stdout: str
    text: str

    @property
    def lines(self) -> list[tuple[int, str]]:
        """Seconds since the start, and what was said then."""
        found = [LINE.fullmatch(line) for line in self.text.splitlines()]
        assert None not in found, self.text
        return [(60 * int(m[1]) + int(m[2]), m[3]) for m in found]


def logged(folder: Path, *options: str) -> Logged:
    command = [sys.executable, "-m", "lanner", "search", "--expected", "1000", "--width", "0.3", "--penalty", "1e-6"]
    for name, events, seed in (("reference", 20_000, 1), ("data", 1000, 2)):
        path = folder / f"{name}.parquet"
        if not path.exists():
            write_columns(path, one_dimensional.generate(events=events, seed=seed))
        command += [f"--{name}", str(path)]
    log = folder / "log.txt"
    start = time.monotonic()
    with log.open("w") as stderr:
        done = subprocess.run([*command, *options], stdout=subprocess.PIPE, stderr=stderr, text=True, timeout=300)
    assert done.returncode == 0, log.read_text()
    return Logged(time.monotonic() - start, done.stdout, log.read_text())


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Logged:
    folder = tmp_path_factory.mktemp("search")
    return logged(folder, "--toys", "1000", "--output", str(folder / "out"))


def test_every_line_has_the_time_since_the_start(search: Logged) -> None:
    times = [seconds for seconds, _ in search.lines]
    assert times == sorted(times)
    assert times[-1] <= search.seconds < times[-1] + 5


def test_the_first_line_comes_at_once_and_the_next_ones_every_few_seconds(search: Logged) -> None:
    times = [seconds for seconds, _ in search.lines]
    assert times[0] <= 1
    assert max(after - before for before, after in pairwise(times)) <= 5


def test_lines_are_few(search: Logged) -> None:
    steps = {text.split()[0] for _, text in search.lines}
    assert len(search.lines) <= search.seconds + len(steps)


def test_steps_are_named_in_their_order(search: Logged) -> None:
    words = list(dict.fromkeys(text.split()[0] for _, text in search.lines))
    named = ["reading", "preparing", "toys", "writing", "done"]
    assert [word for word in words if word in named] == named


def test_the_time_left_is_right_after_a_third(search: Logged) -> None:
    end = next(seconds for seconds, text in search.lines if text.startswith("writing"))
    told = [(seconds, TOYS.match(text)) for seconds, text in search.lines]
    later = [(s, 60 * int(m[3]) + int(m[4])) for s, m in told if m is not None and int(m[1]) > int(m[2]) / 3]
    for seconds, left in later:
        # Two seconds for the rounding, and for what is done between the last toy and the report.
        assert (end - seconds) / 2 - 2 <= left <= 2 * (end - seconds) + 2


def test_stdout_is_the_result_alone(search: Logged) -> None:
    assert "[0:" not in search.stdout
    assert search.stdout.startswith("The data")


def test_quiet_leaves_the_log_empty(tmp_path: Path) -> None:
    assert logged(tmp_path, "--toys", "100", "--quiet", "--output", str(tmp_path / "out")).text == ""
