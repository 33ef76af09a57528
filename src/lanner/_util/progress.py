"""Progress of long work, as the package tells it: what is being done, how much of it is done, how much there is."""

from __future__ import annotations

import inspect
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

# Whether this is within work that shows its progress, or was told not to: what it calls does not show its own.
_WITHIN: ContextVar[bool] = ContextVar("within shown progress", default=False)
PREPARING = "preparing"  # how the words for what comes before the work itself begin
_SCREEN = threading.Lock()  # of several threads only one can show its progress


@contextmanager
def shown(progress: Callable[..., None] | bool | None = None) -> Iterator[Progress | None]:
    """Show progress while the block runs. Yields the function to tell it to, or None where nobody wants to know.

    None shows it where somebody is watching: at a terminal, in a notebook. True shows it anywhere, as plain lines if
    stderr is neither; False does not. A function is called instead, as `as_progress` does; one that was yielded by an
    outer block is passed on. Within other work that is shown, or silent, nothing is shown a second time.

    A step of one thing (total 1) is shown without a count. Words that end in ", at most" say that the total is a limit.
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise InputError(f"progress={progress!r}: give True, False or a function")
    within = _WITHIN.get()
    _WITHIN.set(True)
    try:
        if callable(progress):
            yield as_progress(progress)
        elif progress is False or (progress is None and within) or not _SCREEN.acquire(blocking=False):
            yield None
        else:
            try:
                with _displayed(always=progress is True) as told:
                    yield told
            finally:
                _SCREEN.release()
    finally:
        _WITHIN.set(within)


@contextmanager
def _displayed(*, always: bool) -> Iterator[Progress | None]:
    """The display that suits where this runs, if there is one."""
    from lanner._util.displays import Timer, unharmed

    steps, display = Steps(time.monotonic), None
    with unharmed():
        display = _display(steps, always=always)
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


def _display(steps: Steps, *, always: bool) -> Display | None:
    from lanner._util.displays import Bars, Lines, Notebook, is_terminal

    if not always and _is_child():
        return None
    if _in_notebook():
        return Notebook(steps)
    stream = sys.stderr
    if is_terminal(stream):
        return Lines(steps, stream) if os.environ.get("TERM") in ("dumb", "unknown") else Bars(steps, stream)
    return Lines(steps, stream) if always and stream is not None else None


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
