from typing import Any

from lanner.report.plots.style import as_label, hep_style, new_axes, visible
from tests.report.showcase import HOSTILE


def test_names_are_drawn_letter_by_letter() -> None:
    names = [*HOSTILE, "$x$", r"\$", "a_b^{c}", "\x00", "漢字", "x" * 500]
    with hep_style():
        ax = new_axes()
        texts: list[Any] = [ax.text(0, 0, as_label(name)) for name in names]
        ax.figure.canvas.draw()
    drawn = [text._preprocess_math(text.get_text()) for text in texts]
    assert [is_math for _, is_math in drawn] == [False] * len(names)
    assert [text for text, _ in drawn[:6]] == names[:6]
    assert drawn[6][0] == "\ufffd"
    assert len(drawn[8][0]) < 60


def test_what_cannot_be_seen_is_replaced() -> None:
    assert visible("a\tb\x07c") == "a b\ufffdc"
