"""How results print: a heading and rows of names and values, in a terminal and in a notebook."""

from __future__ import annotations

import html

Rows = list[tuple[str, str]]


def as_text(heading: str, rows: Rows) -> str:
    """The heading, then one aligned line a row.

    >>> print(as_text("Fit", [("t", "4.2"), ("rank", "15")]))
    Fit
      t     4.2
      rank  15
    """
    width = max(len(name) for name, _ in rows)
    return "\n".join([heading, *(f"  {name:<{width}}  {value}" for name, value in rows)])


def as_html(heading: str, rows: Rows) -> str:
    """The same as an HTML table, with everything escaped."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<p><b>{html.escape(heading)}</b></p><table>{lines}</table>"
