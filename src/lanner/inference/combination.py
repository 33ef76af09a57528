"""One p-value from several scales.

Each scale's statistic is mapped to a p-value by a smooth function that is learned on a first set of toys: a gamma law
with their mean, spread and skewness. The analytic null knows a skewness too, but where few events are expected counts
make the tail heavier than it says, and a scale whose map is too light drowns the others; so its skewness only steadies
that of few toys. The p-values of an experiment are combined into one number, and that number is calibrated on a second
set of toys, which had no part in the map. So the final p-value is as valid as one of a single statistic, whatever the
map is like; a good map only makes the scales comparable.

The combined statistic is minus the logarithm of

    smallest    the smallest p
    harmonic    their harmonic mean: close to the smallest, with some help from the others
    product     their geometric mean, which rewards scales that agree (the ranking is that of Fisher's product)
    average     their mean

Each p has a vote v, of which the means are weighted ones; the smallest is then that of p / v.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from lanner.errors import InputError
from lanner.inference.analytic import LawMoments
from lanner.inference.significance import gamma_logsf
from lanner.typing import Array

# Of log p, (scales, n), and the votes, (scales, 1).
_COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "smallest": lambda log_p, v: -(log_p - np.log(v)).min(axis=0),
    "harmonic": lambda log_p, v: logsumexp(-log_p, axis=0, b=v) - np.log(v.sum()),
    "product": lambda log_p, v: -(v * log_p).sum(axis=0) / v.sum(),
    "average": lambda log_p, v: np.log(v.sum()) - logsumexp(log_p, axis=0, b=v),
}
COMBINATIONS = tuple(_COMBINE)
MIN_MAP_TOYS = 20  # toys, for a mean and a spread that mean anything
# On 500 the spread of a scale is known to 3 %, its tail at 4 sigma to a factor of 2 to 3, and a scale with an unlucky
# map crowds out the others (measured in 1-D: up to 0.2 sigma); from 2000 on little more is gained.
MOST_MAP_TOYS = 5000
_MAP_SHARE = 1 / 3
AUTO_MAP_TOYS = 2000  # where toys are made until the answer is known
_LAW_TOYS = 100  # toys that the skewness of the analytic null is worth
_SKEWNESS = (0.02, 6.0)  # of maps: from all but a Gaussian to a tail far heavier than an exponential's


def number_of_map_toys(toys: int) -> int:
    """How many of the toys freeze the map: a third, and no more than suffice.

    >>> number_of_map_toys(300), number_of_map_toys(100_000)
    (100, 5000)
    """
    return min(int(toys * _MAP_SHARE), MOST_MAP_TOYS)


@dataclass(frozen=True)
class PMap:
    """A scale's statistic as the logarithm of a p-value: monotone, smooth, the same for toys and data.

    A gamma distribution with the mean, spread and skewness of some toys.
    """

    mean: float
    spread: float
    skewness: float

    @classmethod
    def freeze(cls, law: LawMoments, toys: Array) -> PMap:
        """Place, size and shape from the toys, the latter steadied by the law's."""
        finite = toys[np.isfinite(toys)]
        if len(finite) < MIN_MAP_TOYS:
            raise InputError(
                f"{len(finite)} toys are too few to compare scales by, which takes {MIN_MAP_TOYS}: make at least "
                f"{int(np.ceil(MIN_MAP_TOYS / _MAP_SHARE))} toys, or give width= for a single scale"
            )
        mean, spread = float(finite.mean()), float(finite.std(ddof=1))
        if not spread > 0:
            return cls(mean, law.std, law.skewness)
        own = float(np.mean(((finite - mean) / spread) ** 3))
        skewness = (len(finite) * own + _LAW_TOYS * law.skewness) / (len(finite) + _LAW_TOYS)
        return cls(mean, spread, float(np.clip(skewness, *_SKEWNESS)))

    def __call__(self, t: Array) -> Array:
        """log p of each t; not a number where t is not."""
        shape = 4 / self.skewness**2
        return gamma_logsf(shape, shape + (np.asarray(t) - self.mean) / self.spread * shape**0.5)


@dataclass(frozen=True, eq=False)
class Combination:
    """How the statistics of several scales, (scales, n), become one."""

    kind: str
    maps: tuple[PMap | None, ...]  # None: the statistic is minus the logarithm of a p-value already
    votes: tuple[float, ...]

    @classmethod
    def freeze(
        cls, kind: str, laws: Sequence[LawMoments | None], toys: Array, votes: Sequence[float] | None = None
    ) -> Combination:
        """Freeze the maps on toys (scales, n) that are not used again; a statistic without a law is a -log p itself.

        Without `votes` each has one.
        """
        check_combination(kind)
        maps = tuple(None if law is None else PMap.freeze(law, t) for law, t in zip(laws, toys, strict=True))
        return cls(kind, maps, tuple(np.ones(len(maps)) if votes is None else votes))

    def log_p(self, t: Array) -> Array:
        """log p at each scale, before the calibration of their combination."""
        rows = zip(self.maps, np.atleast_2d(t), strict=True)
        return np.stack([-row if to_p is None else to_p(row) for to_p, row in rows])

    def __call__(self, t: Array) -> Array:
        """The combined statistic of each column: large where the scales are extreme."""
        return combine(self.kind, self.log_p(t), self.votes)


def combine(kind: str, log_p: Array, votes: Sequence[float] | None = None) -> Array:
    """One number for each column of log p, (scales, n): large where the scales are extreme.

    >>> combine("smallest", np.log([[0.5], [0.1]])).round(3).tolist()
    [2.303]
    """
    v = np.ones(len(log_p)) if votes is None else np.array(votes)
    return np.asarray(_COMBINE[kind](log_p, v[:, None]))


def check_combination(kind: str) -> None:
    """Refuse a combination that is not known."""
    if kind not in _COMBINE:
        raise InputError(f"combination={kind!r} is not known; choose one of {', '.join(map(repr, COMBINATIONS))}")
