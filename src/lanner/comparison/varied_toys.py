"""Toys of a reference that is not what it is said to be: some other ratio r(x) times its density.

Of the density n r = c n + (r - c) n, with c the smallest r of any event, the first part is the reference itself, of
which toys are made as ever, and the second one a signal: N(0) E[r - c] events beside them. For an uncertainty of a few
per cent these are few. They are events of the reference once more, which a toy shares with its reference: that takes
twice their number over the reference's from the variance of what the test sums up, mostly less than a per cent. With
r = 1 and half of all toy data drawn so, the median Z of 2000 toys was -0.10 +- 0.03 where the reference has 20 events
for each one expected, and -0.05 +- 0.03 where it has 100.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.comparison.toy_pool import ToyPool
from lanner.errors import InputError
from lanner.events import Sample
from lanner.inference.layout import centers_of
from lanner.inference.plan import Plan
from lanner.inference.resampling import ReferenceScheme, WeightedReferenceScheme, room_for_data
from lanner.inference.seeds import Stream, rng_of
from lanner.model.weightings import Draw
from lanner.run.fingerprint import array_digest
from lanner.typing import Array

_FIXED = 0.1  # of the data's fluctuation: what may be due to the choice of events that are drawn from
_DRAWN = 10  # events to draw from, for each one that is drawn
_ROUNDING = 1e-9  # of r


@dataclass(frozen=True, eq=False)
class Varied:
    """A ratio to the reference, split in two: c, and what is left of it at each event."""

    least: float  # c
    growth: float  # E[r]
    excess: Array  # w (r - c) of each reference event

    @classmethod
    def of(cls, log_r: Array, weights: Array) -> Varied:
        """From log r of each event of the reference."""
        r = np.exp(log_r)
        least = float(r.min())
        return cls(least, float((weights * r).sum() / weights.sum()), weights * (r - least))

    def mean(self, expected: float) -> float:
        """How many events the excess has."""
        part = self.growth - self.least
        return expected * part if part > _ROUNDING else 0.0


def events_to_draw(ratios: list[Varied], plan: Plan, reference: Sample) -> NDArray[np.intp]:
    """Reference events from which the excesses are drawn: no centres, and as many as it takes for the largest one."""
    largest = max((varied.mean(plan.expected) for varied in ratios), default=0.0)
    if largest == 0:
        return np.empty(0, dtype=np.intp)
    number = math.ceil(max(largest**2 / (plan.expected * _FIXED**2), _DRAWN * largest, _DRAWN))
    free = np.setdiff1d(np.arange(len(reference)), centers_of(plan, reference))
    if len(free) < 2 * (largest + 5 * largest**0.5):
        raise InputError(
            f"a variation adds {largest:.0f} events in some regions to what is {plan.expected:g} expected, too many to "
            f"draw them from a reference of {len(reference)}: use a larger one"
        )
    chosen = rng_of(plan.seed, Stream.POWER).permutation(free)[:number]
    return np.sort(chosen)


@dataclass(frozen=True, eq=False)
class VariedToys:
    """Toys whose data follow the reference times a ratio."""

    stream: int  # of random numbers
    base: float  # N(0) c
    mean: float  # N(0) E[r - c]
    chances: Array  # of each event beside the reference in the pool, to be drawn as one of these
    _wider: dict[int, ReferenceScheme] = field(default_factory=dict, repr=False)  # by the scheme they are made of

    def __call__(self, scheme: ReferenceScheme, i: int) -> Draw:
        """What toy i takes from the pool."""
        if id(scheme) not in self._wider:
            self._wider[id(scheme)] = with_room_for(scheme, self.base)
        # These toys lie far beyond any number of null toys, so that the two never share one.
        toy = self._wider[id(scheme)].toy(10**9 * (1 + self.stream) + i)
        if self.mean == 0:
            return toy
        rng = rng_of(scheme.seed, Stream.POWER, self.stream, i)
        number = min(int(rng.poisson(self.mean)), int(np.count_nonzero(self.chances)))
        drawn = rng.choice(len(self.chances), number, replace=False, p=self.chances)
        return replace(toy, data=np.concatenate([toy.data, scheme.data_rows[drawn]]))

    def about(self, pool: ToyPool) -> dict[str, Any]:
        """The events that toys are made of, and how."""
        others = np.empty(0) if pool.other is None else pool.other.features
        events = array_digest(pool.reference.features, pool.reference.weights, others, self.chances)
        return {"events": events, "base": self.base, "excess": self.mean}


def with_room_for(scheme: ReferenceScheme, expected: float) -> ReferenceScheme:
    """The same toys with another number of data events; where these are more, the reference is so much smaller."""
    total = scheme.bunches.total
    if isinstance(scheme, WeightedReferenceScheme):
        tried = math.ceil(scheme.n_hit_or_miss * max(1.0, expected / scheme.expected))
        size = min(scheme.reference_size, total - tried)
        return replace(scheme, expected=expected, reference_size=size, n_hit_or_miss=tried)
    size = min(scheme.reference_size, total - room_for_data(expected, None))
    return replace(scheme, expected=expected, reference_size=size)
