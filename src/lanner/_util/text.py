"""Texts for people: results as rows or tables, and the words that messages share, such as counts and lists of names."""

from __future__ import annotations

import difflib
import html
import math
from collections.abc import Iterable, Sequence

Rows = list[tuple[str, str]]
LISTED = 8  # names in one message; the rest is counted
_LONGEST = 160  # characters of a value in a message


def as_text(heading: str, rows: Rows) -> str:
    """Return the heading, then one aligned line per row.

    >>> print(as_text("Fit", [("t", "4.2"), ("rank", "15")]))
    Fit
      t     4.2
      rank  15
    """
    width = max(len(name) for name, _ in rows)
    return "\n".join([heading, *(f"  {name:<{width}}  {value}" for name, value in rows)])


def as_html(heading: str, rows: Rows) -> str:
    """Return the heading and the rows as an HTML table, with everything escaped."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<p><b>{html.escape(heading)}</b></p><table>{lines}</table>"


def markdown_table(lines: Sequence[Sequence[str]]) -> str:
    """Return a header and rows of cells as a table in Markdown.

    >>> print(markdown_table([["a", "b"], ["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    header, *rows = [f"| {' | '.join(cells)} |" for cells in lines]
    return "\n".join([header, f"|{'---|' * len(lines[0])}", *rows])


def text_table(lines: Sequence[Sequence[str]]) -> str:
    """Return a header and rows of cells as a table for a terminal.

    >>> print(text_table([["test", "Z"], ["a", "10"]]))
    test  Z
    a     10
    """
    widths = [max(len(cells[k]) for cells in lines) for k in range(len(lines[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)).rstrip() for cells in lines)


def three_digits(value: float) -> str:
    """Return a number for a table, such as a time in seconds: three digits, none beyond the hundredths.

    >>> three_digits(4891.2), three_digits(17.83), three_digits(0.4431), three_digits(5.7e-6), three_digits(math.nan)
    ('4890', '17.8', '0.44', '0', '')
    """
    if not math.isfinite(value):
        return ""
    return f"{float(f'{round(value, 2):.3g}'):.10g}"


def at_most(z: float, most: float) -> str:
    """Return a significance Z, or that it is at least the largest that can be shown.

    >>> at_most(2.345, 3.0), at_most(3.0, 3.0), at_most(-0.001, 3.0)
    ('2.35', '≥ 3.00', '0.00')
    """
    return f"≥ {most:.2f}" if is_beyond(z, most) else f"{z:z.2f}"


def is_beyond(z: float, most: float) -> bool:
    """Whether a significance Z reaches the largest that can be shown."""
    return z >= most - 1e-9


def count(number: int, noun: str) -> str:
    """Return a number of things, in the plural where it has to be.

    >>> count(1, "toy"), count(2, "toy")
    ('1 toy', '2 toys')
    """
    return f"{number} {noun}" + ("" if number == 1 else "s")


def joined(items: Sequence[str]) -> str:
    """Return the first items between commas, and how many more there are."""
    return ", ".join(items[:LISTED]) + (f" and {len(items) - LISTED} more" if len(items) > LISTED else "")


def shown(value: object, longest: int = _LONGEST) -> str:
    """A value for a message, on one line of a length that can be read.

    >>> shown("a.root"), len(shown(["x"] * 1000))
    ("'a.root'", 160)
    """
    try:
        text = " ".join(repr(value).split())  # NumPy's arrays have lines
    except ValueError:  # Python does not write out whole numbers of more than 4300 digits
        return "a number of thousands of digits"
    return text if len(text) <= longest else f"{text[: longest - 4]} ..."


def first_line(error: object) -> str:
    """The first line of what a library says, which may be many.

    >>> first_line(ValueError("no, because"))
    'no, because'
    """
    return (str(error).strip().splitlines() or [""])[0][:300]


def listed(names: Iterable[str]) -> str:
    """Return names in quotes between commas, the first ones if there are many."""
    return joined([shown(name) for name in names])


def with_nearest(missing: Iterable[str], known: Iterable[str]) -> str:
    """List the missing names, each with the known ones that look like it."""
    lowered = {name.lower(): name for name in known}  # 'PT' is near 'pt'
    items = []
    for name in missing:
        near = [lowered[match] for match in difflib.get_close_matches(name.lower(), lowered, cutoff=0.5)]
        items.append(f"{shown(name)} (nearest: {listed(near)})" if near else shown(name))
    return joined(items)


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest known ones, or all of them where none is near.

    >>> nearest_hint("widht", ["width", "penalty"]), nearest_hint("x", ["width", "penalty"])
    ('; nearest: width', '; known: penalty, width')
    """
    near = difflib.get_close_matches(name, known := sorted(known))
    return f"; nearest: {', '.join(near)}" if near else f"; known: {', '.join(known)}"


_ANY_SIZE = 10.0  # a log-ratio beyond which no deviation is too large


def deviation_in_words(size: float) -> str:
    """The size of a log-ratio as the deviation it stands for: in per cent, or a factor where it is large.

    >>> [deviation_in_words(size) for size in (0.2, 0.7, 2.0, 3.1, 20.0)]
    ['20 %', 'a factor 2', 'a factor 7', 'a factor 20', 'any size']
    """
    if size > _ANY_SIZE:
        return "any size"
    excess = math.expm1(size)
    return f"{float(f'{100 * excess:.1g}'):g} %" if excess < 0.75 else f"a factor {float(f'{1 + excess:.1g}'):g}"
