"""What batches are measured by: learned once from the reference, and little beside it.

The reference is halved at random. One half gives the pivots and the second moments, toys are drawn from the other, so
that no toy is judged by its own events; what the reference predicts, E[k], comes from all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import blas_threads_for
from lanner.errors import InputError
from lanner.events import Sample
from lanner.events.effective_size import effective_size
from lanner.events.scaled_rows import ScaledRows
from lanner.events.scaling import Scaling
from lanner.inference.experiment import basis_of
from lanner.inference.plan import Plan, plan_scales
from lanner.inference.scales import deviation_of
from lanner.inference.seeds import Stream, rng_of
from lanner.model.isolated import with_company
from lanner.model.loss import loss_by_name
from lanner.model.nystrom import Basis
from lanner.model.parallel import blocks
from lanner.model.summing import moment_events
from lanner.monitor.bins import Bins
from lanner.monitor.width import PLACES, ROUNDING, Departure, WatchedWidth
from lanner.settings import FitSettings
from lanner.typing import Array

_ROWS = 4096
# Pivots of a width where none are asked for. With 1000 batches take 2.5 times as long, and of five signals in 5 and in
# 11 dimensions none was found better by more than 0.1 sigma (500 events a batch).
MOST_PIVOTS = 400
Told = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class Halves:
    """The reference in scaled units, and which of its rows shape the statistics and which are a toy's data."""

    events: ScaledRows
    weights: Array
    shaping: NDArray[np.intp]
    of_toys: NDArray[np.intp]

    @classmethod
    def of(cls, reference: Sample, units: Scaling, seed: int) -> Halves:
        """Halved at random."""
        if reference.weights is not None and (reference.weights < 0).any():
            raise InputError(
                f"{np.count_nonzero(reference.weights < 0)} reference events have negative weights, of which no toy "
                "batches can be drawn: give a reference without them"
            )
        order = rng_of(seed, Stream.CENTERS).permutation(len(reference))
        half = len(order) // 2
        weights = np.ones(len(reference)) if reference.weights is None else reference.weights
        return cls(ScaledRows((reference.features,), units), weights, order[:half], order[half:])


@dataclass(frozen=True, eq=False)
class Yardstick:
    """The units, the widths and the bins of features by which batches are measured."""

    names: tuple[str, ...]
    units: Scaling
    widths: tuple[WatchedWidth, ...]  # fine to coarse
    bins: Bins
    worth: float  # what the reference's events are worth

    @classmethod
    def of(
        cls,
        reference: Sample,
        *,
        batch: float,
        largest: float,
        settings: FitSettings,
        memory: int,
        told: Told | None = None,
    ) -> tuple[Yardstick, Halves]:
        """Learn it, for batches of typically so many events, and windows of up to `largest`."""
        settings = replace(settings, null="reference", statistic="score", max_rank=settings.max_rank or MOST_PIVOTS)
        plans = plan_scales(reference, None, expected=batch, settings=settings)
        units, worth = plans[0].units, float(effective_size(reference).worth)
        halves = Halves.of(reference, units, settings.seed)
        groups = [list(group) for _, group in groupby(sorted(plans, key=lambda p: p.width), key=lambda p: p.width)]
        widths = []
        for k, group in enumerate(groups):
            widths.append(_width(group, halves, largest, worth, memory))
            if told is not None:
                told((k + 1) / len(groups))
        bins = Bins.of(reference.names, reference.features, reference.weights)
        return cls(reference.names, units, tuple(widths), bins, worth), halves

    @property
    def labels(self) -> list[str]:
        """What the statistics are called."""
        return [label for width in self.widths for label in width.labels]

    @property
    def ways(self) -> int:
        """In how many ways good batches differ, as was learned."""
        spread = self.widths[0].spread
        return 0 if spread is None else len(spread)

    @property
    def columns(self) -> int:
        """How many sums there are of each batch: its events, those of every width, and counts in bins."""
        return 1 + sum(width.rank + 1 for width in self.widths) + self.bins.number

    def sums(self, features: Array) -> Array:
        """All sums of the events of a batch, (columns,)."""
        scaled = self.units.apply(features)
        return np.concatenate(
            [[float(len(features))], *(width.sums(scaled) for width in self.widths), self.bins.counts(features)]
        )

    def part(self, width: int) -> slice:
        """Where the sums of a width are."""
        start = 1 + sum(w.rank + 1 for w in self.widths[:width])
        return slice(start, start + self.widths[width].rank + 1)

    @property
    def part_of_bins(self) -> slice:
        """Where the counts in bins are."""
        return slice(self.columns - self.bins.number, self.columns)

    def read(self, sums: Array) -> Array:
        """What the statistics of some batches are made of, (B, 1 + readings), from their sums, (B, columns).

        Readings add up over batches as sums do: what windows share is computed once.
        """
        sizes = sums[:, 0]
        of_widths = (width.read(sums[:, self.part(k)], sizes) for k, width in enumerate(self.widths))
        return np.hstack([sizes[:, None], *of_widths])

    def departure(self, width: int, readings: Array) -> Departure:
        """What some batches or windows hold beside what the reference predicts, at one width."""
        start = 1 + sum(w.readings for w in self.widths[:width])
        return self.widths[width].departure(readings[:, start : start + self.widths[width].readings], readings[:, 0])

    def statistics(self, readings: Array) -> Array:
        """Every statistic of some batches or windows, (statistics, B), from their readings."""
        sizes = readings[:, 0]
        return np.vstack([w.statistics(self.departure(k, readings), sizes) for k, w in enumerate(self.widths)])

    def to_arrays(self) -> dict[str, Any]:
        """All but the units and the names, as arrays by name."""
        found = {f"bins/{name}": a for name, a in self.bins.to_arrays().items()}
        for k, width in enumerate(self.widths):
            found |= {f"width-{k}/{name}": a for name, a in width.to_arrays().items()}
        return found | {"widths": np.array(len(self.widths)), "worth": np.array(self.worth)}

    @classmethod
    def from_arrays(cls, names: Sequence[str], units: Scaling, arrays: dict[str, Any]) -> Yardstick:
        """Read what `to_arrays` made."""

        def below(prefix: str) -> dict[str, Any]:
            return {key.removeprefix(prefix): a for key, a in arrays.items() if key.startswith(prefix)}

        widths = tuple(WatchedWidth.from_arrays(below(f"width-{k}/")) for k in range(int(arrays["widths"])))
        return cls(tuple(names), units, widths, Bins.from_arrays(names, below("bins/")), float(arrays["worth"]))


