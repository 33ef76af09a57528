"""From the statistics of toys to the significance at which a test finds something, the same way for every test.

Where enough null toys lie beyond an observed statistic, they are counted; further out a tail is fitted to them. So that
what a test calls t does not decide who wins, every statistic is first put on a scale on which the tails of all tests
are alike, and close to an exponential: minus log p of a gamma law with the mean, spread and skewness of the null toys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from lanner.comparison.table import LEVELS, Found
from lanner.inference.combination import PMap
from lanner.inference.null import Null
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.significance import empirical_z, exceedances
from lanner.inference.tail import fit_tail
from lanner.run.evaluate import Combiner
from lanner.run.toy_maker import ToyRun
from lanner.typing import Array

_SKEWNESS = (0.05, 3.0)  # of laws that are tried: 0 is a Gaussian, 2 an exponential
_ENOUGH = 10  # toys beyond an observed t, to take p from them alone


@dataclass(frozen=True, eq=False)
class NullOfTest:
    """The null toys of a test, by which other toys and data are judged."""

    null: Null
    combiner: Combiner
    scale: Callable[[Array], Array]

    @classmethod
    def of(cls, combiner: Combiner, made: ToyRun, seed: int) -> NullOfTest:
        """From the null toys, of which those are counted that had no part in the combination of several statistics."""
        t = combiner.null_statistics(made)
        scale = _minus_log_p(t)
        t = scale(t)
        converged = np.asarray(made.converged[:, combiner.n_map_toys :].all(axis=0))
        return cls(
            Null("reference", t, converged, tail=fit_tail(t, rng=rng_of(seed, Stream.CALIBRATION))), combiner, scale
        )

    def statistic(self, made: ToyRun) -> Array:
        """The statistic of other toys, on the same scale."""
        return self.scale(self.combiner.statistic(made.statistics))

    def z_scores(self, t: Array) -> Array:
        """Z of statistics: from the toys where enough lie beyond, from the tail fitted to them further out.

        A t below all toys has a p of 1, and a Z as low as the toys can tell.
        """
        t = np.asarray(t, dtype=np.float64)
        z, tail = np.maximum(empirical_z(t, self.null.statistics), -self.reach), self.null.trusted_tail
        if tail is not None:
            few = exceedances(t, self.null.statistics) < _ENOUGH
            far = np.flatnonzero(few & (t > tail.threshold))
            z[far] = [tail.z_score(float(x)) for x in t[far]]
        return z

    @property
    def reach(self) -> float:
        """The largest Z that the toys can show by themselves."""
        return self.null.empirical(np.inf).z_score

    @property
    def most(self) -> float:
        """The largest Z that can be shown at all."""
        return float(self.z_scores(np.array([np.inf]))[0])


def found_of(signal: str, signal_events: float, z: Array) -> Found:
    """What a test makes of a signal, from the Z of toys with it."""
    low, middle, high = (float(q) for q in np.quantile(z, [0.16, 0.5, 0.84]))
    # Of a median: 1.25 standard deviations over the root of the number.
    error = float(1.2533 * z.std(ddof=1) / len(z) ** 0.5) if len(z) > 1 else float("nan")
    chances = tuple(float(np.mean(z >= level)) for level in LEVELS)
    return Found(signal, signal_events, (low, middle, high), chances, error)


def _minus_log_p(null: Array) -> Callable[[Array], Array]:
    spread = float(null.std())
    if not (np.isfinite(spread) and spread > 0):
        return np.asarray
    skewness = float(np.clip(stats.skew(null), *_SKEWNESS))
    to_log_p = PMap(float(null.mean()), spread, skewness)
    return lambda t: -to_log_p(np.asarray(t))
