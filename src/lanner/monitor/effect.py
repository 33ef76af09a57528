"""How large a departure is, beside how sure it is: with many events everything departs.

The size is the root mean square of r(x) - 1 over the reference, where r is the density of the batch over that of the
reference, as far as a kernel of one width can represent it. Its directions have the mean departures d_j of a batch, the
variances s_j (1/n + 1/R), and count by h_j, the part of each that a typical batch can tell from 0:

    size^2 = sum_j h_j (d_j^2 / s_j - 1/n - 1/R)

which is 0 on average where nothing departs. The interval follows from the variance of that sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from lanner.monitor.yardstick import Yardstick
from lanner.typing import Array

LEVEL = 0.9  # of intervals: 5 % on either side
_DEVIATION = 1.2


@dataclass(frozen=True)
class Effect:
    """The size of a departure, relative to the reference's density, and an interval."""

    size: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """As plain JSON."""
        return {"size": self.size, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Place:
    """Where a batch departs most: around an event of the reference."""

    width: float
    z_score: float
    observed: float  # events in the window, weighed by the kernel
    expected: float
    values: dict[str, float]  # the features in its middle

    def to_dict(self) -> dict[str, object]:
        """As plain JSON."""
        return {**vars(self), "values": dict(self.values)}


def effect_of(yardstick: Yardstick, readings: Array, batch: float) -> Effect:
    """The size of the departure of one batch or window, (1 + readings,), at the width in the middle.

    What counts is what typical batches of `batch` events can tell from 0.
    """
    which = len(yardstick.widths) // 2
    width, n = yardstick.widths[which], float(readings[0])
    v = yardstick.departure(which, readings[None]).along[:, 0]
    s = np.maximum(width.values, 1e-300)
    h = s / (s + 1 / (_DEVIATION**2 * batch))
    noise = 1 / n + 1 / width.worth
    excess = (v / n) ** 2 / s - noise
    square = float(h @ excess)
    spread = float(np.sqrt(np.sum(h**2 * (2 * noise**2 + 4 * noise * np.maximum(excess, 0.0)))))
    away = float(norm.isf((1 - LEVEL) / 2)) * spread
    return Effect(*(float(np.sqrt(max(x, 0.0))) for x in (square, square - away, square + away)))


def place_of(yardstick: Yardstick, readings: Array) -> Place | None:
    """The window with the largest excess or deficit of one batch, (1 + readings,)."""
    n, best = float(readings[0]), None
    for k, width in enumerate(yardstick.widths):
        departure = yardstick.departure(k, readings[None])
        z = width.excesses(departure, np.array([n]))[:, 0]
        j = int(np.argmax(np.abs(z)))
        if best is None or abs(z[j]) > abs(best.z_score):
            values = {name: float(x) for name, x in zip(yardstick.names, width.places[j], strict=True)}
            observed, expected = float(departure.places[j, 0]), float(width.predicted(n)[j])
            best = Place(width.width, float(z[j]), observed, expected, values)
    return best
