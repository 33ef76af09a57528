"""The look of our figures, for the time of drawing only, and names made safe to draw.

Nothing here changes matplotlib's settings for anybody else, and no figure passes through pyplot.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart with any kind of colour vision, and by lightness in print.
BLACK, ORANGE, SKY, GREEN, BLUE, VERMILION = "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00"
PURPLE = "#CC79A7"
GREY, PALE = "#8c8c8c", "#d9d9d9"
BAND_68, BAND_95 = "#9ecae8", "#d6eaf7"

STACK = ("#dcdcdc", "#bcd9ee", "#f7dfa6", "#bfe3d3", "#ecd0df", "#c9cfe8")  # tints of it, for areas

_LONGEST_LABEL = 48

# On top of mplhep's ROOT style, which is made for figures of 10 inches.
_OURS: dict[str, Any] = {
    "figure.figsize": (7.0, 4.2),
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "font.family": ["TeX Gyre Heros", "DejaVu Sans"],  # the second one has the glyphs that the first lacks
    "axes.linewidth": 1.0,
    "axes.labelsize": 11,
    "axes.formatter.useoffset": False,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 9.5,
    "xtick.major.size": 6,
    "xtick.minor.size": 3,
    "ytick.major.size": 6,
    "ytick.minor.size": 3,
    "xtick.major.pad": 4,
    "text.usetex": False,
    "mathtext.fontset": "stixsans",  # one that matplotlib brings: a figure may be saved outside of this style
    "svg.fonttype": "path",  # the same letters everywhere, whatever fonts the reader has
    "svg.hashsalt": "lanner",  # the same file for the same result
    "path.simplify": True,
}


@contextmanager
def hep_style() -> Iterator[None]:
    """Draw in mplhep's style inside this block, with our sizes."""
    import matplotlib
    import mplhep

    settings: Any = {**mplhep.style.ROOT, **_OURS}
    with warnings.catch_warnings():
        # A column named in a script that the font lacks is drawn as boxes, which is no reason to fail.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        with matplotlib.rc_context(settings):
            yield


def new_figure(size: tuple[float, float]) -> Figure:
    """A figure that pyplot does not know."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    return figure


def new_axes(*, size: tuple[float, float] = (7.0, 4.2)) -> Axes:
    """Axes of a figure of their own."""
    return new_figure(size).add_subplot()


def legend_above(ax: Axes, *, columns: int) -> None:
    """A legend outside the axes, where it can cover nothing."""
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=columns, borderaxespad=0.0, handlelength=1.6)


def lay_out(figure: Figure) -> None:
    """Place everything once, for a figure that is saved next and then forgotten.

    `savefig` would do the same, but draws the figure once more for it: a quarter of the time.
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")


def visible(text: str) -> str:
    """The text without characters that cannot be seen, or that turn what follows around.

    >>> visible("a\\x00b\\u202ec")
    'a\ufffdb\ufffdc'
    """
    text = "".join(" " if c in "\n\t\r" else c for c in text)
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else c for c in text)


def as_label(name: str, longest: int = _LONGEST_LABEL) -> str:
    """A name as matplotlib should draw it: letter by letter, never as mathematics.

    >>> as_label("$m_{ll}$")
    '\\\\$m_{ll}\\\\$'
    """
    text = visible(name)
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    return text.replace("$", r"\$")


def as_axis(name: str, axis: str | None) -> str:
    """What stands on an axis: what somebody wrote for it, with mathematics if it can be read, or else the name.

    >>> as_axis("pt", "$p_T$ [GeV]"), as_axis("pt", "$\\\\nonsense{$"), as_axis("pt", None)
    ('$p_T$ [GeV]', '\\\\$\\\\nonsense{\\\\$', 'pt')
    """
    if axis is None:
        return as_label(name)
    from matplotlib.mathtext import MathTextParser

    text = visible(axis)
    try:
        MathTextParser("path").parse(text)
    except ValueError:
        return as_label(text)
    return text if len(text) <= 2 * _LONGEST_LABEL else as_label(text)
