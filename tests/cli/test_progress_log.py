"""Nobody who reads the log of a search waits for a word."""

from __future__ import annotations

import io
import random
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import lanner
from lanner._util import displays, progress
from lanner._util.steps import Steps
from lanner.events.io.write import write_columns
from lanner.paper.datasets import one_dimensional

LINE = re.compile(r"\[((?:\d+:)?\d+:\d\d)\] (.+)")
FEATURES = re.compile(r"\d+ features?: ")
TOYS = re.compile(r"toys (\d+) of (\d+), about ((?:\d+:)?\d+:\d\d) left")


def seconds_of(clock: str) -> int:
    return sum(60**k * int(part) for k, part in enumerate(reversed(clock.split(":"))))


def lines_of(text: str) -> list[tuple[int, str]]:
    """Seconds since the start, and what was said then. Without a time stand the features alone."""
    found = [LINE.fullmatch(line) for line in text.splitlines() if not FEATURES.match(line)]
    assert None not in found, text
    return [(seconds_of(m[1]), m[2]) for m in found]


@dataclass(frozen=True)
class Logged:
    """A search whose stderr went to a file."""

    seconds: float
    stdout: str
    text: str

    @property
    def lines(self) -> list[tuple[int, str]]:
        """Seconds since the start, and what was said then."""
        return lines_of(self.text)


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


def test_stdout_is_the_result_alone(search: Logged) -> None:
    assert "[0:" not in search.stdout
    assert search.stdout.startswith("The data")


def test_quiet_leaves_the_log_empty(tmp_path: Path) -> None:
    assert logged(tmp_path, "--toys", "100", "--quiet", "--output", str(tmp_path / "out")).text == ""


class SlowMachine:
    """A machine on which toys take seconds, some more and some less, by a clock of its own.

    The search is real, and so is when it tells how much is done. How long that took is decided here, so that the test
    says the same on a busy machine as on an idle one.
    """

    def __init__(self, seconds_per_toy: float) -> None:
        self.now, self._seconds = 1000.0, seconds_per_toy
        self._moods, self._toys = random.Random(1), 0
        self._display: Any = None
        self.work_ended = 0.0

    def timer(self, display: Any) -> SimpleNamespace:
        """In place of the timer that looks every quarter of a second."""
        self._display = display
        return SimpleNamespace(start=lambda: None, stop=lambda: None)

    def tell(self, steps: Steps, what: str, done: int, total: int) -> tuple[bool, bool]:
        """In place of `Steps.tell`: time goes by, and then it is told."""
        toys = max(done - self._toys, 0) if what == "toys" else 0
        end = self.now + (toys * self._seconds * self._moods.uniform(0.5, 1.5) if toys else 0.01)
        while self.now < end:
            self.now = min(self.now + 0.25, end)
            self._display.tick()
        if toys:
            self._toys, self.work_ended = done, self.now
        return really_tell(steps, what, done, total)


really_tell = Steps.tell


@pytest.mark.parametrize(("statistic", "toys"), [("likelihood-ratio", 3000), ("score", 30_000)])
def test_the_log_of_a_long_search(statistic: str, toys: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line at least every five seconds with the time since the start; the time left is right after a third."""
    machine, log = SlowMachine(seconds_per_toy=3000 / toys), io.StringIO()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: machine.now))
    monkeypatch.setattr(displays, "Timer", machine.timer)
    monkeypatch.setattr(Steps, "tell", lambda steps, *told: machine.tell(steps, *told))
    monkeypatch.setattr(sys, "stderr", log)
    rng = np.random.default_rng(1)
    lanner.search(
        rng.exponential(size=(3000, 1)), rng.exponential(size=(100, 1)), expected=100, toys=toys, width=0.5,
        penalty=1e-5, centers=30, statistic=statistic, seed=1, memory="1 GB", progress=True,
    )  # fmt: skip
    lines, end = lines_of(log.getvalue()), machine.work_ended - 1000
    assert end > 1000
    times = [seconds for seconds, _ in lines]
    assert max(after - before for before, after in pairwise(times)) <= 5
    assert times[-1] >= end - 1
    told = [(seconds, TOYS.fullmatch(text)) for seconds, text in lines]
    # Until only a batch or two are left, each of which takes half as long again or half as long as others.
    later = [(s, seconds_of(m[3])) for s, m in told if m is not None and end / 3 <= s < 0.9 * end]
    assert len(later) > 100
    factors = [left / (end - seconds) for seconds, left in later]
    assert min(factors) > 0.5
    assert max(factors) < 2
