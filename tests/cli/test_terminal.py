"""What a person at a terminal sees."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lanner.events.io.write import write_columns
from lanner.paper.datasets import one_dimensional

pty = pytest.importorskip("pty", reason="there are no terminals to open here")

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"  # the cursor


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A search of a few seconds."""
    folder = tmp_path_factory.mktemp("files")
    words = [sys.executable, "-m", "lanner", "search", "--expected", "500", "--width", "0.3", "--penalty", "1e-6"]
    for name, events, seed in (("reference", 10_000, 1), ("data", 500, 2)):
        write_columns(folder / f"{name}.parquet", one_dimensional.generate(events=events, seed=seed))
        words += [f"--{name}", str(folder / f"{name}.parquet")]
    return words


class Screen:
    """A terminal with a command whose stderr it is, and what it has shown so far."""

    def __init__(self, command: list[str]) -> None:
        self.text, self._seen = "", threading.Condition()
        self._end, end = pty.openpty()
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=end, text=True, env=environment, start_new_session=True
        )
        os.close(end)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                read = os.read(self._end, 65536)
            except OSError:  # as Linux says that the other end is closed
                read = b""
            with self._seen:
                self.text += read.decode(errors="replace")
                self._seen.notify_all()
            if not read:
                os.close(self._end)
                return

    def wait_for(self, text: str) -> None:
        with self._seen:
            assert self._seen.wait_for(lambda: text in self.text, timeout=60), self.text

    def wait(self) -> str:
        """What it wrote to stdout."""
        try:
            out, _ = self.process.communicate(timeout=120)
        finally:
            self.process.kill()  # if it has not ended, it would take processor time from all tests that follow
            self._reader.join()
        return out


def test_bars_are_shown_from_the_start_and_vanish(command: list[str], tmp_path: Path) -> None:
    screen = Screen([*command, "--toys", "300", "--output", str(tmp_path)])
    out = screen.wait()
    assert screen.process.returncode == 0, screen.text
    words = ["starting", "reading", "preparing", "toys", "of 300", "writing the report"]
    places = [screen.text.find(text) for text in words]
    assert -1 not in places, dict(zip(words, places, strict=True))
    assert screen.text.index("starting") == len(HIDE)
    assert screen.text.rindex(SHOW) > screen.text.rindex("writing the report")
    assert "\x1b" not in out
    assert "report:" in out


def test_ctrl_c_gives_the_terminal_back(command: list[str], tmp_path: Path) -> None:
    screen = Screen([*command, "--toys", "1000000", "--output", str(tmp_path)])
    screen.wait_for("of 1000000")
    os.killpg(screen.process.pid, signal.SIGINT)
    assert screen.wait() == ""
    assert screen.process.returncode == 130
    after = screen.text[screen.text.rindex(SHOW) :]
    assert "Interrupted. What was finished is kept" in after
    assert "toys" not in after


def test_quiet_shows_nothing(command: list[str], tmp_path: Path) -> None:
    screen = Screen([*command, "--toys", "100", "--quiet", "--output", str(tmp_path)])
    assert "report:" in screen.wait()
    assert screen.text == ""
