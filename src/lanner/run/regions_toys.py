"""Toys that several regions see, made until all that is asked of them is known, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lanner._util.progress import named, part_of
from lanner.inference.analytic import LawMoments
from lanner.inference.combination import AUTO_MAP_TOYS, MIN_MAP_TOYS, Combination, number_of_map_toys
from lanner.inference.null import Null
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.sequential import Stopping
from lanner.inference.tail import fit_tail
from lanner.run.evaluate import Combiner, Evaluation
from lanner.run.execution.local import Workers
from lanner.run.result import SearchResult
from lanner.run.toy_maker import ToyMaker, ToyRun
from lanner.typing import Array, Progress

# Of regions. The smallest p-value finds as much: median Z of three signals 0.78, 1.48, 2.47 beside 0.72, 1.48, 2.42.
COMBINATION = "harmonic"
_FIRST_LOOK = 1000  # toys after which it is first seen whether more are needed
_OF_LOG_P = LawMoments(mean=1.0, std=1.0, skewness=2.0)  # -ln p of a p-value that is uniform


@dataclass(frozen=True, eq=False)
class Judged:
    """What toys say of the regions together, and of each by itself."""

    statistic: float
    null: Null
    results: tuple[SearchResult, ...]
    log_p: Array  # of each region, before it was calibrated together with the others
    combination: str
    n_map_toys: int


def judged_together(
    workers: Sequence[Workers], kind: str, toys: int | None, stopping: Stopping | None, progress: Progress | None
) -> Judged:
    """Have so many toys made, or as many as it takes, and judge the data by them; scales are combined by `kind`."""
    evaluations = [Evaluation(one.prepared, kind) for one in workers]
    number = toys or (stopping.toys if stopping is not None else 0)
    # No toys are kept, so that nothing can go with other events or regions than these.
    makers = [ToyMaker.of(one, folder=None, events_digest="", toys=number) for one in workers]
    together = _Together(evaluations, makers)
    if stopping is None:
        n_map_toys = number_of_map_toys(number)
        return together.judged(together.first(number, number, progress), n_map_toys, None)
    n_map_toys = AUTO_MAP_TOYS if stopping.first else max(MIN_MAP_TOYS, number_of_map_toys(stopping.toys))
    most = n_map_toys + stopping.toys
    wanted = n_map_toys + min(stopping.first or _FIRST_LOOK, stopping.toys)
    before = 0
    while True:
        made = together.first(wanted, most, progress, made=before)
        if wanted >= most or together.is_known(made, n_map_toys, stopping):
            return together.judged(made, n_map_toys, stopping)
        before, wanted = wanted, min(2 * wanted, most)


@dataclass(frozen=True, eq=False)
class _Together:
    """The regions' data, and those who make their toys."""

    evaluations: list[Evaluation]
    makers: list[ToyMaker]

    def first(self, toys: int, most: int, progress: Progress | None, *, made: int = 0) -> list[ToyRun]:
        """The first toys as each region sees them, of which some are made."""
        regions = len(self.makers)
        words = "toys of all regions" + (", at most" if most > toys else "")

        def told(k: int) -> Progress | None:
            before = k * toys + (regions - 1 - k) * made
            return named(part_of(progress, before, regions * most), words)

        return [maker.first(toys, told(k)) for k, maker in enumerate(self.makers)]

    def is_known(self, made: list[ToyRun], n_map_toys: int, stopping: Stopping) -> bool:
        """Whether the global p-value and that of each region need no more toys.

        Each is judged by the same rule, as if it were alone: which toys another one needs has no part in it.
        """
        if not all(e.is_known(run, n_map_toys, stopping) for e, run in zip(self.evaluations, made, strict=True)):
            return False
        of_data, of_toys, _ = self._combined(made, n_map_toys)
        return stopping.judge(of_data, of_toys) is not None

    def judged(self, made: list[ToyRun], n_map_toys: int, stopping: Stopping | None) -> Judged:
        """What these toys say."""
        statistic, toys, log_p = self._combined(made, n_map_toys)
        converged = np.all([run.converged[:, n_map_toys:].all(axis=0) for run in made], axis=0)
        plan = self.evaluations[0].ladder.first.plan
        tail = fit_tail(toys, rng=rng_of(plan.seed, Stream.CALIBRATION, 2))
        results = tuple(e.result(run, n_map_toys, stopping) for e, run in zip(self.evaluations, made, strict=True))
        return Judged(
            statistic, Null(plan.null, toys, np.asarray(converged), tail=tail), results, log_p, COMBINATION, n_map_toys
        )

    def _combined(self, made: list[ToyRun], n_map_toys: int) -> tuple[float, Array, Array]:
        """The combined statistic of the data and of the toys that are counted, and log p of each region's data."""
        of_toys, of_data, laws = [], [], []
        for evaluation, run in zip(self.evaluations, made, strict=True):
            ladder = evaluation.ladder
            combiner = Combiner.of(ladder, evaluation.kind, run, n_map_toys)
            of_toys.append(combiner.statistic(run.statistics))
            of_data.append(float(combiner.statistic(evaluation.statistics)[0]))
            laws.append(_OF_LOG_P if combiner.combination is not None else ladder.first.analytic_moments())
        toys, data = np.stack(of_toys), np.array(of_data)[:, None]
        combination = Combination.freeze(COMBINATION, laws, toys[:, :n_map_toys])
        return float(combination(data)[0]), combination(toys[:, n_map_toys:]), combination.log_p(data)[:, 0]
