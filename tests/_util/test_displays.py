"""Steps as lines of a log, as bars at a terminal and as text in a notebook."""

from __future__ import annotations

import io
import sys
import threading
import time
from types import ModuleType
from typing import Any

import pytest

from lanner._util.displays import Bars, Lines, Notebook, Timer
from lanner._util.steps import Steps
from tests._util.test_steps import Clock


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


class Log:
    """Lines of a log by a clock that the test sets, with a timer that rings four times a second."""

    def __init__(self) -> None:
        self.clock, self.stream = Clock(), io.StringIO()
        self.steps = Steps(self.clock)
        self.display = Lines(self.steps, self.stream)

    def tell(self, what: str, done: int, total: int) -> None:
        self.display.told(*self.steps.tell(what, done, total))

    def wait(self, seconds: float) -> None:
        for _ in range(round(4 * seconds)):
            self.clock.now += 0.25
            self.display.tick()

    @property
    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()


@pytest.fixture
def log() -> Log:
    return Log()


def test_a_log_has_a_line_soon_though_nothing_was_told(log: Log) -> None:
    log.wait(2)
    assert log.lines == ["[0:01] starting"]


def test_a_log_has_a_line_when_a_step_begins(log: Log) -> None:
    log.tell("reading the data", 0, 1)
    log.wait(0.25)
    log.tell("toys", 0, 100)
    assert log.lines == ["[0:00] reading the data", "[0:00] toys 0 of 100"]


def test_a_log_has_a_line_every_few_seconds_while_nothing_is_told(log: Log) -> None:
    log.tell("toys", 0, 100)
    log.wait(13)
    assert log.lines == [f"[0:{s:02d}] toys 0 of 100" for s in (0, 4, 8, 12)]


def test_a_log_of_steady_work_has_as_many_lines(log: Log) -> None:
    for k in range(140):
        log.tell("toys", k, 140)
        log.wait(0.25)
    assert log.lines[0] == "[0:00] toys 0 of 140"
    assert log.lines[4] == "[0:16] toys 63 of 140, about 0:19 left"
    assert len(log.lines) == 9


def test_new_words_of_a_step_get_a_line_at_most_once_a_second(log: Log) -> None:
    for k in range(12):
        log.tell(f"preparing scale {k + 1} of 12", k, 12)
        log.wait(0.25)
    scales = [line.split(",")[0] for line in log.lines]
    assert scales == [f"[0:0{s}] preparing scale {k} of 12" for s, k in ((0, 1), (1, 4), (2, 8), (3, 12))]


def test_a_log_tells_how_it_ended(log: Log) -> None:
    log.tell("toys", 500, 1000)
    log.display.close(stopped=False)
    assert log.lines[-1] == "[0:00] done"
    log.display.close(stopped=True)
    assert log.lines[-1] == "[0:00] stopped in toys, 500 of 1000"


def test_a_log_of_nothing_stays_empty(log: Log) -> None:
    log.display.close(stopped=True)
    assert log.lines == []


def test_a_bar_has_words_count_and_times() -> None:
    clock, screen = Clock(), Terminal()
    steps = Steps(clock)
    bars = Bars(steps, screen)
    assert "starting" in screen.getvalue()
    steps.tell("toys", 0, 5000)
    clock.now += 12
    steps.tell("toys", 1200, 5000)
    bars.tick()
    last = screen.getvalue().split("toys")[-1]
    assert "starting" not in last
    for text in ("1200 of 5000", "0:12", "about 0:38 left"):
        assert text in last
    clock.now += 2
    bars.tick()  # time passes though nothing is told
    assert "0:14" in screen.getvalue().split("toys")[-1]
    bars.close(stopped=False)


def test_bars_show_what_was_done_before_and_that_there_is_more_to_come() -> None:
    clock, screen = Clock(), Terminal()
    steps = Steps(clock)
    bars = Bars(steps, screen)
    steps.tell("reading the data", 0, 1)
    clock.now += 2
    steps.tell("toys", 100, 100)
    clock.now += 3
    bars.tick()
    last = screen.getvalue().rsplit("reading the data", 1)[-1]
    assert "toys" in last
    assert "done" in last
    assert "working on what follows" in last
    bars.close(stopped=False)


def test_bars_leave_the_terminal_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    Bars(Steps(time.monotonic), screen).close(stopped=True)
    hidden, shown = "\x1b[?25l", "\x1b[?25h"
    assert screen.getvalue().rindex(shown) > screen.getvalue().rindex(hidden)
    assert screen.getvalue().endswith("\x1b[2K")  # the line is erased
    assert sys.stderr is screen


def test_what_is_printed_to_a_file_stays_there_while_bars_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    file, screen = io.StringIO(), Terminal()
    monkeypatch.setattr(sys, "stdout", file)
    bars = Bars(Steps(time.monotonic), screen)
    sys.stdout.write("a result\n")
    bars.close(stopped=False)
    assert file.getvalue() == "a result\n"
    assert "a result" not in screen.getvalue()


class Handle:
    """What IPython gives for a display that can be changed."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []

    def update(self, bundle: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown.append(bundle)


def test_a_notebook_has_one_text_that_changes_and_vanishes(monkeypatch: pytest.MonkeyPatch) -> None:
    handle, module = Handle(), ModuleType("IPython.display")

    def display(bundle: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert display_id
        handle.update(bundle, raw=raw)
        return handle

    module.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    clock = Clock()
    steps = Steps(clock)
    notebook = Notebook(steps)
    steps.tell("toys & <experiments>", 0, 10)
    clock.now += 3
    steps.tell("toys & <experiments>", 5, 10)
    notebook.tick()
    notebook.tick()  # nothing new
    notebook.close(stopped=False)
    assert [bundle["text/plain"] for bundle in handle.shown] == [
        "starting, 0:00",
        "toys & <experiments>, 5 of 10, 0:03, about 0:03 left",
        "",
    ]
    assert handle.shown[1]["text/html"] == "<pre>toys &amp; &lt;experiments&gt;, 5 of 10, 0:03, about 0:03 left</pre>"


class Broken:
    """A display that cannot show anything."""

    def __init__(self) -> None:
        self.ticked = threading.Event()
        self.ticks = 0

    def told(self, first: bool, renamed: bool) -> None:
        raise OSError("no space left on device")

    def tick(self) -> None:
        self.ticks += 1
        if self.ticks > 1:
            self.ticked.set()
        raise OSError("no space left on device")

    def close(self, *, stopped: bool) -> None:
        raise OSError("no space left on device")


def test_errors_of_a_display_stay_in_the_timer() -> None:
    # What gets out of a thread is a warning, and so an error in these tests.
    broken = Broken()
    timer = Timer(broken, period=0.001)
    timer.start()
    assert broken.ticked.wait(10)
    timer.stop()
    ticks = broken.ticks
    time.sleep(0.02)
    assert broken.ticks == ticks
