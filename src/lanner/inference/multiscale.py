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
from lanner.model.backend import NUMPY, Arrays, arrays_on
from lanner.model.objective import Solution
from lanner.model.parallel import in_parallel
from lanner.model.score import weighted_difference
from lanner.model.weightings import Draw, roles_of
from lanner.typing import ToysEnded

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
    """Experiments that differ in width and penalty alone. Those of one width share their features."""

    scales: tuple[Experiment, ...]

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
        return cls(tuple(prepared[plan] for plan in plans))

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
            made.append([s for scales in self._by_pool() for s in self._fit_generated(toy, scales)])
            if progress is not None:
                progress(1)
        return [Solution.joined([toy[k] for toy in made]) for k in range(len(self.scales))]

    def _draws(self, toys: Sequence[int]) -> list[Draw]:
        toy = self.first.scheme.toy
        if self.first.plan.expected < _MANY:
            return [toy(i) for i in toys]
        return in_parallel(toy, toys, together=_TOGETHER)

    def _by_pool(self) -> list[list[Experiment]]:
        """Neighbouring scales that share their features."""
        return [list(scales) for _, scales in groupby(self.scales, key=lambda e: id(e.pool.features))]

    def _fit_generated(self, toy: GeneratedToy, scales: Sequence[Experiment]) -> list[Solution]:
        first = scales[0]
        features = first.features_of(toy)
        if first.plan.statistic == "score":
            rotated = first.pool.score.rotate(weighted_difference(features, toy.weightings))
            return [e.score(rotated) for e in scales]
        return [e.fit_generated(toy, features=features) for e in scales]

    def fit_data(self, draws: int) -> list[Solution]:
        """The data with several draws of the reference, at every scale."""
        return self.fit(self.first.data_draws(draws))

    def fit(self, draws: Sequence[Draw], progress: ToysEnded | None = None) -> list[Solution]:
        """What the draws take from the pool, at every scale."""
        told = _Shared(progress, len(self.scales))
        rotated: dict[int, np.ndarray] = {}
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
        return found


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
