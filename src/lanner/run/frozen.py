"""The null by which data, or toys with a signal, are judged: of one scale, or of several combined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lanner.inference.combination import Combination
from lanner.inference.multiscale import Ladder
from lanner.inference.null import Null
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.significance import fit_chi2
from lanner.inference.tail import fit_tail
from lanner.run.toy_maker import ToyRun
from lanner.typing import Array


@dataclass(frozen=True, eq=False)
class Combiner:
    """How the statistics of a ladder's scales, (scales, n), become one: by a frozen combination, or there is but one.

    The first `toys` toys froze it and are not counted.
    """

    combination: Combination | None
    n_map_toys: int

    @classmethod
    def of(cls, ladder: Ladder, kind: str, made: ToyRun, toys: int) -> Combiner:
        """Freeze a combination on the first toys, where there is something to combine."""
        if len(ladder.scales) == 1:
            return cls(None, 0)
        laws = [e.analytic_moments() for e in ladder.scales]
        return cls(Combination.freeze(kind, laws, made.statistics[:, :toys]), toys)

    def statistic(self, t: Array) -> Array:
        """The statistic of each column."""
        return t[0] if self.combination is None else self.combination(t)

    def null_statistics(self, made: ToyRun) -> Array:
        """The statistic of the toys that are counted."""
        return self.statistic(made.statistics[:, self.n_map_toys :])

    def null(self, ladder: Ladder, made: ToyRun) -> Null:
        """The toys that are counted, and the laws beside them."""
        t = self.null_statistics(made)
        converged = np.asarray(made.converged[:, self.n_map_toys :].all(axis=0))
        plan = ladder.first.plan
        rng = rng_of(plan.seed, Stream.CALIBRATION)
        if self.combination is not None:
            return Null(plan.null, t, converged, tail=fit_tail(t, rng=rng))
        return Null(plan.null, t, converged, ladder.first.analytic_null(), fit_chi2(t, rng=rng))
