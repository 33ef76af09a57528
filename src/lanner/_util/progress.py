"""Progress of long work, as the package tells it: what is being done, how much of it is done, how much there is."""

from __future__ import annotations

import inspect
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from lanner._util.steps import Steps
from lanner.errors import InputError

if TYPE_CHECKING:
    from lanner._util.displays import Display
    from lanner.typing import Progress

log = logging.getLogger(__name__)

# Whether this is within work that shows its progress, or was told not to: what it calls does not show its own.
_WITHIN: ContextVar[bool] = ContextVar("within shown progress", default=False)
# Who hears of this work; None: nobody, and nobody has said that they want to hear nothing.
_TOLD: ContextVar[Progress | None] = ContextVar("who is told of progress", default=None)
_MOMENT = 1.0  # seconds of waiting that need no explanation
PREPARING = "preparing"  # how the words for what comes before the work itself begin
_SCREEN = threading.Lock()  # of several threads only one can show its progress


@contextmanager
def shown(progress: Callable[..., None] | bool | None = None, *, timed: bool = True) -> Iterator[Progress | None]:
    """Show progress while the block runs. Yields the function to tell it to, or None where nobody wants to know.

    None shows it where somebody is watching: at a terminal, in a notebook. True shows it anywhere, as plain lines if
    stderr is neither; False does not. A function is called instead, as `as_progress` does; one that was yielded by an
    outer block is passed on. Within other work that is shown, or silent, nothing is shown a second time.

    Lines that are not `timed` have no clock in them: one for each kind of step, the same in every run.
    A step of one thing (total 1) is shown without a count. Words that end in ", at most" say that the total is a limit.
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise InputError(f"progress={progress!r}: give True, False or a function")
    within, outer = _WITHIN.get(), _TOLD.get()
    _WITHIN.set(True)
    try:
        if callable(progress):
            _TOLD.set(as_progress(progress))
            yield as_progress(progress)
        elif progress is False or (progress is None and within) or not _SCREEN.acquire(blocking=False):
            if progress is False:
                _TOLD.set(_unheard)
            yield None
        else:
            try:
                with _displayed(always=progress is True, timed=timed) as told:
                    _TOLD.set(told)
                    yield told
            finally:
                _SCREEN.release()
    finally:
        _WITHIN.set(within)
        _TOLD.set(outer)


def _unheard(what: str, done: int, total: int) -> None:
    """Told of progress that nobody wants to hear of."""


def heard() -> Progress | None:
    """Whoever hears of the work that this is a part of."""
    return _TOLD.get()


@contextmanager
def waiting(what: str, *, after: float | None = None) -> Iterator[None]:
    """Say what is waited for, if the block takes longer than so many seconds, or than a moment.

    Whoever hears of the progress of this work is told. Where nobody does, and nobody asked for silence, it is logged.
    """
    wait = _Wait(f"waiting for {what}", _TOLD.get())
    timer = threading.Timer(_MOMENT if after is None else after, wait.say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        wait.end()
        timer.join()  # or a fork could come upon it
    wait.tell_end()


class _Wait:
    """Something that is waited for, and whether that was said."""

    def __init__(self, words: str, told: Progress | None) -> None:
        self._words, self._told = words, told
        self._lock = threading.Lock()
        self._said = self._over = False
        self._failed: BaseException | None = None

    def say(self) -> None:
        """Say it, unless it is over."""
        with self._lock:
            if self._over:
                return
            self._said = True
            if self._told is None:
                log.warning("%s", self._words)
                return
            try:
                self._told(self._words, 0, 1)
            except BaseException as error:  # which is to stop the work, and not only the thread of a timer
                self._failed = error

    def end(self) -> None:
        """Nothing is said after this."""
        with self._lock:
            self._over = True

    def tell_end(self) -> None:
        """Tell those who were told that it is over."""
        if self._failed is not None:
            raise self._failed
        if self._said and self._told is not None:
            self._told(self._words, 1, 1)


@contextmanager
def _displayed(*, always: bool, timed: bool) -> Iterator[Progress | None]:
    """The display that suits where this runs, if there is one."""
    from lanner._util.displays import Timer, unharmed

    steps, display = Steps(time.monotonic), None
    with unharmed():
        display = _display(steps, always=always, timed=timed)
    if display is None:
        yield None
        return

    def tell(what: str, done: int, total: int) -> None:
        first, renamed = steps.tell(what, done, total)
        with unharmed():
            display.told(first, renamed)

    timer, stopped = Timer(display), True
    try:
        timer.start()
        yield tell
        stopped = False
    finally:
        try:
            timer.stop()
        finally:  # a second Ctrl-C may come while the timer stops
            with unharmed():
                display.close(stopped=stopped)


def _display(steps: Steps, *, always: bool, timed: bool) -> Display | None:
    from lanner._util.displays import Bars, Lines, Notebook, UntimedLines, is_terminal

    if not always and _is_child():
        return None
    if _in_notebook():
        return Notebook(steps)
    stream = sys.stderr
    if is_terminal(stream):
        return Lines(steps, stream) if os.environ.get("TERM") in ("dumb", "unknown") else Bars(steps, stream)
    if not always or stream is None:
        return None
    return Lines(steps, stream) if timed else UntimedLines(steps, stream)


def _is_child() -> bool:
    """Whether this process is one of several that somebody else has started and looks after."""
    multiprocessing = sys.modules.get("multiprocessing")
    return multiprocessing is not None and multiprocessing.parent_process() is not None


def _in_notebook() -> bool:
    """Whether a kernel runs this, whose front end shows what is displayed."""
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get_shell is not None and getattr(get_shell(), "kernel", None) is not None


def begin(progress: Progress | None, what: str) -> None:
    """Name a step that is not counted."""
    if progress is not None:
        progress(what, 0, 1)


def as_progress(progress: Callable[..., None] | None) -> Progress | None:
    """A function that a user gave, of (what, done, total) or of (done, total) alone.

    The second kind hears of the work itself: neither of steps that only have a name, nor of what comes before.

    >>> as_progress(lambda done, total: print(done, "of", total))("toys", 1, 2)
    1 of 2
    """
    if progress is None:
        return None
    try:
        inspect.signature(progress).bind("", 0, 0)
    except TypeError:
        two: Callable[..., None] = progress

        def tell(what: str, done: int, total: int) -> None:
            if (total > 1 or done) and not what.startswith(PREPARING):
                two(done, total)

        return tell
    except ValueError:  # a function that hides its parameters
        pass
    return progress


def named(progress: Progress | None, what: str) -> Progress | None:
    """Progress under another name, for work that is a part of other work."""
    return None if progress is None else lambda _, done, total: progress(what, done, total)


def part_of(progress: Progress | None, before: int, whole: int) -> Progress | None:
    """Progress of a part of work of which `before` is done already and `whole` is all there is."""
    return None if progress is None else lambda what, done, _: progress(what, before + done, whole)
