"""Ideal tests, which know the signal: the likelihood ratio of two known densities, or a classifier's estimate of it.

    t = 2 sum_data log(1 + S p_signal / (N(0) p_reference))

up to a constant: of all tests of one signal at one strength the most powerful.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.machine import threads_if
from lanner.comparison.protocol import OneByOne, Prepared
from lanner.comparison.toy_pool import ToyPool
from lanner.comparison.trees import boosted_trees, many
from lanner.errors import InputError
from lanner.events import Sample
from lanner.model.weightings import Draw
from lanner.run.fingerprint import array_digest
from lanner.typing import Array, Progress

_SOME = 1000  # events on which one known ratio is told from another
# Of the trees' leaves. Without it a leaf that holds one kind of events alone can send the odds to e^90 in a few rounds,
# and a single such event in the reference then rules all toys.
_SHRINKAGE = 1.0


@dataclass(frozen=True)
class KnownRatio:
    """The likelihood ratio of a known alternative: `log_ratio` of events as the user has them, not scaled."""

    log_ratio: Callable[[Array], Array] = field(hash=False)
    name: str = "ideal"

    def settings(self, pool: ToyPool) -> dict[str, Any]:  # noqa: D102
        # A function has no digest; what it makes of some events has.
        return {"values": array_digest(np.asarray(self.log_ratio(pool.reference.features[:_SOME])))}

    def prepare(  # noqa: D102
        self, pool: ToyPool, folder: Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        return _Summed(np.concatenate([np.asarray(self.log_ratio(s.features)) for s in pool.samples]))


@dataclass(frozen=True)
class Supervised:
    """The same with the ratio learned by boosted trees from the signal itself: what a dedicated search would do.

    Each event is judged by trees that have not seen it.
    """

    signal_events: float
    alone: bool = False  # the signal is a model of all data
    rows: tuple[int, int] | None = None  # of the events beside the reference that are the signal's; None: all
    folds: int = 4
    name: str = "supervised"

    def settings(self, pool: ToyPool) -> dict[str, Any]:  # noqa: D102
        first, last = self._rows(pool)
        learned = array_digest(self._signal(pool).features[first:last])
        trained = {"folds": self.folds, "shrinkage": _SHRINKAGE, "signal": learned}
        return {"signal_events": self.signal_events, "alone": self.alone} | trained

    def prepare(  # noqa: D102
        self, pool: ToyPool, folder: Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        from sklearn.model_selection import StratifiedKFold

        reference = len(pool.reference)
        first, last = self._rows(pool)
        if last - first < 10 * self.folds:
            raise InputError(f"the signal has {last - first} events, too few to learn from: give {10 * self.folds}")
        used = np.concatenate([np.arange(reference), np.arange(reference + first, reference + last)])
        labels = np.repeat([0, 1], [reference, last - first])
        ratio = np.ones(len(pool.events))
        for train, judge in StratifiedKFold(self.folds, shuffle=True, random_state=0).split(used, labels):
            trees = boosted_trees(early_stopping=True, l2_regularization=_SHRINKAGE, random_state=0)
            with threads_if(many(len(train))):
                trees.fit(pool.events[used[train]], labels[train])
                # Odds are density ratios once the numbers of events are taken out.
                odds = np.exp(trees.decision_function(pool.events[used[judge]]))
            ratio[used[judge]] = odds * reference / (last - first)
        share = self.signal_events / pool.plan.expected
        return _Summed(np.log(share * ratio if self.alone else 1 + share * ratio))

    def _rows(self, pool: ToyPool) -> tuple[int, int]:
        return self.rows or (0, len(self._signal(pool)))

    def _signal(self, pool: ToyPool) -> Sample:
        if pool.other is None:
            raise InputError("a supervised test learns from a signal: give one")
        return pool.other


@dataclass(frozen=True, eq=False)
class _Summed(OneByOne):
    """Twice the sum of something over the data."""

    values: Array

    def statistic(self, draw: Draw) -> float:
        return 2 * float(self.values[draw.data].sum())
