"""Where steps are shown: bars at a terminal, a text in a notebook, lines in a log. A timer keeps all of them moving."""

from __future__ import annotations

import html
import importlib
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from lanner._util.steps import Step, Steps, minutes

if TYPE_CHECKING:
    from rich.table import Table

log = logging.getLogger(__name__)

_TICK = 0.25  # seconds between looks of the timer
_FIRST = 1.0  # seconds after which a log has a line even if nothing was told
_SOON = 1.0  # seconds between lines of a log where the words change
_LATEST = 4.0  # seconds between lines of a log where nothing changes
_ROWS = 6  # steps that are shown together, the last ones


@contextmanager
def unharmed() -> Iterator[None]:
    """Work goes on where its progress cannot be shown: a disk that is full, a terminal that is gone."""
    try:
        yield
    except Exception:
        log.debug("progress could not be shown", exc_info=True)


class Display(Protocol):
    """Somewhere to show steps."""

    def told(self, first: bool, renamed: bool) -> None:
        """Something was told: of a step that is the first of its kind, or whose words are new, or of one as before."""

    def tick(self) -> None:
        """Time has passed."""

    def close(self, *, stopped: bool) -> None:
        """The work is over, or was stopped before its end."""


class Lines:
    """Plain lines for a log: one for each new step, and one every few seconds, each with the time since the start."""

    def __init__(self, steps: Steps, stream: TextIO) -> None:
        self._steps, self._stream = steps, stream
        self._last: float | None = None  # when the last line was written
        self._renamed = False  # whether words have changed since

    def told(self, first: bool, renamed: bool) -> None:
        with self._steps.lock:
            self._renamed |= renamed
            self._write() if first else self.tick()

    def tick(self) -> None:
        with self._steps.lock:
            now = self._steps.clock()
            if self._last is None:
                due = self._renamed or now - self._steps.start >= _FIRST
            else:
                due = now - self._last >= (_SOON if self._renamed else _LATEST)
            if due:
                self._write()

    def close(self, *, stopped: bool) -> None:
        with self._steps.lock:
            if self._last is None:  # it was over before there was anything to say
                return
            step = self._steps.current
            at = "" if step is None else f" in {step.words}" + (f", {step.count()}" if step.count() else "")
            self._write(f"stopped{at}" if stopped else "done")

    def _write(self, text: str | None = None) -> None:
        now = self._steps.clock()
        self._last, self._renamed = now, False
        self._stream.write(f"[{minutes(now - self._steps.start)}] {text or self._steps.line(now)}\n")
        self._stream.flush()


class UntimedLines:
    """Plain lines that are the same in every run: one for each kind of step, when it begins."""

    def __init__(self, steps: Steps, stream: TextIO) -> None:
        self._steps, self._stream = steps, stream

    def told(self, first: bool, renamed: bool) -> None:
        with self._steps.lock:
            step = self._steps.current
            if first and step is not None and not step.words.startswith("waiting for"):
                self._stream.write(f"{step.words}\n")
                self._stream.flush()

    def tick(self) -> None:
        pass

    def close(self, *, stopped: bool) -> None:
        self._stream.write("stopped\n" if stopped else "done\n")
        self._stream.flush()


class Bars:
    """Bars at a terminal, one for each step, which vanish at the end."""

    def __init__(self, steps: Steps, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        self._steps = steps
        self._live = Live(
            console=Console(file=stream, force_terminal=True, force_interactive=True, force_jupyter=False),
            get_renderable=self._table,
            auto_refresh=False,  # by our timer, whose errors are kept from the screen
            transient=True,
            # What is printed meanwhile goes above the bars; where it is written to a file, it stays there.
            redirect_stdout=is_terminal(sys.stdout),
        )
        try:
            self._live.start(refresh=True)
        except BaseException:  # a Ctrl-C
            self._live.stop()
            raise

    def told(self, first: bool, renamed: bool) -> None:
        pass  # the timer comes often enough

    def tick(self) -> None:
        self._live.refresh()

    def close(self, *, stopped: bool) -> None:
        self._live.stop()

    def _table(self) -> Table:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True, overflow="ellipsis")
        for _ in range(4):
            table.add_column(no_wrap=True)
        for words, step, seconds, left in _rows(self._steps):
            bar = ProgressBar(total=None, pulse=True, width=20)
            if step is not None and step.is_counted:
                bar = ProgressBar(total=step.total, completed=step.done, width=20)
            elif step is not None and step.ended is not None:
                bar = ProgressBar(total=1, completed=1, width=20)
            count = "" if step is None else step.count()
            table.add_row(Text(words), bar, Text(count), Text(minutes(seconds)), Text(left))
        return table


class Notebook:
    """A text below the cell of a notebook, which vanishes at the end."""

    def __init__(self, steps: Steps) -> None:
        self._steps, self._text = steps, ""
        # Rich would need ipywidgets here.
        display = importlib.import_module("IPython.display").display
        self._handle: Any = display(self._bundle(), raw=True, display_id=True)

    def told(self, first: bool, renamed: bool) -> None:
        pass

    def tick(self) -> None:
        before, bundle = self._text, self._bundle()
        if self._text != before:
            self._handle.update(bundle, raw=True)

    def close(self, *, stopped: bool) -> None:
        self._handle.update({"text/plain": "", "text/html": ""}, raw=True)

    def _bundle(self) -> dict[str, str]:
        lines = []
        for words, step, seconds, left in _rows(self._steps):
            parts = (words, "" if step is None else step.count(), minutes(seconds), left)
            lines.append(", ".join(part for part in parts if part))
        self._text = "\n".join(lines)
        return {"text/plain": self._text, "text/html": f"<pre>{html.escape(self._text)}</pre>"}


class Timer:
    """Calls a display again and again from a thread of its own, which no error of the display gets out of."""

    def __init__(self, display: Display, period: float = _TICK) -> None:
        self._display, self._period = display, period
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lanner-progress", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(self._period):
            with unharmed():
                self._display.tick()

    def stop(self) -> None:
        """No call comes after this."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)  # a terminal that was halted by Ctrl-S may keep it


def _rows(steps: Steps) -> list[tuple[str, Step | None, float, str]]:
    """The last steps: words, the step itself, its seconds and the time left; or that there is none yet."""
    with steps.lock:
        now = steps.clock()
        rows: list[tuple[str, Step | None, float, str]] = []
        rows += [(step.words, step, step.seconds(now), step.left(now)) for step in list(steps)[-_ROWS:]]
        if steps.current is None:
            rows = [("starting", None, now - steps.start, "")]
        elif steps.is_between(now):
            rows.append(("working on what follows", None, now - steps.last_told, ""))
        return rows


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream ends at a terminal."""
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):  # closed, or only half a stream
        return False
