"""Standard departures from a reference, made of its own events: what a search that nobody has looked into may find.

Each is of such a size that a test which knew what to look for would see it with `SIZE` standard deviations, so that
what a search finds of it tells the price of not knowing:

- more and fewer events of the reference's own kind: SIZE N^(1/2) of them, N = N(0);
- a cluster: in the part of the reference that is nearest to one of its events, where b events are expected, SIZE
  b^(1/2) more, drawn from the reference's events there; which event it is differs from toy to toy;
- a shift of one feature, in every event, by SIZE / N^(1/2) of its spread, so by SIZE standard errors of its mean.

Toys of a shift take the same events as null toys, moved, and their reference has none of them. (Of a null toy a centre
counts as if it were none; its moved copy does not, which is seen at the finest widths alone, in a few toys.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lanner.comparison.varied_toys import with_room_for
from lanner.events import Sample
from lanner.events.planning import planning_rows
from lanner.inference.layout import dealt_scheme
from lanner.inference.plan import Plan
from lanner.inference.resampling import ReferenceScheme
from lanner.inference.score_experiment import scheme_of
from lanner.inference.seeds import Stream, rng_of
from lanner.model.weightings import Draw
from lanner.typing import Array

SIZE = 5.0  # standard deviations
_LEAST_SHARE, _MOST_SHARE, _LEAST_EVENTS = 0.01, 0.25, 5.0  # of the reference, and expected, where a cluster is
_PLACES = 5  # events of the reference around which there are clusters
_SEARCHED = 200_000  # reference events among which the nearest ones are looked for
_SHIFTED, _LEAST_SHIFTED = 3, 20  # number of the shifts among the departures, and toys of each at least
_FAR = 10**9  # between the numbers of toys of one departure and those of another, and of the null
_ONE_SIGMA = (0.158655, 0.841345)


class Departure(Protocol):
    """Toys of one departure."""

    @property
    def name(self) -> str:
        """A short name."""

    @property
    def words(self) -> str:
        """What it is, in a sentence."""

    def draw(self, scheme: ReferenceScheme, i: int) -> Draw:
        """What toy i takes from a pool that has the events of the departure beside the reference."""


@dataclass(frozen=True)
class Count:
    """Another number of events."""

    name: str
    words: str
    expected: float
    number: int  # among the departures, for random numbers of its own

    def draw(self, scheme: ReferenceScheme, i: int) -> Draw:
        """What toy i takes from a pool."""
        return with_room_for(scheme, self.expected).toy(_FAR * self.number + i)


@dataclass(frozen=True, eq=False)
class Added:
    """Events beside those of the reference: of one place for each toy, or a signal that is a model of all data."""

    name: str
    words: str
    mean: float
    events: Array
    places: tuple[range, ...]  # of the events
    alone: bool = False
    before: int = 0  # events in the pool before these

    def draw(self, scheme: ReferenceScheme, i: int) -> Draw:
        """What toy i takes from a pool."""
        place = self.places[i % len(self.places)]
        first = scheme.bunches.total + self.before
        rows = range(first + place.start, first + place.stop)
        return scheme.with_signal(i, self.mean, alone=self.alone, rows=rows)


@dataclass(frozen=True, eq=False)
class Shift:
    """One feature moved, in every event."""

    name: str
    words: str
    column: int
    by: float
    absent: tuple[float, ...] = ()  # values that stand for none, which stay

    def moved(self, events: Array) -> Array:
        """The events with that feature moved."""
        found = events.copy()
        there = ~np.isin(found[:, self.column], self.absent)
        found[there, self.column] += self.by
        return found


@dataclass(frozen=True, eq=False)
class ShiftedToys:
    """Null toys whose data are moved: their rows, in the reference and, moved, beside it."""

    name: str
    words: str
    rows: NDArray[np.intp]  # of the reference, in rising order
    first: int  # of the rows beside the reference that are those, moved

    def draw(self, scheme: ReferenceScheme, i: int) -> Draw:
        """What toy i takes from a pool."""
        toy = scheme.toy(_FAR * _SHIFTED + i)
        moved = scheme.data_rows[self.first + np.searchsorted(self.rows, toy.data)]
        return replace(toy, data=moved, left_out=np.concatenate([toy.left_out, toy.data]))


@dataclass(frozen=True, eq=False)
class Standard:
    """The standard departures of a plan."""

    plan: Plan
    reference: Sample
    counts: tuple[Count, ...] = ()
    clusters: tuple[Added, ...] = ()
    shifts: tuple[Shift, ...] = ()
    unmoved: tuple[str, ...] = field(default=())  # features of whole numbers, and those with a single value

    @classmethod
    def of(cls, plan: Plan, reference: Sample) -> Standard:
        """What they are follows from the reference and the plan alone."""
        shifts, unmoved = _shifts(plan, reference)
        return cls(plan, reference, _counts(plan), (_cluster(plan, reference),), shifts, unmoved)


def signals(sample: Sample, means: Sequence[float], *, alone: bool) -> tuple[Added, ...]:
    """A signal at several strengths."""
    kind = "alone" if alone else "beside the reference"
    return tuple(
        Added(
            f"signal, {mean:g} events",
            f"{mean:g} events of the signal on average, {kind}",
            float(mean),
            sample.features,
            (range(len(sample)),),
            alone,
        )
        for mean in means
    )


@dataclass(frozen=True, eq=False)
class DeparturePool:
    """Departures whose toys take from one pool: their events, beside the reference, and how toys take them."""

    events: Sample
    scheme: ReferenceScheme
    departures: tuple[Departure, ...]
    moved_toys: int  # of each shift

    @property
    def is_dealt(self) -> bool:
        """Whether events are dealt into bunches, whose sums do not feel what else is in the pool."""
        return not self.scheme.bunches.are_events

    @classmethod
    def of(
        cls,
        plan: Plan,
        reference: Sample,
        counts: Sequence[Count],
        added: Sequence[Added],
        shifts: Sequence[Shift],
        experiments: int,
    ) -> DeparturePool:
        """Events that are added come first, one a row, and then, shift by shift, the rows that toys move."""
        plain = _scheme(plan, reference, None)
        draws = [plain.toy(_FAR * _SHIFTED + i).data for i in range(experiments)]
        rows = np.unique(np.concatenate(draws)) if shifts else np.empty(0, dtype=np.intp)
        parts: list[Array] = []
        found: list[Added] = []
        before = 0
        for one in added:
            shared = next((other for other in found if other.events is one.events), None)
            found.append(replace(one, before=before if shared is None else shared.before))
            if shared is None:
                parts.append(one.events)
                before += len(one.events)
        if shifts:
            taken = reference.features[plain.bunches.events_of(rows)]
            parts += [shift.moved(taken) for shift in shifts]
        beside = Sample(np.vstack(parts), reference.names)
        moved = [ShiftedToys(s.name, s.words, rows, before + k * len(rows)) for k, s in enumerate(shifts)]
        sizes = np.concatenate([np.ones(before, np.intp), np.tile(plain.bunches.sizes[rows], len(shifts))])
        scheme = _scheme(plan, reference, beside, None if plain.bunches.are_events else sizes)
        return cls(beside, scheme, (*counts, *found, *moved), experiments)


def pools(standard: Standard, signals: Sequence[Added], *, experiments: int, room: int) -> Iterator[DeparturePool]:
    """All departures, in as few pools as hold `room` rows that are moved, or those of one shift."""
    plan, reference, shifts = standard.plan, standard.reference, standard.shifts
    several = int(np.clip(len(reference) / plan.expected, _LEAST_SHIFTED, experiments))
    several = min(several, experiments)
    rows = min(several * plan.expected, len(reference)) / plan.bunch
    together = max(1, int(room / max(rows, 1.0)))
    added = (*standard.clusters, *signals)
    yield DeparturePool.of(plan, reference, standard.counts, added, shifts[:together], several)
    for first in range(together, len(shifts), together):
        yield DeparturePool.of(plan, reference, (), (), shifts[first : first + together], several)


def _scheme(
    plan: Plan, reference: Sample, beside: Sample | None, sizes: NDArray[np.intp] | None = None
) -> ReferenceScheme:
    """How toys take from the reference and from what is beside it, in rows of some sizes or event by event."""
    if sizes is not None and beside is not None:
        scheme = dealt_scheme(plan, len(reference), len(beside), as_one=False, sizes=sizes)
    else:
        scheme = scheme_of(plan, reference, beside, as_one=False)
    assert isinstance(scheme, ReferenceScheme)
    return scheme


def _counts(plan: Plan) -> tuple[Count, ...]:
    if plan.fixed is not None:
        return ()
    spread = (plan.expected + plan.expected_error**2) ** 0.5
    change = SIZE * spread
    words = f"events of the reference's own kind: {SIZE:g} standard deviations of their number"
    more = Count("more events", f"{change:.0f} more {words}", plan.expected + change, 1)
    if plan.expected <= change:
        return (more,)
    return (more, Count("fewer events", f"{change:.0f} fewer {words}", plan.expected - change, 2))


def _cluster(plan: Plan, reference: Sample) -> Added:
    share = float(np.clip(_LEAST_EVENTS / plan.expected, _LEAST_SHARE, _MOST_SHARE))
    mean = SIZE * (share * plan.expected) ** 0.5
    rng = rng_of(plan.seed, Stream.POWER, 0)
    rows = planning_rows(len(reference), _SEARCHED)
    density = reference.draws_by
    w = np.ones(len(rows)) if density is None else density[rows]
    chances = w / w.sum()
    events = plan.units.apply(reference.features[rows])
    wanted = math.ceil(mean + SIZE * mean**0.5) + 1
    drawn, places, before = [], [], 0
    for middle in rng.choice(len(rows), _PLACES, p=chances):
        nearest = np.argsort(((events - events[middle]) ** 2).sum(axis=1), kind="stable")
        inside = nearest[: 1 + int(np.searchsorted(np.cumsum(chances[nearest]), share))]
        several = np.count_nonzero(chances[inside]) < wanted  # of a small reference some events come twice
        of = chances[inside] / chances[inside].sum()
        drawn.append(rows[rng.choice(inside, wanted, replace=bool(several), p=of)])
        places.append(range(before, before + wanted))
        before += wanted
    words = (
        f"{mean:.1f} more events where {share * plan.expected:.3g} are expected ({SIZE:g} standard deviations): in the "
        f"{share:.2g} of the reference nearest to one of its events, another one from toy to toy"
    )
    words = words.replace(f"{share:.2g} of", f"{100 * share:.2g} % of")
    return Added("a cluster", words, mean, reference.features[np.concatenate(drawn)], tuple(places))


def _shifts(plan: Plan, reference: Sample) -> tuple[tuple[Shift, ...], tuple[str, ...]]:
    part = min(SIZE / plan.expected**0.5, 1.0)
    found, unmoved = [], []
    rows = planning_rows(len(reference), _SEARCHED)
    for column, name in enumerate(reference.names):
        absent = tuple(one.value for one in plan.units.missing if one.column == name)
        values = reference.features[rows, column]
        values = values[~np.isin(values, absent)]
        spread = _spread(values)
        if spread == 0 or bool(np.all(values == np.rint(values))):
            unmoved.append(name)
            continue
        words = (
            f"every event has {name} higher by {part * spread:.3g}, {part:.2g} of its spread ({SIZE:g} standard errors "
            "of its mean)"
        )
        found.append(Shift(f"{name} shifted", words, column, part * spread, absent))
    return tuple(found), tuple(unmoved)


def _spread(values: Array) -> float:
    """Half of the central 68 %."""
    low, high = np.quantile(values, _ONE_SIGMA) if len(values) else (0.0, 0.0)
    return float(high - low) / 2
