"""A ladder: the same experiment at several widths and penalties, its toys drawn once for all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from lanner._util.machine import blas_threads_for
from lanner._util.progress import PREPARING
from lanner.errors import InputError, WeightWarning
from lanner.events import Sample
from lanner.inference.analytic import LawMoments
from lanner.inference.experiment import Experiment, GeneratedToy
from lanner.inference.fit_experiment import FitExperiment
from lanner.inference.plan import EventGenerator, Plan
from lanner.inference.resampling import Scheme
from lanner.inference.score_experiment import KEPT, ScoreExperiment, scheme_of
from lanner.inference.terms import GUMBEL, CountTerm, LocalTerm, ProfiledCountTerm, ReachTerm, Term
from lanner.inference.varied_experiment import VariedExperiment, VariedPlan, varied_scheme
from lanner.inference.varied_fit import VariedFitExperiment
from lanner.inference.varied_pool import VariedTaken
from lanner.model.backend import NUMPY, Arrays, arrays_on
from lanner.model.features import residuals_of
from lanner.model.objective import Solution
from lanner.model.parallel import in_parallel
from lanner.model.taken import Taken
from lanner.model.weightings import DATA, Draw, roles_of
from lanner.typing import Array, Progress, ToysEnded

_TOGETHER = 32  # toys drawn together by a thread
# Toys of fewer events are drawn faster by one thread than by several that wait for the interpreter (measured).
_MANY = 5000
_MOST_BIAS = 0.1  # of toys, in units of N(0)^(1/2), that does no harm


@dataclass(frozen=True, eq=False)
class Recipe:
    """All that a ladder is made of, before any feature is computed: little enough to be sent to where it is needed."""

    plans: tuple[Plan, ...]
    reference: Sample
    data: Sample | None = None
    make_events: EventGenerator | None = None
    device: str = "cpu"
    as_one: bool = True  # whether toys take all of the data or none of them; signals they take some of
    varied: VariedPlan | None = None  # the uncertainties of the reference, if it has some
    scheme: Scheme | None = None  # how toys of the score are drawn, where it is not as ever

    def prepare(self, memory: int, progress: Progress | None = None) -> Ladder:
        """The ladder itself."""
        return Ladder.prepare(
            self.plans,
            self.reference,
            self.data,
            memory=memory,
            make_events=self.make_events,
            arrays=arrays_on(self.device),
            as_one=self.as_one,
            varied=self.varied,
            scheme=self.scheme,
            progress=progress,
        )


@dataclass(frozen=True, eq=False)
class Ladder:
    """Experiments that differ in width and penalty alone. Those of one width share their features.

    Beside several scales stand terms for what none of them can see (`inference/terms.py`).
    """

    scales: tuple[Experiment, ...]
    terms: tuple[Term, ...] = ()

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
        as_one: bool = True,
        varied: VariedPlan | None = None,
        scheme: Scheme | None = None,
        progress: Progress | None = None,
    ) -> Ladder:
        """Prepare every width once: coarse ones, whose features are few, first; the finest takes what is left."""
        if not plans:
            raise InputError("a ladder needs at least one scale")
        prepared: dict[Plan, Experiment] = {}
        left = arrays.budget(memory)
        at_nu = None
        if varied is not None:
            data_sets = [] if data is None else [data]
            at_nu = varied.reference(plans[0], reference)
            known = np.repeat(varied.auxiliary[None], len(data_sets), axis=0)
            of_varied, rows = varied_scheme(plans[0], reference, data_sets, at_nu, known, as_one=as_one)
        elif plans[0].statistic == "score" and scheme is None:
            scheme = scheme_of(plans[0], reference, data, as_one=as_one)
        by_width = sorted(plans, key=lambda p: (-p.width, p.penalty))
        widths = len({p.width for p in plans})
        for k, (_, group) in enumerate(groupby(by_width, key=lambda p: p.width)):
            told = _part_told(progress, k, widths)
            told(0.0)
            # The smallest penalty needs the most of the kernel, so its features serve the others too.
            least, *others = group
            first: Experiment
            if at_nu is not None:
                parts = (at_nu, of_varied, rows)
                if least.statistic == "score":
                    first = VariedExperiment.at(
                        least, reference, data_sets, *parts, memory=left, arrays=arrays, told=told
                    )
                else:
                    assert data is not None
                    first = VariedFitExperiment.at(least, reference, data, *parts, memory=left, arrays=arrays)
            elif scheme is None:
                first = FitExperiment.prepare(
                    least, reference, data, memory=left, make_events=make_events, arrays=arrays
                )
            else:
                first = ScoreExperiment.prepare(
                    least,
                    reference,
                    data,
                    memory=left,
                    make_events=make_events,
                    arrays=arrays,
                    scheme=scheme,
                    told=told,
                )
            left -= first.held
            prepared[least] = first
            for plan in others:
                prepared[plan] = first.at_penalty(plan)
            told(1.0)
        scales = tuple(prepared[plan] for plan in plans)
        _check_toys(scales)
        return cls(scales, terms_of(scales) if len(scales) > 1 else ())

    @property
    def first(self) -> Experiment:
        """Any of the experiments, for what they share: events, scheme, sizes."""
        return self.scales[0]

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plan of each scale."""
        return tuple(e.plan for e in self.scales)

    def laws(self) -> list[LawMoments | None]:
        """What is known of each scale's and term's null beforehand; None: it is minus the logarithm of a p-value."""
        terms = [GUMBEL if isinstance(term, LocalTerm) else None for term in self.terms]
        return [*(e.analytic_moments() for e in self.scales), *terms]

    def votes(self) -> list[float]:
        """How much each scale and term counts in a combination.

        Where two samples are relabelled they are of similar size, and single places seldom decide: those of all widths
        have one vote together. (In 2-D, with 1000 events each, bumps are then found in 31.8 instead of 29.8 % of pairs,
        and in azimuths of HIGGS, 2000 each, the difference in 81.3 instead of 79.3 %; `benchmarks/rivals.py`.)
        """
        widths = len({p.width for p in self.plans})
        local = 1 / widths if self.first.plan.null == "permutation" else 1.0
        return [1.0] * len(self.scales) + [local if isinstance(term, LocalTerm) else 1.0 for term in self.terms]

    def batch_size(self, toys: int) -> int:
        """How many toys to fit together within the memory budget."""
        return min(e.batch_size(toys) for e in self.scales)

    def fit_toys(self, toys: Sequence[int], progress: ToysEnded | None = None) -> list[Solution]:
        """Null toys by their numbers, at every scale."""
        if self.first.make_events is None:
            # Of several scales nobody asks for the toys' coefficients.
            return self.fit(self._draws(toys), progress, kept=KEPT if len(self.scales) == 1 else 0)
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

    def _by_width(self) -> list[list[Experiment]]:
        """Neighbouring scales that share their features."""
        return [list(scales) for _, scales in groupby(self.scales, key=lambda e: e.plan.width)]

    def _fit_generated(self, toy: GeneratedToy) -> list[Solution]:
        """A generated toy at every scale, and its terms."""
        found: list[Solution] = []
        is_data = toy.weightings.roles[:, 0] == DATA
        reach: dict[float, float] = {}
        local: dict[float, Array | None] = {}
        for scales in self._by_width():
            first = scales[0]
            features = first.features_of(toy)
            if self.terms:
                reach[first.plan.width] = float(residuals_of(features)[is_data].sum())
            if isinstance(first, ScoreExperiment):
                rotated = first.rotated(features, toy)
                local[first.plan.width] = rotated.local
                found += [e.score(rotated) for e in scales if isinstance(e, ScoreExperiment)]
            else:
                found += [e.fit_generated(toy, features=features) for e in scales if isinstance(e, FitExperiment)]
        for term in self.terms:
            if isinstance(term, LocalTerm):
                found.append(_as_solution(self._term(term, (), local, None)))
                continue
            assert not isinstance(term, ProfiledCountTerm)  # a generator has no uncertainties
            value = np.count_nonzero(is_data) if isinstance(term, CountTerm) else reach[term.width]
            found.append(_as_solution(-term.log_p(np.array([value]))))
        return found

    def reach(self) -> tuple[ReachTerm, ...]:
        """How far the centres reach, at each width; also of a single scale, whose statistic has no part in it."""
        return tuple(t for t in self.terms if isinstance(t, ReachTerm)) or (self.first.reach(),)

    def data_by_split(self) -> Array:
        """The data's statistics by each split of the reference alone, (splits, scales and terms)."""
        draws = self.first.data_draws(1)
        found, local, taken = [], {}, None
        for scales in self._by_width():
            first = scales[0]
            assert isinstance(first, ScoreExperiment)
            taken = first.pool.taken(draws)
            rotated = first.pool.differences(taken)
            local[first.plan.width] = rotated.local
            found += [e.score_by_split(rotated)[:, 0] for e in scales if isinstance(e, ScoreExperiment)]
        found += [np.repeat(self._term(term, draws, local, taken), len(found[0])) for term in self.terms]
        return np.stack(found, axis=1)

    def fit_data(self, draws: int) -> list[Solution]:
        """The data with several draws of the reference, at every scale."""
        return self.fit(self.first.data_draws(draws))

    def fit(self, draws: Sequence[Draw], progress: ToysEnded | None = None, *, kept: int = KEPT) -> list[Solution]:
        """What the draws take from the pool, at every scale; of scores, coefficients of the first `kept` draws."""
        told = _Shared(progress, len(self.scales))
        roles, taken = None, None
        local: dict[float, Array | None] = {}
        found = []
        for scales in self._by_width():
            first = scales[0]
            if isinstance(first, ScoreExperiment):
                taken = first.pool.taken(draws) if taken is None else taken
                with blas_threads_for(first.basis.rank):
                    rotated = first.pool.differences(taken)
                    local[first.plan.width] = rotated.local
                    found += [e.score(rotated, told, kept=kept) for e in scales if isinstance(e, ScoreExperiment)]
            elif isinstance(first, VariedFitExperiment):
                roles = first.roles(draws) if roles is None else roles
                taken = first.taken(draws) if taken is None and self.terms else taken
                found += [e.fit_roles(roles, draws, told) for e in scales if isinstance(e, VariedFitExperiment)]
            else:
                roles = roles_of(draws) if roles is None else roles
                found += [e.fit_roles(roles, told) for e in scales if isinstance(e, FitExperiment)]
        return found + [_as_solution(self._term(term, draws, local, taken)) for term in self.terms]

    def _term(
        self, term: Term, draws: Sequence[Draw], local: Mapping[float, Array | None], taken: Taken | None
    ) -> Array:
        """Minus the logarithm of a term's p-value for each draw; `local` has the largest excess at each width."""
        if isinstance(term, LocalTerm):
            largest = local[term.width]
            assert largest is not None
            return largest
        if isinstance(term, ProfiledCountTerm):
            assert isinstance(taken, VariedTaken)
            return -term.log_p(taken.number, taken.predicted)
        values = term.numbers(draws) if isinstance(term, CountTerm) else term.totals(draws)
        return -term.log_p(values)


