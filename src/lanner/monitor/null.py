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

from lanner.inference.analytic import LawMoments
from lanner.inference.combination import Combination, PMap
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.terms import GUMBEL
from lanner.monitor.toys import Sizes, ToyMaker
from lanner.monitor.yardstick import Halves, Yardstick
from lanner.typing import Array

_MAP_SHARE = 0.2
_LAW = LawMoments(mean=0.0, std=1.0, skewness=1.0)  # steadies the skewness of maps of few toys


@dataclass(frozen=True, eq=False)
class BatchNull:
    """Maps and combined statistics of toys at each size."""

    sizes: Array  # (sizes,)
    maps: Array  # (sizes, statistics, 3): mean, spread and skewness; NaN where a statistic is -log p already
    combined: Array  # (sizes, toys), rising

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
                found[step].append(maker.judged(sums, size, mean, shift, which))
                if told is not None:
                    told((k + (step + 1) / len(sizes.all)) / len(yardstick.widths))
        n_map = max(1, int(_MAP_SHARE * toys))
        maps, combined = [], []
        for at_size in found:
            t = np.vstack(at_size)
            combination = Combination.freeze("harmonic", _laws(yardstick), t[:, :n_map])
            maps.append([[m.mean, m.spread, m.skewness] if m is not None else [np.nan] * 3 for m in combination.maps])
            combined.append(np.sort(combination(t[:, n_map:])))
        return cls(np.array(sizes.all, dtype=np.float64), np.array(maps), np.array(combined))

    @property
    def toys(self) -> int:
        """By which p-values are counted, of each size."""
        return int(self.combined.shape[1])

    @property
    def smallest_p(self) -> float:
        """The smallest p-value that so many toys can give."""
        return 1 / (self.toys + 1)

    def combination(self, size: float) -> Combination:
        """How the statistics of a batch of this size are combined."""
        low, share = self._place(size)
        numbers = self.maps[low]
        if share:
            numbers = (1 - share) * numbers + share * self.maps[low + 1]
        maps = tuple(None if np.isnan(row[0]) else PMap(*map(float, row)) for row in numbers)
        return Combination("harmonic", maps, (1.0,) * len(maps))

    def log_p(self, t: Array, sizes: Array) -> tuple[Array, Array]:
        """log p of batches, (B,), and of each of their statistics, (statistics, B)."""
        of_scales, found = np.empty(t.shape), np.empty(len(sizes))
        for size in np.unique(sizes):
            here = np.flatnonzero(sizes == size)
            combination = self.combination(float(size))
            of_scales[:, here] = combination.log_p(t[:, here])
            found[here] = self._counted(combination(t[:, here]), float(size))
        return found, of_scales

    def _counted(self, combined: Array, size: float) -> Array:
        low, share = self._place(size)
        found = (1 - share) * self._at(low, combined)
        return found + share * self._at(low + 1, combined) if share else found

    def _at(self, step: int, combined: Array) -> Array:
        beyond = self.toys - np.searchsorted(self.combined[step], combined, side="left")
        return np.asarray(np.log((beyond + 1) / (self.toys + 1)))

    def _place(self, size: float) -> tuple[int, float]:
        """The size of toys below, and how far on the way to the next."""
        steps = np.log2(self.sizes)
        at = float(np.clip(np.log2(max(size, 1.0)), steps[0], steps[-1])) - steps[0]
        low = min(int(at), max(len(self.sizes) - 2, 0))
        return low, at - low

    def to_arrays(self) -> dict[str, Any]:
        """As arrays by name."""
        return {"sizes": self.sizes, "maps": self.maps, "combined": self.combined.astype(np.float32)}

    @classmethod
    def from_arrays(cls, a: dict[str, Any]) -> BatchNull:
        """Read what `to_arrays` made."""
        return cls(a["sizes"], a["maps"], a["combined"].astype(np.float64))


def _laws(yardstick: Yardstick) -> list[LawMoments | None]:
    laws: list[LawMoments | None] = []
    for width in yardstick.widths:
        laws += [_LAW] * len(width.deviations) + [GUMBEL, None]
    return laws
