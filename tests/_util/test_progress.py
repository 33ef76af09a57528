from __future__ import annotations

import io
import logging
import multiprocessing
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from lanner._util import displays
from lanner._util.progress import as_progress, begin, heard, named, part_of, shown, waiting
from lanner.errors import InputError
from tests._util.test_displays import Broken, Handle, Terminal


@pytest.fixture
def seen() -> list[tuple]:
    return []


def test_no_progress_stays_none() -> None:
    assert as_progress(None) is named(None, "toys") is part_of(None, 1, 2) is None


def test_a_function_of_three_is_told_what_is_being_done(seen: list) -> None:
    as_progress(lambda what, done, total: seen.append((what, done, total)))("toys", 1, 2)
    assert seen == [("toys", 1, 2)]


def test_a_function_of_two_is_told_the_numbers(seen: list) -> None:
    as_progress(lambda done, total: seen.append((done, total)))("toys", 1, 2)
    assert seen == [(1, 2)]


def test_a_function_of_two_is_not_told_of_steps_that_only_have_a_name(seen: list) -> None:
    told = as_progress(lambda done, total: seen.append((done, total)))
    begin(told, "planning")
    told("toys", 1, 1)
    assert seen == [(1, 1)]


def test_a_function_of_any_number_is_told_everything(seen: list) -> None:
    as_progress(lambda *said: seen.append(said))("toys", 1, 2)
    assert seen == [("toys", 1, 2)]


def test_a_function_that_hides_its_parameters_is_told_everything(seen: list) -> None:
    class Hidden:
        @property
        def __signature__(self) -> None:
            raise ValueError("no signature found")

        def __call__(self, *said: object) -> None:
            seen.append(said)

    as_progress(Hidden())("toys", 1, 2)
    assert seen == [("toys", 1, 2)]


def test_an_error_within_it_is_not_taken_for_another_number_of_parameters() -> None:
    def broken(done: int, total: int) -> None:
        raise TypeError("of its own")

    with pytest.raises(TypeError, match="of its own"):
        as_progress(broken)("toys", 1, 2)


def test_work_within_other_work_goes_by_the_name_of_that(seen: list) -> None:
    named(lambda *said: seen.append(said), "trial fits")("toys", 1, 2)
    assert seen == [("trial fits", 1, 2)]


def test_a_part_is_counted_with_what_is_done_already(seen: list) -> None:
    part_of(lambda *said: seen.append(said), 100, 300)("toys", 5, 50)
    assert seen == [("toys", 105, 300)]


