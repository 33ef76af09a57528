"""The local significance at every scale: against the kernel width, a line for each size of deviation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lanner._util.text import deviation_in_words
from lanner.report.plots.style import BLUE, GREEN, GREY, ORANGE, VERMILION, hep_style, new_axes
from lanner.report.text.words import aligned
from lanner.run.parts import Combined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOOKS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (GREY, "D"))


def plot_scales(combined: Combined, ax: Axes | None = None) -> Axes:
    """Local Z against the kernel width."""
    with hep_style():
        ax = new_axes() if ax is None else ax
        # Penalties of one order stand for one size of deviation, whatever their digits.
        sizes = sorted({round(s.deviation, 3) for s in combined.scales})
        for (colour, marker), size in zip(_LOOKS * len(sizes), sizes, strict=False):
            shown = sorted((s for s in combined.scales if round(s.deviation, 3) == size), key=lambda s: s.width)
            label = f"tuned to deviations of {deviation_in_words(size)}"
            widths, z = [s.width for s in shown], [_finite(s.local_z) for s in shown]
            ax.plot(widths, z, marker=marker, color=colour, linewidth=1.2, markersize=5, label=label)
        best = combined.scales[combined.dominant_scale]
        ax.plot(best.width, _finite(best.local_z), "o", color=VERMILION, markersize=13, markerfacecolor="none",
                markeredgewidth=1.6, label="the most significant scale")  # fmt: skip
        widths = sorted({s.width for s in combined.scales})
        ax.set_xscale("log")
        ax.set_xticks(widths, [aligned(w) for w in widths])
        ax.minorticks_off()
        ax.axhline(0.0, color=GREY, linewidth=0.6)
        low, high = ax.get_ylim()
        ax.set_ylim(min(low, -0.5), high + 0.35 * (high - min(low, -0.5)))
        ax.set_xlabel("kernel width, in units of the scaled features")
        ax.set_ylabel("local significance Z")
        ax.legend(loc="upper left", ncols=2)
    return ax


def _finite(z: float) -> float:
    return float(np.clip(z, -8.0, 40.0))
