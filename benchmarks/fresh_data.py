"""Many new data sets judged at once by the default search of one reference, beneath its public names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lanner.events import Sample
from lanner.inference.combination import AUTO_MAP_TOYS, Combination
from lanner.inference.layout import dealt_scheme
from lanner.inference.multiscale import Ladder, terms_of
from lanner.inference.resampling import ReferenceScheme
from lanner.inference.score_experiment import ScoreExperiment
from lanner.inference.significance import exceedances
from lanner.model.weightings import Draw
from lanner.run.prepare import prepare
from lanner.settings import FitSettings


@dataclass(frozen=True, eq=False)
class FreshData:
    """The default search of one reference, for many new data sets at once, each of them a row of the pool."""

    reference: NDArray[np.float64]
    expected: float
    seed: int

    def p_values(self, events: NDArray[np.float64], sizes: NDArray[np.intp], toys: int) -> NDArray[np.float64]:
        """The p-value of each data set, of so many events one after another, by counting toys."""
        job = prepare(self.reference, expected=self.expected, settings=FitSettings(seed=self.seed))
        fresh = Sample.of(events, names=job.recipe.reference.names)
        scheme = dealt_scheme(job.plans[0], len(self.reference), 0)
        assert isinstance(scheme, ReferenceScheme)
        ends = len(self.reference) + np.concatenate([[0], np.cumsum(sizes)])
        sets = [np.arange(first, last) for first, last in pairwise(ends)]
        first = len(scheme.bunches)
        scheme = replace(scheme, bunches=scheme.bunches.with_rows(sets, inside=False))
        by_width = {
            width: ScoreExperiment.prepare(
                next(p for p in job.plans if p.width == width),
                job.recipe.reference,
                fresh,
                memory=8 * 10**9,
                scheme=scheme,
            )
            for width in {p.width for p in job.plans}
        }
        scales = tuple(by_width[p.width].at_penalty(p) for p in job.plans)
        ladder = Ladder(scales, terms_of(scales))
        null = _statistics(ladder, [lambda i=i: scheme.toy(i) for i in range(toys)])  # type: ignore[misc]
        draw = scheme.data(0)
        rows = range(first, first + len(sets))
        found = _statistics(ladder, [lambda r=r: replace(draw, data=np.array([r])) for r in rows])  # type: ignore[misc]
        n_map = min(AUTO_MAP_TOYS, toys // 3)
        combine = Combination.freeze("harmonic", ladder.laws(), null[:, :n_map])
        counted = combine(null[:, n_map:])
        return (exceedances(combine(found), counted) + 1) / (len(counted) + 1)


def _statistics(ladder: Ladder, draws: Sequence[Callable[[], Draw]]) -> NDArray[np.float64]:
    parts = [draws[k : k + 1000] for k in range(0, len(draws), 1000)]
    return np.hstack([np.stack([s.statistic for s in ladder.fit([d() for d in part], kept=0)]) for part in parts])
