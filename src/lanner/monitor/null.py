"""What batches of every size look like where they follow the reference: p-values of batches and windows.

At each size of toys every statistic has a map to a p-value, frozen on a fifth of the toys; the maps' p-values are
combined by their harmonic mean, and the combined statistic is calibrated on the other toys. Between two sizes the maps'
parameters and log p are interpolated in log n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.inference.analytic import LawMoments
from lanner.inference.combination import Combination, combine
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.significance import gamma_logsf
from lanner.inference.terms import GUMBEL
from lanner.monitor.toys import Sizes, ToyMaker
from lanner.monitor.yardstick import Halves, Yardstick
from lanner.typing import Array

_MAP_SHARE = 0.2
_TAIL, _COUNTED = 0.01, 20  # the share of toys that tell how p-values fall, and toys beyond which it is continued
_LAW = LawMoments(mean=0.0, std=1.0, skewness=1.0)  # steadies the skewness of maps of few toys


@dataclass(frozen=True, eq=False)
class BatchNull:
    """Maps and combined statistics of toys at each size."""

    sizes: Array  # (sizes,)
    maps: Array  # (sizes, statistics, 3): mean, spread and skewness; NaN where a statistic is -log p already
    combined: Array  # (sizes, toys), rising
    slopes: Array  # (sizes,) by which log p falls beyond the toys

    @classmethod
    def of(
        cls,
        yardstick: Yardstick,
        halves: Halves,
        *,
        largest: float,
        toys: int,
        seed: int,
        told: Callable[[float], None] | None = None,
    ) -> BatchNull:
        """Make toys of every size at every width, and calibrate."""
        sizes = Sizes.up_to(largest)
        found: list[list[Array]] = [[] for _ in sizes.all]
        which = rng_of(seed, Stream.MONITOR, 2).integers(4096, size=toys)
        for k, width in enumerate(yardstick.widths):
            maker = ToyMaker(width, halves, seed)
            shift = maker.worlds(yardstick.worth)
            for step, sums in enumerate(maker.batches(toys, sizes.steps, 0)):
                size = sizes.all[step]
                mean = sums.mean(axis=0, dtype=np.float64) / size
                strengths = rng_of(seed, Stream.MONITOR, 4, step).standard_normal((toys, yardstick.ways))
                found[step].append(maker.judged(sums, size, mean, shift, which, strengths))
                if told is not None:
                    told((k + (step + 1) / len(sizes.all)) / len(yardstick.widths))
        n_map = max(1, int(_MAP_SHARE * toys))
        maps, combined = [], []
        for at_size in found:
            t = np.vstack(at_size)
            combination = Combination.freeze("harmonic", _laws(yardstick), t[:, :n_map])
            maps.append([[m.mean, m.spread, m.skewness] if m is not None else [np.nan] * 3 for m in combination.maps])
            combined.append(np.sort(combination(t[:, n_map:])))
        slopes = [_slope(c) for c in combined]
        return cls(np.array(sizes.all, dtype=np.float64), np.array(maps), np.array(combined), np.array(slopes))

    @property
    def toys(self) -> int:
        """By which p-values are counted, of each size."""
        return int(self.combined.shape[1])

    @property
    def smallest_p(self) -> float:
        """The smallest p-value that so many toys can give."""
        return 1 / (self.toys + 1)

    def log_p(self, t: Array, sizes: Array) -> tuple[Array, Array, Array]:
        """log p of batches, (B,), the same continued beyond the toys, and that of each statistic, (statistics, B)."""
        low, share = self._places(sizes)
        high = np.minimum(low + 1, len(self.sizes) - 1)
        of_scales = _mapped((1 - share)[:, None, None] * self.maps[low] + share[:, None, None] * self.maps[high], t)
        combined = combine("harmonic", of_scales)
        (counted, beyond), (counted_high, beyond_high) = (self._counted(steps, combined) for steps in (low, high))
        counted = (1 - share) * counted + share * counted_high
        return counted, (1 - share) * beyond + share * beyond_high, of_scales

    def _counted(self, steps: NDArray[np.intp], combined: Array) -> tuple[Array, Array]:
        """log p by toys of some sizes, and the same continued beyond them."""
        beyond, far = np.empty(len(combined)), np.empty(len(combined))
        for step in np.unique(steps):
            here = steps == step
            toys = self.combined[step]
            beyond[here] = self.toys - np.searchsorted(toys, combined[here], side="left")
            far[here] = self.slopes[step] * (combined[here] - toys[-min(_COUNTED, self.toys)])
        log_p = np.log((beyond + 1) / (self.toys + 1))
        continued = np.log(min(_COUNTED, self.toys) / (self.toys + 1)) - far
        return log_p, np.where(far > 0, np.minimum(continued, 0.0), log_p)

    def _places(self, sizes: Array) -> tuple[NDArray[np.intp], Array]:
        """Of each batch the size of toys below, and how far its own is on the way to the next."""
        steps = np.log2(self.sizes)
        at = np.clip(np.log2(np.maximum(sizes, 1.0)), steps[0], steps[-1]) - steps[0]
        low = np.minimum(at.astype(np.intp), max(len(self.sizes) - 2, 0))
        return low, at - low

    def to_arrays(self) -> dict[str, Any]:
        """As arrays by name."""
        return {
            "sizes": self.sizes,
            "maps": self.maps,
            "combined": self.combined.astype(np.float32),
            "slopes": self.slopes,
        }

    @classmethod
    def from_arrays(cls, a: dict[str, Any]) -> BatchNull:
        """Read what `to_arrays` made."""
        return cls(a["sizes"], a["maps"], a["combined"].astype(np.float64), a["slopes"])


def _slope(combined: Array) -> float:
    """By which log p falls beyond toys, in the combined statistic: from the mean excess of the largest.

    Were the maps exact it were 1, and it is never more; its statistical error is taken away.
    """
    number = max(2, int(_TAIL * len(combined)))
    excess = float(np.mean(combined[-number + 1 :] - combined[-number]))
    return float(min(1.0, 1.0 / max(excess * (1 + number**-0.5), 1e-3)))


def _mapped(numbers: Array, t: Array) -> Array:
    """log p of statistics, (statistics, B), by the numbers of their maps, (B, statistics, 3)."""
    mean, spread, skewness = np.moveaxis(numbers, 2, 0).transpose(0, 2, 1)
    mapped = ~np.isnan(mean)
    found = -np.asarray(t, dtype=np.float64)
    shape = 4 / skewness[mapped] ** 2
    found[mapped] = gamma_logsf(shape, shape + (t[mapped] - mean[mapped]) / spread[mapped] * shape**0.5)
    return found


def _laws(yardstick: Yardstick) -> list[LawMoments | None]:
    laws: list[LawMoments | None] = []
    for width in yardstick.widths:
        laws += [_LAW] * len(width.deviations) + [GUMBEL, None]
    return laws
