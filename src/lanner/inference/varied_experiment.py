"""An experiment judged by the score where the reference has uncertainties: its toys are made and judged at nu^."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events import Sample
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.experiment import basis_of, candidates_of
from lanner.inference.layout import centers_of
from lanner.inference.plan import Plan
from lanner.inference.resampling import ReferenceScheme, draw_size
from lanner.inference.score_experiment import ScoreExperiment
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.terms import ProfiledCountTerm
from lanner.inference.varied_pool import NuisanceRows, VariedPool
from lanner.inference.varied_sums import EventFeatures
from lanner.model.backend import NUMPY, Arrays
from lanner.model.bunches import Bunches
from lanner.model.splits import Splits
from lanner.model.weightings import Draw
from lanner.typing import Array
from lanner.uncertainties.effects import Effects, Nuisances
from lanner.uncertainties.matching import weights_of
from lanner.uncertainties.profile import Likelihood, Profile, profile
from lanner.uncertainties.toys import VariedReference

_MARGIN = 6.0  # standard deviations of the accepted events of a bunch, by which more bunches are drawn than needed


@dataclass(frozen=True, eq=False)
class VariedPlan:
    """The nuisances of a search, and the values of them that fit its data best."""

    nuisances: Nuisances
    profile: Profile
    auxiliary: Array  # what is known of them from elsewhere: 0 for real data
    effects: Effects | None = None  # on the reference, where they were computed

    @classmethod
    def of(
        cls,
        nuisances: Nuisances,
        plan: Plan,
        reference: Sample,
        data: Sample,
        auxiliary: Array | None = None,
        *,
        effects: Effects | None = None,
    ) -> VariedPlan:
        """Fit the nuisances to the data alone; their effects on the reference may be known already."""
        weights = weights_of(reference)
        effects = nuisances.of(reference.features) if effects is None else effects
        known = np.zeros(len(nuisances)) if auxiliary is None else auxiliary
        likelihood = Likelihood(
            nuisances.of(data.features),
            effects,
            weights * plan.expected / weights.sum(),
            known,
            plan.fixed is not None,
        )
        return cls(nuisances, profile(likelihood), known, effects)

    def __reduce__(self) -> tuple[Any, ...]:
        # Elsewhere the effects are computed anew: they are as many as the reference's events.
        return type(self), (self.nuisances, self.profile, self.auxiliary)

    def reference(self, plan: Plan, reference: Sample) -> VariedReference:
        """The reference at these values."""
        effects = self.nuisances.of(reference.features) if self.effects is None else self.effects
        return reference_at(self.profile.nu, self.nuisances, effects, plan, reference)


def reference_at(nu: Array, nuisances: Nuisances, effects: Effects, plan: Plan, reference: Sample) -> VariedReference:
    """The reference at any values of the nuisances."""
    return VariedReference.at(nuisances, nu, effects, weights_of(reference), rng_of(plan.seed, Stream.ACCEPTED))


@dataclass(frozen=True, eq=False, kw_only=True)
class VariedScheme(ReferenceScheme):
    """Toys at nu^: rows of the reference whose accepted events are a toy's data, each with an auxiliary measurement."""

    counts: NDArray[np.intp]  # accepted events of each row
    first_heavy: int  # the rows of heavy events begin here
    heavy: Array  # v of each of them
    heavy_share: float  # of v of all events
    of_data: Array  # (data sets, K): the auxiliary measurements of the data, less nu^

    def toy(self, i: int) -> Draw:  # noqa: D102
        rng = rng_of(self.seed, Stream.TOYS, i)
        size = draw_size(self.expected, self.fixed, rng)
        split, rows = self._split(i)
        light = int(np.searchsorted(rows, self.first_heavy))
        heavy = rows[light:]
        number = int(min(rng.binomial(size, self.heavy_share), len(heavy)))
        chances = self.heavy[heavy - self.first_heavy]
        one_by_one = rng.choice(heavy, number, replace=False, p=chances / chances.sum()) if number else heavy[:0]
        taken = np.concatenate([self._accepting(rng, rows[:light], size - number), one_by_one])
        auxiliary = rng_of(self.seed, Stream.AUXILIARY, i).standard_normal(self.of_data.shape[1:])
        none = np.empty(0, dtype=np.intp)
        return Draw(len(self.bunches), self.bunches.drawn, taken, none, split, self.counts, auxiliary)

    def _accepting(self, rng: np.random.Generator, rows: NDArray[np.intp], size: int) -> NDArray[np.intp]:
        """Rows in random order, bunches first, that hold so many accepted events together."""
        first_single = int(np.searchsorted(rows, self.bunches.whole))
        whole, single = rows[:first_single], rows[first_single:]
        mean, spread = self._mean_and_spread
        number = size / mean + _MARGIN * (size / mean) ** 0.5 * spread / mean + 5
        if number > len(whole):
            raise InputError(
                f"a toy needs {number:.0f} of {len(whole)} bunches of reference events that could be its data: the "
                "reference is too small for the uncertainties; use a larger one"
            )
        drawn = whole[rng.choice(len(whole), int(number), replace=False)]
        held = np.cumsum(self.counts[drawn])
        last = int(np.searchsorted(held, size, side="right"))
        rest = size - (int(held[last - 1]) if last else 0)
        if rest == 0:
            return drawn[:last]
        singles = rng.permutation(single)
        enough = int(np.searchsorted(np.cumsum(self.counts[singles]), rest))
        return np.concatenate([drawn[:last], singles[: enough + 1]])

    @cached_property
    def _mean_and_spread(self) -> tuple[float, float]:
        counts = self.counts[: self.bunches.whole]
        return float(counts.mean()), float(counts.std())

    def data(self, draw: int) -> Draw:  # noqa: D102
        none, row = np.empty(0, dtype=np.intp), self.data_rows[draw : draw + 1]
        return Draw(len(self.bunches), self.bunches.drawn, row, none, None, self.counts, self.of_data[draw])


