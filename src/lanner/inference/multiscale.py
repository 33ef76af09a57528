"""A ladder: the same experiment at several widths and penalties, its toys drawn once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from lanner.errors import InputError
from lanner.events import Sample
from lanner.inference.experiment import Experiment, GeneratedToy
from lanner.inference.plan import EventGenerator, Plan
from lanner.inference.resampling import ReferenceScheme
from lanner.inference.terms import CountTerm, ReachTerm
from lanner.model.backend import NUMPY, Arrays, arrays_on
from lanner.model.features import residuals_of
from lanner.model.objective import Solution
from lanner.model.parallel import in_parallel
from lanner.model.score import Rotated
from lanner.model.weightings import DATA, Draw, roles_of
from lanner.typing import Array, ToysEnded

_TOGETHER = 32  # toys drawn together by a thread
# Toys of fewer events are drawn faster by one thread than by several that wait for the interpreter (measured).
_MANY = 5000


@dataclass(frozen=True, eq=False)
class Recipe:
    """All that a ladder is made of, before any feature is computed: little enough to be sent to where it is needed."""

    plans: tuple[Plan, ...]
    reference: Sample
    data: Sample | None = None
    make_events: EventGenerator | None = None
    device: str = "cpu"

    def prepare(self, memory: int) -> Ladder:
        """The ladder itself."""
        return Ladder.prepare(
            self.plans,
            self.reference,
            self.data,
            memory=memory,
            make_events=self.make_events,
            arrays=arrays_on(self.device),
        )


@dataclass(frozen=True, eq=False)
class Ladder:
    """Experiments that differ in width and penalty alone. Those of one width share their features.

    Beside several scales stand terms for what none of them can see (`inference/terms.py`).
    """

    scales: tuple[Experiment, ...]
    terms: tuple[CountTerm | ReachTerm, ...] = ()

    @classmethod
    def prepare(
        cls,
        plans: Sequence[Plan],
        reference: Sample,
        data: Sample | None,
        *,
        memory: int,
        make_events: EventGenerator | None = None,
        arrays: Arrays = NUMPY,
    ) -> Ladder:
        """Prepare every width once: coarse ones, whose features are few, first; the finest takes what is left."""
        if not plans:
            raise InputError("a ladder needs at least one scale")
        prepared: dict[Plan, Experiment] = {}
        left = arrays.budget(memory)
        by_width = sorted(plans, key=lambda p: (-p.width, p.penalty))
        for _, group in groupby(by_width, key=lambda p: p.width):
            # The smallest penalty needs the most of the kernel, so its features serve the others too.
            least, *others = group
            first = Experiment.prepare(least, reference, data, memory=left, make_events=make_events, arrays=arrays)
            left -= first.pool.held
            prepared[least] = first
            for plan in others:
                prepared[plan] = first.at_penalty(plan)
        scales = tuple(prepared[plan] for plan in plans)
        return cls(scales, terms_of(scales) if len(scales) > 1 else ())

    @property
    def first(self) -> Experiment:
        """Any of the experiments, for what they share: events, scheme, sizes."""
        return self.scales[0]

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plan of each scale."""
        return tuple(e.plan for e in self.scales)

    def batch_size(self, toys: int) -> int:
        """How many toys to fit together within the memory budget."""
        return min(e.batch_size(toys) for e in self.scales)

    def fit_toys(self, toys: Sequence[int], progress: ToysEnded | None = None) -> list[Solution]:
        """Null toys by their numbers, at every scale."""
        if self.first.make_events is None:
            return self.fit(self._draws(toys), progress)
        made = []
        for i in toys:
            toy = self.first.generate(i)
            made.append(self._fit_generated(toy))
            if progress is not None:
                progress(1)
        return [Solution.joined([toy[k] for toy in made]) for k in range(len(self.scales) + len(self.terms))]

    def _draws(self, toys: Sequence[int]) -> list[Draw]:
        toy = self.first.scheme.toy
        if self.first.plan.expected < _MANY:
            return [toy(i) for i in toys]
        return in_parallel(toy, toys, together=_TOGETHER)

    def _by_pool(self) -> list[list[Experiment]]:
        """Neighbouring scales that share their features."""
        return [list(scales) for _, scales in groupby(self.scales, key=lambda e: id(e.pool.features))]

    def _fit_generated(self, toy: GeneratedToy) -> list[Solution]:
        """A generated toy at every scale, and its terms."""
        found: list[Solution] = []
        is_data = toy.weightings.roles[:, 0] == DATA
        reach = {}
        for scales in self._by_pool():
            first = scales[0]
            features = first.features_of(toy)
            if self.terms:
                reach[first.plan.width] = float(residuals_of(features)[is_data].sum())
            if first.plan.statistic == "score":
                rotated = first.rotated(features, toy)
                found += [e.score(rotated) for e in scales]
            else:
                found += [e.fit_generated(toy, features=features) for e in scales]
        for term in self.terms:
            value = np.count_nonzero(is_data) if isinstance(term, CountTerm) else reach[term.width]
            found.append(_as_solution(-term.log_p(np.array([value]))))
        return found

    def reach(self) -> tuple[ReachTerm, ...]:
        """How far the centres reach, at each width; also of a single scale, whose statistic has no part in it."""
        return tuple(t for t in self.terms if isinstance(t, ReachTerm)) or (reach_of(self.first),)

    def data_by_split(self) -> Array:
        """The data's statistics by each split of the reference alone, (splits, scales and terms)."""
        draws, rotated, found = self.first.data_draws(1), {}, []
        for scale in self.scales:
            if id(scale.pool) not in rotated:
                rotated = {id(scale.pool): scale.pool.differences(draws)}
            found.append(scale.score_by_split(rotated[id(scale.pool)])[:, 0])
        found += [np.repeat(self._term(term, draws), len(found[0])) for term in self.terms]
        return np.stack(found, axis=1)

    def fit_data(self, draws: int) -> list[Solution]:
        """The data with several draws of the reference, at every scale."""
        return self.fit(self.first.data_draws(draws))

    def fit(self, draws: Sequence[Draw], progress: ToysEnded | None = None) -> list[Solution]:
        """What the draws take from the pool, at every scale."""
        told = _Shared(progress, len(self.scales))
        rotated: dict[int, Rotated] = {}
        roles = None
        found = []
        for scale in self.scales:
            if scale.plan.statistic == "score":
                pool = id(scale.pool)
                if pool not in rotated:
                    rotated = {pool: scale.pool.differences(draws)}
                found.append(scale.score(rotated[pool], told))
            else:
                if roles is None:
                    roles = roles_of(draws)
                found.append(scale.fit_roles(roles, told))
        return found + [_as_solution(self._term(term, draws)) for term in self.terms]

    def _term(self, term: CountTerm | ReachTerm, draws: Sequence[Draw]) -> Array:
        """Minus the logarithm of a term's p-value for each draw."""
        values = np.array([len(d.data) for d in draws]) if isinstance(term, CountTerm) else term.totals(draws)
        return -term.log_p(values)


