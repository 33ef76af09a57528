"""How many independent events a sample is worth: weights count as Kish has it, and copies of a row as one event.

A row that occurs twice tells nothing new the second time: 1000 events that are written 20 times fluctuate like 1000,
not like 20 000. Groups of copies g of weight W_g (the sum of their weights) are worth (sum W_g)^2 / sum W_g^2.

Repeated rows are not always copies. Integers and rounded numbers repeat by chance, and so do a column's placeholders
(-999, or the zero of what is not there). Copies are equal rows with a value that would not repeat by itself: one of a
continuous column, which is none of its placeholders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lanner.events.sample import Sample, default_names
from lanner.typing import Array

# A lattice of more points between the quartiles, twice, is that of floating-point numbers (2^24 in single precision).
_FINEST = 2**22
_ON_LATTICE = 0.9  # of the gaps between values; of random ones a fifth are so near a multiple
_NEAR = 0.1  # in steps of the lattice: single precision rounds 9999.99 by 0.05 steps of 0.01
_SPECIAL = 3  # placeholders of a column, at most: underflow, overflow and what is missing
_OFTEN = 10.0  # how much oftener than the median value a placeholder occurs
_CATEGORIES = 30  # different values that a column of categories has, at most
_NOTICED = 0.95  # of their number; a few ties of single precision are no copies
MANY = 2_000_000  # events, beyond which a part of them tells how many are copies
_PART, _FEWEST = 1_000_000, 1000  # events of that part, about and at least
_BLOCK = 2**18
_UNEVEN = 5.0  # variance over mean of the counts: 0 where rows are repeated equally often, 1 in a bootstrap


@dataclass(frozen=True)
class EffectiveSize:
    """How many events there are, and what they are worth."""

    events: int  # rows, as they were given
    used: int  # rows whose weight is not 0
    distinct: int  # of these, different ones
    by_weights: float  # what they would be worth if none were a copy
    worth: float

    @property
    def has_copies(self) -> bool:
        """Whether rows are repeated so often that it matters."""
        return self.worth < _NOTICED * self.by_weights

    @property
    def has_weights(self) -> bool:
        """Whether weights make the events worth less than their number."""
        return self.by_weights < self.events - 0.5

    def __str__(self) -> str:
        """The number of events and, where they are worth less, how much less and why.

        >>> str(effective_size(Sample.of([0.3, 1.7, 2.9], weights=[1, 1, 0])))
        '3 events, worth 2 because of their weights'
        """
        reasons = []
        if self.has_copies:
            reasons.append(f"rows are repeated ({self.distinct} differ)")
        if self.has_weights:
            reasons.append("of their weights" if not reasons else "because of their weights")
        if not reasons:
            return f"{self.events} events"
        return f"{self.events} events, worth {self.worth:.0f} because {' and '.join(reasons)}"


@runtime_checkable
class Counted(Protocol):
    """A sample whose events were counted where they are."""

    size: EffectiveSize


def effective_size(sample: Sample) -> EffectiveSize:
    """Count the events of a sample and what they are worth.

    >>> x = np.random.default_rng(1).normal(size=(1000, 2))
    >>> size = effective_size(Sample.of(np.repeat(x, 20, axis=0)))
    >>> size.events, size.distinct, size.worth
    (20000, 1000, 1000.0)
    """
    if isinstance(sample, Counted):
        return sample.size
    rows = sample.features
    if len(rows) > MANY and sample.weights is None:
        share = part_by_digest(len(rows))
        some = np.concatenate([chosen_by_digest(rows[i : i + _BLOCK], share) for i in range(0, len(rows), _BLOCK)])
        return size_by_part(some, len(rows))
    weights = np.ones(len(rows))
    if sample.weights is not None:
        used = sample.weights != 0
        rows, weights = rows[used], sample.weights[used]
        weights = weights / np.abs(weights).max()  # squares of very small or large weights would not fit
    by_weights = _kish(weights)
    _, first, group = np.unique(_digests(rows), return_index=True, return_inverse=True)
    share = 1.0
    if len(first) < len(rows):
        told = _would_differ(rows, rows[first])
        # Where an event tells nothing, as one without jets, it is taken to be repeated as often as the others.
        merged = np.asarray(np.bincount(group[told], weights[told]), dtype=np.float64)
        share = _kish(merged) / _kish(weights[told]) if told.any() else 1.0
    return EffectiveSize(len(sample), len(rows), len(first), by_weights, share * by_weights)


def part_by_digest(events: int) -> float:
    """Which part of very many events tells how many are copies."""
    return min(1.0, _PART / events)


def chosen_by_digest(rows: Array, share: float) -> Array:
    """About this share of some rows: of equal ones all or none, wherever they are."""
    return np.asarray(rows[_digests(rows) < np.uint64(share * (2**64 - 2**12))])


def size_by_part(some: Array, events: int) -> EffectiveSize:
    """What events are worth, by those of them that `chosen_by_digest` took.

    Where there are next to no different rows, so that this takes far too few or too many, they are no copies.
    """
    if not _FEWEST <= len(some) <= MANY:
        return EffectiveSize(events, events, events, float(events), float(events))
    part = effective_size(Sample(some, default_names(some.shape[1])))
    scale = events / len(some)
    return EffectiveSize(events, events, round(scale * part.distinct), float(events), scale * part.worth)


def _kish(weights: Array) -> float:
    squares = float(weights @ weights)
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def _would_differ(rows: Array, distinct: Array) -> NDArray[np.bool_]:
    """Which rows have a value that would not repeat by itself, so that equal ones are copies."""
    told = np.zeros(len(rows), dtype=bool)
    for column, different in zip(rows.T, distinct.T, strict=True):
        special = _values_that_repeat(column, different if rows.shape[1] > 1 else None)
        if special is not None:
            told |= ~np.isin(column, special)
        if told.all():
            break
    return told


def _digests(rows: Array) -> NDArray[np.uint64]:
    """A number for each row by which equal ones are found: 500 000 different rows share one once in 10^8 samples."""
    digest = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        bits = (np.ascontiguousarray(column) + 0.0).view(np.uint64)  # -0 becomes 0
        # The mixing of splitmix64: without it the zeros at the end of short numbers would stay.
        digest = digest * np.uint64(0x9E3779B97F4A7C15) + bits
        digest ^= digest >> np.uint64(30)
        digest *= np.uint64(0xBF58476D1CE4E5B9)
        digest ^= digest >> np.uint64(27)
        digest *= np.uint64(0x94D049BB133111EB)
        digest ^= digest >> np.uint64(31)
    return digest


def _values_that_repeat(column: Array, in_distinct_rows: Array | None) -> Array | None:
    """The few values of a continuous column that occur again and again; None if all do, because it is discrete."""
    values, counts = np.unique(column, return_counts=True)
    highest = np.argsort(counts)[-_SPECIAL:]
    special = highest[counts[highest] > _OFTEN * np.median(counts)]
    placeholders = np.asarray(values[special])
    values, counts = np.delete(values, special), np.delete(counts, special)
    if len(values) <= _CATEGORIES or is_discrete(values):
        return None
    # A grid of uneven steps, such as a calorimeter's: its values repeat in rows that differ. Where it is the only
    # column it is known by counts that vary, but little from one value to the next; those of copies know no neighbours.
    if in_distinct_rows is not None:
        uneven = bool(np.count_nonzero(~np.isin(in_distinct_rows, placeholders)) > 1.5 * len(values))
    else:
        uneven = counts.mean() >= _OFTEN and counts.var() > _UNEVEN * counts.mean() and _is_smooth(counts)
    return None if uneven else placeholders


def _is_smooth(counts: NDArray[np.intp]) -> bool:
    """Whether counts of neighbouring values are alike: whether their correlation is above one half."""
    away = counts - counts.mean()
    return float(away[1:] @ away[:-1]) > 0.5 * float(away @ away)


def is_discrete(values: Array) -> bool:
    """Whether different values, in order, are multiples of one step, and the step is coarse enough for ties.

    >>> x = np.random.default_rng(1).normal(size=1000)
    >>> is_discrete(np.unique(x)), is_discrete(np.unique(x.round(2))), is_discrete(np.arange(5.0))
    (False, True, True)
    """
    if len(values) < 3:
        return True
    gaps = np.diff(values)
    # The same number by two ways, 0.3 and 0.1 + 0.2, is one value.
    gaps = gaps[gaps > 1e-13 * max(abs(values[0]), abs(values[-1]))]
    if len(gaps) < 2:
        return True
    step = gaps.min()
    step = gaps[gaps < 1.5 * step].mean()  # less rounded than a single one
    middle = values[(3 * len(values)) // 4] - values[len(values) // 4]
    points = 2 * middle / step
    # Of u values on so many points hardly two would meet by chance where u^2 is less.
    if points > min(_FINEST, 4.0 * len(values) ** 2):
        return False
    multiples = gaps / step
    return bool(np.mean(np.abs(multiples - np.round(multiples)) < _NEAR) >= _ON_LATTICE)
