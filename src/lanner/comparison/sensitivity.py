"""`Sensitivity`: what a search whose data nobody has looked at may find, from toys of the reference alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from lanner._util.progress import named
from lanner._util.text import text_table
from lanner.comparison.departures import Added, DeparturePool, ShiftedToys
from lanner.comparison.strengths import Strength, judged, largest_z
from lanner.comparison.table import chance, spread_of_z
from lanner.inference.multiscale import Ladder
from lanner.inference.null import Null
from lanner.inference.resampling import ReferenceScheme
from lanner.model.weightings import Draw
from lanner.run.evaluate import Combiner
from lanner.run.prepare import Job
from lanner.typing import Array, Progress

LEVELS = (2.0, 3.0)
EXPERIMENTS, OF_FITS = 40, 20  # toy data sets of each departure
_BYTES = 4  # of a feature
_TOGETHER = 10  # toys that are judged between two reports of progress
_LAWS = {"analytic": "the analytic null", "tail": "the tail fitted to the toys", "empirical": "the toys alone"}


@dataclass(frozen=True, eq=False)
class Found:
    """What toys with a departure reach."""

    name: str
    words: str
    strength: Strength

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        z = self.strength
        return {
            "name": self.name,
            "words": self.words,
            "experiments": len(z.statistics),
            "z_16_50_84": list(z.band()),
            "probability": {f"{level:g} sigma": z.probability(level) for level in LEVELS},
        }


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """The combined statistic where the data follow the reference, and where they depart from it in standard ways.

    Parameters
    ----------
    null : Null
        The null toys that are counted, and the laws beside them.
    found : tuple of Found
        For each departure its `name`, `words` that say what it is, and the `strength` that toys with it reach:
        `band()`, `probability(level)`.
    unmoved : tuple of str
        Features of which no shift was made, because they are whole numbers or have a single value.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> reference = np.random.default_rng(1).exponential(size=(4000, 1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     blind = lanner.blind_search(reference, expected=200, output=folder, toys=90, seed=1)
    >>> blind.sensitivity.threshold(1) < blind.sensitivity.threshold(1.5)
    True
    """

    null: Null
    found: tuple[Found, ...]
    unmoved: tuple[str, ...] = ()

    @property
    def law(self) -> str:
        """What Z is judged by, in words."""
        return _LAWS[self.found[0].strength.best] if self.found else _LAWS["empirical"]

    @property
    def most(self) -> float:
        """The largest Z that this law can show."""
        return largest_z(self.null, self.found[0].strength.best) if self.found else float("inf")

    @property
    def experiments(self) -> str:
        """How many toy data sets each departure has, in words."""
        numbers = sorted({len(one.strength.statistics) for one in self.found})
        return " or ".join(map(str, numbers))

    def threshold(self, level: float) -> float | None:
        """Return the statistic from which data have so many standard deviations.

        Parameters
        ----------
        level : float
            Standard deviations, one-sided.

        Returns
        -------
        float or None
            The statistic; None where neither toys nor a law reach that far.
        """
        return threshold(self.null, level)

    def rows(self) -> list[dict[str, str]]:
        """Return the table of departures, in words.

        Returns
        -------
        list of dict
            A row for each departure.
        """
        rows = []
        for one in self.found:
            z = one.strength
            row = {"departure": one.name, "median Z (16 %, 84 %)": spread_of_z(z.band(), self.most)}
            rows.append(row | {f"P({x:g} sigma)": chance(z.probability(x), x, self.most) for x in LEVELS})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the sensitivity as plain JSON.

        Returns
        -------
        dict
            The null toys, the thresholds and every departure.
        """
        t = self.null.statistics
        return {
            "null_toys": len(self.null),
            "null_statistics": [float(x) if np.isfinite(x) else None for x in t],
            "law": self.law,
            "largest_z": None if np.isinf(self.most) else self.most,
            "thresholds": {f"{level:g} sigma": self.threshold(level) for level in LEVELS},
            "departures": [one.to_dict() for one in self.found],
            "features_not_shifted": list(self.unmoved),
        }

    def lines(self) -> Iterator[str]:
        """Yield what `print` shows, line by line.

        Yields
        ------
        str
            A line.
        """
        there = ((level, self.threshold(level)) for level in LEVELS)
        words = [f"{level:g} sigma from {at:.4g}" for level, at in there if at is not None]
        yield f"{len(self.null)} null toys are counted; {' and '.join(words) or 'too few for 2 sigma'} of the statistic"
        yield f"What would be found of standard departures ({self.experiments} toy data sets each; Z by {self.law}):"
        yield ""
        rows = self.rows()
        yield text_table([list(rows[0]), *(list(row.values()) for row in rows)]) if rows else ""
        yield ""
        yield from (f"{one.name}: {one.words}" for one in self.found)
        if self.unmoved:
            yield f"not shifted, whole numbers or a single value: {', '.join(self.unmoved)}"

    def __str__(self) -> str:
        return "\n".join(self.lines())


def threshold(null: Null, level: float) -> float | None:
    """The statistic from which Z is so large: by the analytic null, the fitted tail where that begins, or the toys."""
    p = float(stats.norm.sf(level))
    if null.analytic is not None:
        return float(null.analytic.isf(p))
    tail = null.trusted_tail
    if tail is not None and p < tail.share:
        depth = np.log(tail.share / p)
        excess = depth if tail.shape == 0 else np.expm1(tail.shape * depth) / tail.shape
        found = float(tail.threshold + tail.scale * excess)
        return found if found <= tail.limit else None
    # With the k highest toys at least as high, p = (k + 1) / (n + 1).
    k = int(np.floor(p * (len(null) + 1))) - 1
    highest = np.sort(null.statistics)[::-1]
    return float(highest[k - 1]) if k >= 1 else None


def experiments_of(job: Job) -> int:
    """Toy data sets of each departure."""
    return EXPERIMENTS if job.plans[0].statistic == "score" else OF_FITS


def room_of(job: Job) -> int:
    """Rows beside the reference whose features take a quarter of the memory, at all widths together."""
    widths = len({plan.width for plan in job.plans})
    return int(job.memory / 4 / (widths * _BYTES * job.plans[0].chosen_max_rank))


def measure(
    job: Job,
    departures: Iterator[DeparturePool],
    combiner: Combiner,
    null: Null,
    *,
    progress: Progress | None = None,
) -> tuple[Found, ...]:
    """Judge toys of every departure as the data will be judged."""
    found: list[Found] = []
    for pool in departures:
        recipe = replace(job.recipe, data=pool.events, as_one=False, scheme=pool.scheme if pool.is_dealt else None)
        ladder = recipe.prepare(job.memory, named(progress, "preparing departures"))
        found += _judged(pool, ladder, job, combiner, null, progress)
    return tuple(found)


def _judged(
    pool: DeparturePool, ladder: Ladder, job: Job, combiner: Combiner, null: Null, progress: Progress | None
) -> Iterator[Found]:
    scheme, expected = ladder.first.scheme, job.plans[0].expected
    assert isinstance(scheme, ReferenceScheme)
    numbers = [pool.moved_toys if isinstance(one, ShiftedToys) else experiments_of(job) for one in pool.departures]
    work = _Work(progress, sum(numbers))
    for one, number in zip(pool.departures, numbers, strict=True):
        t = _statistics(ladder, combiner, [one.draw(scheme, i) for i in range(number)], work)
        mean = one.mean if isinstance(one, Added) else expected
        yield Found(one.name, one.words, judged(mean, t, null))


class _Work:
    """Counts toys of departures for a progress bar."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self, number: int) -> None:
        self._done += number
        if self._progress is not None:
            self._progress("toys with departures", min(self._done, self._total), self._total)


def _statistics(ladder: Ladder, combiner: Combiner, draws: Sequence[Draw], told: _Work) -> Array:
    parts = []
    for first in range(0, len(draws), _TOGETHER):
        some = draws[first : first + _TOGETHER]
        parts.append(np.stack([fit.statistic for fit in ladder.fit(some)]))
        told(len(some))
    return combiner.statistic(np.hstack(parts))
