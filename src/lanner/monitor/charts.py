"""Small charts as SVG: light enough for hundreds of batches, with links and words that appear under the pointer.

Text in them is text, escaped; colours are those of our figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from lanner.report.plots.style import visible

GRID, AXIS, SOFT = "#e3e3e3", "#9a9a9a", "#595959"
_LETTER = 6.4  # units of width of a letter


@dataclass
class Chart:
    """A frame with two axes; marks are given in the units of the axes."""

    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]
    left: float = 58.0
    right: float = 14.0
    top: float = 10.0
    bottom: float = 34.0
    parts: list[str] = field(default_factory=list)

    def px(self, x: float) -> float:
        """Where a value is, from the left."""
        low, high = self.x
        return self.left + (x - low) / ((high - low) or 1.0) * (self.width - self.left - self.right)

    def py(self, y: float) -> float:
        """Where a value is, from above; what is beyond the axis is at its end."""
        low, high = self.y
        share = (min(max(y, low), high) - low) / ((high - low) or 1.0)
        return self.height - self.bottom - share * (self.height - self.top - self.bottom)

    def frame(self) -> None:
        """The lines around."""
        w, h = self.width - self.left - self.right, self.height - self.top - self.bottom
        self.parts.append(
            f'<rect x="{self.left:g}" y="{self.top:g}" width="{w:g}" height="{h:g}" fill="none" stroke="{AXIS}"/>'
        )

    def y_ticks(self, ticks: Iterable[tuple[float, str]], *, grid: bool = True) -> None:
        """Values with their words on the left."""
        for y, words in ticks:
            at = self.py(y)
            if grid:
                self.line([(self.left, at), (self.width - self.right, at)], GRID)
            self.text(self.left - 7, at + 4, words, anchor="end")

    def x_ticks(self, ticks: Iterable[tuple[float, str]]) -> None:
        """Values with their words below."""
        for x, words in ticks:
            at, under = self.px(x), self.height - self.bottom
            self.line([(at, under), (at, under + 5)], AXIS)
            self.text(at, under + 18, words, anchor="middle")

    def y_label(self, words: str) -> None:
        """What the axis on the left means."""
        middle = (self.top + self.height - self.bottom) / 2
        place = f"translate({self.left - 45:.1f} {middle:.1f}) rotate(-90)"
        self.parts.append(f'<text transform="{place}" text-anchor="middle" fill="{SOFT}">{_words(words)}</text>')

    def text(
        self, x: float, y: float, words: str, *, anchor: str = "start", color: str = SOFT, bold: bool = False
    ) -> None:
        """Words, at a place on the paper."""
        weight = ' font-weight="600"' if bold else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}"{weight}>{_words(words)}</text>'
        )

    def line(self, points: Sequence[tuple[float, float]], color: str, *, width: float = 1.0, dash: str = "") -> None:
        """A line through places on the paper."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}"{dashed}/>')

    def curve(self, xs: Sequence[float], ys: Sequence[float], color: str, *, width: float = 1.5) -> None:
        """A line through values, interrupted where there are none."""
        piece: list[tuple[float, float]] = []
        for x, y in zip(xs, ys, strict=True):
            if math.isfinite(y):
                piece.append((self.px(x), self.py(y)))
            elif piece:
                self._piece(piece, color, width)
                piece = []
        self._piece(piece, color, width)

    def _piece(self, piece: list[tuple[float, float]], color: str, width: float) -> None:
        if len(piece) == 1:
            self.parts.append(f'<circle cx="{piece[0][0]:.1f}" cy="{piece[0][1]:.1f}" r="{width:g}" fill="{color}"/>')
        elif piece:
            self.line(piece, color, width=width)

    def level(self, y: float, color: str, words: str) -> None:
        """A dashed line across, with its meaning above the frame on the right."""
        at, right = self.py(y), self.width - self.right
        self.line([(self.left, at), (right, at)], color, width=1.2, dash="6 4")
        start = right - _LETTER * len(words) - 6
        self.line([(start - 30, self.top - 11), (start - 4, self.top - 11)], color, width=1.2, dash="6 4")
        self.text(right, self.top - 7, words, anchor="end", color=color)

    def mark(
        self, x: float, y: float, *, color: str, radius: float, hint: str = "", link: str = "", ring: bool = False
    ) -> None:
        """A point; one beyond the axis is a triangle that points there."""
        at, up = self.px(x), self.py(y)
        look = f'fill="none" stroke="{color}" stroke-width="2"' if ring else f'fill="{color}"'
        if y > self.y[1]:
            up, r = self.top + radius + 2, radius + 1
            shape = f'<path d="M{at:.1f} {up - r:.1f}l{r:.1f} {1.7 * r:.1f}h{-2 * r:.1f}z" {look}>'
            end = "</path>"
        else:
            shape, end = f'<circle cx="{at:.1f}" cy="{up:.1f}" r="{radius:g}" {look}>', "</circle>"
        drawn = shape + (f"<title>{_words(hint)}</title>" if hint else "") + end
        self.parts.append(f'<a href="#{escape(link)}">{drawn}</a>' if link else drawn)

    def cell(self, x: tuple[float, float], y: tuple[float, float], color: str, hint: str = "") -> None:
        """A filled rectangle between values."""
        left, right, up, down = self.px(x[0]), self.px(x[1]), self.py(y[1]), self.py(y[0])
        size = f'x="{left:.1f}" y="{up:.1f}" width="{right - left:.1f}" height="{down - up:.1f}"'
        title = f"<title>{_words(hint)}</title>" if hint else ""
        self.parts.append(f'<rect {size} fill="{color}">{title}</rect>')

    def bars(self, bars: Iterable[tuple[float, float, float, float]], color: str) -> None:
        """Filled rectangles of one colour, from left to right and between two heights."""
        path = "".join(
            f"M{self.px(a):.1f} {self.py(low):.1f}V{self.py(high):.1f}H{self.px(b):.1f}V{self.py(low):.1f}z"
            for a, b, low, high in bars
        )
        self.parts.append(f'<path d="{path}" fill="{color}"/>')

    def errors(self, points: Iterable[tuple[float, float, float]], color: str) -> None:
        """Points of one colour with their errors."""
        placed = [(self.px(x), self.py(y), self.py(y - e), self.py(y + e)) for x, y, e in points]
        path = "".join(f"M{x:.1f} {low:.1f}V{high:.1f}" for x, _, low, high in placed)
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y, _, _ in placed)
        self.parts.append(f'<path d="{path}" stroke="{color}" stroke-width="1.3"/>')
        self.parts.append(f'<path d="{dots}" stroke="{color}" stroke-width="5" stroke-linecap="round"/>')

    def svg(self, title: str, kind: str = "") -> str:
        """The whole, to stand inside a page."""
        head = f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img" aria-label="{_words(title)}"'
        return f'{head} class="{kind}">{"".join(self.parts)}</svg>' if kind else f"{head}>{''.join(self.parts)}</svg>"