def varied_scheme(
    plan: Plan,
    reference: Sample,
    data: Sequence[Sample],
    varied: VariedReference,
    auxiliary: Array,
    *,
    as_one: bool = True,
) -> tuple[VariedScheme, NuisanceRows]:
    """How toys at nu^ are drawn, and what their own fits of the nuisances need of each row.

    Any number of data sets, each with its auxiliary measurement, (data sets, K), can be judged there; or, not
    `as_one`, toys take some of the events beside the reference, a signal's. Where centres are barred from toys, they
    are so here.
    """
    n = len(reference)
    events = rng_of(plan.seed, Stream.BUNCHES).permutation(n)
    heavy = varied.heavy[events]
    bunches = Bunches.dealt(events[~heavy], plan.bunch).with_singles(events[heavy])
    first_heavy = bunches.drawn - int(np.count_nonzero(heavy))
    ends = n + np.cumsum([0, *(len(one) for one in data)])
    beside = [np.arange(a, b) for a, b in pairwise(ends)] if as_one else list(np.arange(n, ends[-1])[:, None])
    bunches = bunches.with_rows(beside, inside=False)
    rows = NuisanceRows.of(bunches, varied, [varied.nuisances.of(one.features) for one in data])
    splits, held_out = None, np.empty(0, dtype=np.intp)
    if plan.centers_barred:
        held_out = bunches.rows_of(centers_of(plan, reference))
    else:
        splits = Splits.of(np.arange(bunches.drawn), held_out, len(bunches), plan.moment_blocks or 1)
    predicted = plan.expected * (1.0 if plan.fixed is not None else varied.growth)
    scheme = VariedScheme(
        bunches=bunches,
        expected=predicted,
        fixed=plan.fixed,
        reference_size=plan.reference_size,
        held_out=held_out,
        seed=plan.seed,
        data_rows=np.arange(bunches.drawn, len(bunches)),
        splits=splits,
        counts=rows.counts,
        first_heavy=first_heavy,
        heavy=varied.varied[events[heavy]],
        heavy_share=float(varied.varied[events[heavy]].sum() / varied.varied.sum()),
        of_data=auxiliary - varied.nu,
    )
    return scheme, rows


@dataclass(frozen=True, eq=False)
class VariedExperiment(ScoreExperiment):
    """Sums over bunches at nu^, and the model that judges them."""

    @classmethod
    def at(
        cls,
        plan: Plan,
        reference: Sample,
        data: Sequence[Sample],
        varied: VariedReference,
        scheme: VariedScheme,
        rows: NuisanceRows,
        *,
        memory: int,
        arrays: Arrays = NUMPY,
        source: EventFeatures | None = None,
        told: Callable[[float], None] | None = None,
    ) -> VariedExperiment:
        """Choose pivots and sum features and moments: the one-off cost, of which the part done is told."""
        events = ScaledRows((reference.features, *(one.features for one in data)), plan.units)
        candidates, centers = candidates_of(plan, reference, events, None)
        basis = basis_of(plan, candidates, memory) if source is None else source.whitened.basis
        assert centers is not None
        pool = VariedPool.at(
            varied,
            rows,
            events,
            basis,
            scheme.bunches,
            expected=plan.expected,
            shape_only=plan.fixed is not None,
            precision=plan.precision,
            memory=memory,
            splits=scheme.splits,
            pivots=centers[basis.chosen],
            arrays=arrays,
            source=None if source is None else replace(source, events=events),
            told=told,
        )
        return cls(plan, scheme, reference, data[0] if data else None, None, pool)

    def data_draws(self, draws: int) -> list[Draw]:  # noqa: D102
        return [self.scheme.data(0)]  # with the whole reference, which leaves nothing to choose

    def count_term(self) -> ProfiledCountTerm:  # noqa: D102
        pool = self.pool
        assert isinstance(pool, VariedPool)
        return count_term(pool.varied, pool.model.expected)


def count_term(varied: VariedReference, predicted: float) -> ProfiledCountTerm:
    """The number of events, of which the nuisances explain a part."""
    v, d = varied.varied, varied.slopes
    first, second = d.T @ v / v.sum(), (d * v[:, None]).T @ d / v.sum()
    explained = float(first @ np.linalg.solve(second + np.eye(len(first)) / predicted, first))
    return ProfiledCountTerm(1.0 - explained)