def terms_of(scales: Sequence[Experiment]) -> tuple[Term, ...]:
    """What the scales cannot see: the number of events, where it is tested; at each width single places, and reach."""
    plan = scales[0].plan
    counted: tuple[Term, ...] = () if plan.fixed is not None else (scales[0].count_term(),)
    by_width = {scale.plan.width: scale for scale in scales}
    local = [LocalTerm(width) for width in by_width] if plan.statistic == "score" else []
    return (*counted, *local, *(scale.reach() for scale in by_width.values()))


def _check_toys(scales: Sequence[Experiment]) -> None:
    """Warn where toys do not follow weights of either sign as well as the data's statistics ask for."""
    bias = max((scale.pool.toy_bias() for scale in scales if isinstance(scale, ScoreExperiment)), default=0.0)
    if bias > _MOST_BIAS:
        warnings.warn(
            f"toys, drawn by the local mean of weights of either sign, are off these by {bias:.2g} standard deviations "
            f"of the data in some direction, where at most {_MOST_BIAS:g} does no harm: use more reference events",
            WeightWarning,
            stacklevel=2,
        )


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


def _part_told(progress: Progress | None, part: int, parts: int) -> Callable[[float], None]:
    """Tells how much of one width is prepared, as a part of all of them."""

    def tell(done: float) -> None:
        if progress is not None:
            progress(f"{PREPARING} scale {part + 1} of {parts}", round(100 * (part + done)), 100 * parts)

    return tell


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
