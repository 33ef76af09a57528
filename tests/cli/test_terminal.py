"""What a person at a terminal sees."""

import io
import sys

import pytest

from lanner.cli.terminal import progress_bars


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


def test_work_is_shown_before_its_amount_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bars(quiet=False) as tell:
        assert tell is not None
        assert "preparing" in screen.getvalue()
        tell("toys", 3, 10)
    shown = screen.getvalue()
    assert "toys" in shown
    assert "3/10" in shown
    assert "preparing" not in shown[shown.rindex("toys") :]


def test_there_is_no_bar_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_bars(quiet=False) as tell:
        assert tell is None
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_bars(quiet=True) as tell:
        assert tell is None