def terms_of(scales: Sequence[Experiment]) -> tuple[CountTerm | ReachTerm, ...]:
    """What the scales cannot see: the number of events, where it is tested, and those out of reach at each width."""
    plan = scales[0].plan
    counted = () if plan.fixed is not None else (CountTerm(plan.expected),)
    by_width = {scale.plan.width: scale for scale in scales}
    return (*counted, *(reach_of(scale) for scale in by_width.values()))


def reach_of(scale: Experiment) -> ReachTerm:
    """How far the centres of a scale reach."""
    pool, null = scale.pool, np.arange(scale.pool.null_rows)
    if isinstance(scale.scheme, ReferenceScheme):  # whose centres are never a toy's data
        null = np.setdiff1d(null, scale.scheme.held_out, assume_unique=True)
    return ReachTerm.of(scale.plan.width, pool.residuals, null, pool.weights, scale.plan.expected)


def _as_solution(statistic: Array) -> Solution:
    """A statistic that no fit belongs to."""
    number = len(statistic)
    return Solution(
        np.empty((0, number)),
        statistic,
        np.ones(number, dtype=bool),
        np.zeros(number, dtype=np.int64),
        np.zeros(number),
    )


class _Shared:
    """Progress of fits at several scales, in toys: a scale's fit is a part of one."""

    def __init__(self, progress: ToysEnded | None, scales: int) -> None:
        self._progress, self._scales, self._parts, self._told = progress, scales, 0, 0

    def __call__(self, number: int) -> None:
        self._parts += number
        whole = self._parts // self._scales
        if self._progress is not None and whole > self._told:
            self._progress(whole - self._told)
            self._told = whole