def _words(text: str) -> str:
    return escape(visible(text))


def fitted(words: str, width: float) -> str:
    """Words that are no wider than so many units of a chart.

    >>> fitted("sigmaEtaEta1", 64), fitted("pt", 64)
    ('sigmaEtaE…', 'pt')
    """
    most = max(1, int(width / _LETTER))
    return words if len(words) <= most else words[: most - 1] + "…"


def powers(low: float, high: float) -> list[tuple[float, str]]:
    """Ticks of an axis of log10, at whole powers, a few of them.

    >>> powers(0, 3)
    [(0, '1'), (1, '10'), (2, '100'), (3, '10³')]
    """
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    step = max(1, math.ceil((last - first) / 7))
    return [(k, power(k)) for k in range(first, last + 1) if k % step == 0]


def power(exponent: int) -> str:
    """10 to some power, as people write it.

    >>> power(-2), power(-12)
    ('0.01', '10⁻¹²')
    """
    if -2 <= exponent <= 2:
        return f"{10.0**exponent:g}"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def diverging(value: float, most: float) -> str:
    """A colour between blue, white and red for a value between minus and plus the most.

    >>> diverging(0.0, 1.0), diverging(1.0, 1.0), diverging(-9.0, 1.0)
    ('#ffffff', '#c2400a', '#0b5394')
    """
    share = float(np.clip(value / most if most > 0 else 0.0, -1, 1))
    end = (0xC2, 0x40, 0x0A) if share > 0 else (0x0B, 0x53, 0x94)
    return "#" + "".join(f"{round(255 + abs(share) ** 0.8 * (c - 255)):02x}" for c in end)