def to_file(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What is written to stderr, which is a file. (A fixture comes too early: pytest has a stderr of its own.)"""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def to_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """What is written to stderr, which is a terminal."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "lanner-progress"]


def test_a_step_that_is_not_counted_is_named(seen: list) -> None:
    begin(lambda *said: seen.append(said), "reading the data")
    begin(None, "reading the data")
    assert seen == [("reading the data", 0, 1)]


def test_nothing_is_shown_where_nobody_is_watching(monkeypatch: pytest.MonkeyPatch) -> None:
    log = to_file(monkeypatch)
    with shown() as told:
        assert told is None
    assert log.getvalue() == ""


def test_progress_is_shown_as_lines_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    log = to_file(monkeypatch)
    with shown(True) as told:
        told("toys", 5, 10)
    assert log.getvalue() == "[0:00] toys 5 of 10\n[0:00] done\n"


def test_progress_is_shown_as_bars_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = to_terminal(monkeypatch)
    with shown() as told:
        assert "starting" in screen.getvalue()
        assert threads()
        told("toys", 5, 10)
        end = time.monotonic() + 10
        while "5 of 10" not in screen.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert "5 of 10" in screen.getvalue()
    assert sys.stderr is screen
    assert not threads()


def test_a_terminal_that_cannot_move_its_cursor_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = to_terminal(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    with shown() as told:
        told("toys", 5, 10)
    assert screen.getvalue() == "[0:00] toys 5 of 10\n[0:00] done\n"


def test_progress_is_shown_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    log = to_file(monkeypatch)
    handle, ipython, display = Handle(), ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    display.display = lambda *_, **__: handle  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    with shown() as told:
        assert told is not None
    assert handle.shown[-1]["text/plain"] == ""
    assert log.getvalue() == ""


def test_one_of_several_processes_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    to_terminal(monkeypatch)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())
    with shown() as told:
        assert told is None


def test_silence_is_for_all_that_is_within(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = to_terminal(monkeypatch)
    with shown(False) as told, shown() as inner:
        assert told is inner is None
    assert screen.getvalue() == ""


def test_a_function_is_called_instead(monkeypatch: pytest.MonkeyPatch, seen: list) -> None:
    screen = to_terminal(monkeypatch)
    with shown(lambda done, total: seen.append((done, total))) as told:
        told("toys", 1, 2)
        with shown() as inner:
            assert inner is None
    assert seen == [(1, 2)]
    assert screen.getvalue() == ""


def test_work_within_shown_work_is_not_shown_a_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    log = to_file(monkeypatch)
    with shown(True) as told:
        with shown(told) as passed_on:
            passed_on("toys", 5, 10)
        for progress in (None, True):
            with shown(progress) as inner:
                assert inner is None
    assert log.getvalue() == "[0:00] toys 5 of 10\n[0:00] done\n"


def test_the_next_work_is_shown_again(monkeypatch: pytest.MonkeyPatch) -> None:
    log = to_file(monkeypatch)
    for _ in range(2):
        with shown(True) as told:
            told("toys", 5, 10)
    assert log.getvalue().count("toys 5 of 10") == 2


def test_anything_else_is_refused() -> None:
    with pytest.raises(InputError, match="give True, False or a function"), shown("yes"):  # type: ignore[arg-type]
        pass


def work_that_fails(error: type[BaseException]) -> None:
    with shown(True) as told:
        told("toys", 5, 10)
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_ends_the_log_and_goes_on(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    log = to_file(monkeypatch)
    with pytest.raises(error):
        work_that_fails(error)
    assert log.getvalue().endswith("[0:00] stopped in toys, 5 of 10\n")
    assert not threads()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_ends_the_bars_and_goes_on(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    screen = to_terminal(monkeypatch)
    with pytest.raises(error):
        work_that_fails(error)
    assert screen.getvalue().rindex("\x1b[?25h") > screen.getvalue().rindex("\x1b[?25l")  # the cursor is back
    assert sys.stderr is screen
    assert not threads()


def test_work_goes_on_where_its_progress_cannot_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(displays, "Lines", lambda *_: Broken())
    with shown(True) as told:
        told("toys", 5, 10)

    def refused(*_: Any) -> None:
        raise ImportError("no such thing")

    monkeypatch.setattr(displays, "Lines", refused)
    with shown(True) as told:
        assert told is None


def test_a_log_on_a_stream_that_was_closed_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    log = to_file(monkeypatch)
    with shown(True) as told:
        log.close()
        told("toys", 5, 10)


def test_any_thread_may_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    log = to_file(monkeypatch)
    with shown(True) as told, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: told("toys", k, 2000), range(2001)))
    lines = log.getvalue().splitlines()
    assert all(line.startswith("[0:0") for line in lines)
    assert lines[-1].endswith("done")


def test_a_line_comes_though_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    log = to_file(monkeypatch)
    with shown(True):
        end = time.monotonic() + 2
        while not log.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert log.getvalue().startswith("[0:01] starting\n")


def until(seen: list) -> None:
    """Wait until something was said: a busy machine may take longer than was asked for."""
    end = time.monotonic() + 30
    while not seen and time.monotonic() < end:
        time.sleep(0.01)


def test_what_is_waited_for_is_said_to_whoever_hears_of_the_work(seen: list) -> None:
    with shown(lambda *said: seen.append(said)), waiting("another run", after=0.01):
        until(seen)
        assert seen == [("waiting for another run", 0, 1)]
    assert seen[1:] == [("waiting for another run", 1, 1)]


def test_what_is_waited_for_is_a_line_of_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    log = to_file(monkeypatch)
    with shown(True) as told:
        told("toys", 5, 10)
        with waiting("another run", after=0.01):
            end = time.monotonic() + 30
            while "waiting" not in log.getvalue() and time.monotonic() < end:
                time.sleep(0.01)
        told("toys", 10, 10)
    assert [line.split("] ")[1] for line in log.getvalue().splitlines()[:2]] == [
        "toys 5 of 10",
        "waiting for another run",
    ]


def test_a_moment_needs_no_words(seen: list) -> None:
    with shown(lambda *said: seen.append(said)), waiting("another run", after=100):
        pass
    assert seen == []
    assert threading.active_count() == 1 or all(not isinstance(t, threading.Timer) for t in threading.enumerate())


def test_where_nobody_hears_it_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with waiting("another run", after=0.01):
        until(caplog.records)
    assert caplog.messages == ["waiting for another run"]
    assert caplog.records[0].levelno == logging.WARNING


def test_silence_is_kept_while_waiting(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    log = to_file(monkeypatch)
    with shown(False), waiting("another run", after=0.01):
        time.sleep(0.2)
    assert caplog.messages == []
    assert log.getvalue() == ""


def test_a_function_that_fails_while_waiting_stops_the_work() -> None:
    called = []

    def fails(*said: object) -> None:
        called.append(said)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), shown(fails), waiting("another run", after=0.01):
        until(called)


def test_work_knows_who_hears_of_it() -> None:
    def hears(what: str, done: int, total: int) -> None: ...

    assert heard() is None
    with shown(hears):
        assert heard() is hears
        with shown(False):
            assert heard() not in (None, hears)
        with shown(None):
            assert heard() is hears
    assert heard() is None