def _width(group: list[Plan], halves: Halves, largest: float, worth: float, memory: int) -> WatchedWidth:
    """One width of the plan, with the deviations that are looked for at it."""
    plan = min(group, key=lambda p: p.penalty)
    chosen = halves.shaping[: min(plan.centers, len(halves.shaping))]
    basis = basis_of(plan, halves.events[chosen], memory)
    pivots = chosen[basis.chosen]
    # Places that several events share are looked for among those that shape the statistics alone.
    place = np.full(len(halves.events), -1, dtype=np.intp)
    place[halves.shaping] = np.arange(len(halves.shaping))
    here = ScaledRows((halves.events.tables[0][halves.shaping],), plan.units)
    basis, rows = with_company(basis, place[pivots], here, len(here), plan.chosen_max_rank)
    left = np.square(np.diag(basis.factor)) > ROUNDING
    basis, rows = basis.reduced(np.flatnonzero(left)), rows[left]
    pivots = halves.shaping[rows]
    loss = loss_by_name(plan.loss)
    with blas_threads_for(basis.rank):
        first, second = _moments(basis, here, halves.weights[halves.shaping])
        deviations = tuple(sorted(round(deviation_of(p.penalty, events=p.events_per_fit, loss=loss), 6) for p in group))
        empty = np.zeros(0)
        made = WatchedWidth.of(
            basis, first, second, deviations=deviations, largest=largest, mean=empty, squares=empty,
            far=np.zeros(2), places=halves.events.tables[0][pivots[:PLACES]], worth=worth,
        )  # fmt: skip
    mean, squares, far = _means(made, halves, pivots)
    return replace(made, mean=mean, squares=squares, far=far)


def _moments(basis: Basis, events: ScaledRows, weights: Array) -> tuple[Array, Array]:
    number = min(len(events), moment_events(basis.rank))
    first, second, total = np.zeros(basis.rank), np.zeros((basis.rank, basis.rank)), 0.0
    for rows in blocks(number, _ROWS):
        phi, w = basis.features(events[rows]), weights[rows]
        first += w @ phi
        second += (phi * w[:, None]).T @ phi
        total += float(w.sum())
    return first / total, second / total


def _means(width: WatchedWidth, halves: Halves, pivots: NDArray[np.intp]) -> tuple[Array, Array, Array]:
    """E[k] and E[k^2] over the reference, each pivot's own event left out, and what is far, of events of toys."""
    of_toys = np.zeros(len(halves.events), dtype=bool)
    of_toys[halves.of_toys] = True
    places = min(PLACES, width.rank)
    mean, squares, far, total, total_far = np.zeros(width.rank), np.zeros(places), np.zeros(2), 0.0, 0.0
    for rows in blocks(len(halves.events), _ROWS):
        k, w = width.kernel(halves.events[rows]), halves.weights[rows]
        mean += w @ k
        squares += w @ np.square(k[:, :places])
        g, some = 1 - np.square(k.max(axis=1), dtype=np.float64), of_toys[rows] * w
        far += [some @ g, some @ g**2]
        total, total_far = total + float(w.sum()), total_far + float(some.sum())
    own = halves.weights[pivots]
    mean = np.maximum(mean - own, 0.0) / (total - own)
    squares = np.maximum(squares - own[:places], 0.0) / (total - own[:places])
    return mean, squares, far / total_far
