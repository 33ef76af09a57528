"""Counts of each feature in bins of equal content: which feature departs, and in which direction.

Counts of batches add up, like all that a monitor keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.inference.significance import gamma_logsf, z_of_log_p
from lanner.typing import Array

BINS = 20  # of a continuous feature; values that are shared by many events have a bin of their own


@dataclass(frozen=True)
class FeatureDeparture:
    """How far the counts of one feature are from those of the reference."""

    name: str
    z_score: float  # of a chi2 of its bins
    low: float  # the range in which the counts differ most
    high: float
    observed: float  # events in it
    expected: float

    @property
    def words(self) -> str:
        """As a sentence has it.

        >>> FeatureDeparture("pt", 5.0, 20.0, 30.0, 130.0, 90.2).words
        'pt: 130 events between 20 and 30 where 90.2 are expected'
        """
        return f"{self.name}: {self.observed:g} events {self.range} where {self.expected:.3g} are expected"

    @property
    def range(self) -> str:
        """Where it is."""
        if self.low == self.high:
            return f"at {self.low:.4g}"
        if np.isneginf(self.low):
            return f"below {self.high:.4g}"
        return f"from {self.low:.4g} on" if np.isposinf(self.high) else f"between {self.low:.4g} and {self.high:.4g}"


@dataclass(frozen=True, eq=False)
class Bins:
    """The edges of each feature's bins, and the share of the reference in each.

    An event belongs to the last bin whose lower edge it reaches. The first edge is minus infinity.
    """

    names: tuple[str, ...]
    edges: tuple[Array, ...]  # lower edges
    shares: tuple[Array, ...]

    @classmethod
    def of(cls, names: Sequence[str], features: Array, weights: Array | None) -> Bins:
        """From a reference; weights may be None."""
        edges, shares = [], []
        for column in features.T:
            # Edges are values of events: between two values that many share there is no bin without any.
            inner = np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1)[1:-1], method="inverted_cdf"))
            own = np.append(-np.inf, inner[inner > column.min()])
            counts = np.bincount(_places(own, column), weights, len(own))
            edges.append(own)
            shares.append(np.maximum(counts, 0.0) / counts.sum())
        return cls(tuple(names), tuple(edges), tuple(shares))

    @property
    def number(self) -> int:
        """Of all features together."""
        return sum(map(len, self.edges))

    def counts(self, features: Array) -> Array:
        """Events in each bin, one feature after another."""
        found = [np.bincount(_places(e, x), minlength=len(e)) for e, x in zip(self.edges, features.T, strict=True)]
        return np.concatenate(found).astype(np.float64)

    def departures(self, counts: Array, worth: float) -> list[FeatureDeparture]:
        """How far each feature is from a reference that is worth so many events, the furthest first."""
        found, start = [], 0
        for name, edges, share in zip(self.names, self.edges, self.shares, strict=True):
            own = counts[start : start + len(edges)]
            start += len(edges)
            found.append(_departure(name, edges, share, own, worth))
        return sorted(found, key=lambda one: -one.z_score)

    def to_arrays(self) -> dict[str, Array]:
        """As arrays by name."""
        sizes = np.array([len(e) for e in self.edges])
        return {"sizes": sizes, "edges": np.concatenate(self.edges), "shares": np.concatenate(self.shares)}

    @classmethod
    def from_arrays(cls, names: Sequence[str], arrays: dict[str, Any]) -> Bins:
        """Read what `to_arrays` made."""
        ends = np.cumsum(arrays["sizes"])[:-1]
        return cls(tuple(names), *(tuple(np.split(arrays[what], ends)) for what in ("edges", "shares")))


def _places(edges: Array, column: Array) -> NDArray[np.intp]:
    return np.asarray(np.searchsorted(edges, column, side="right") - 1)


def _departure(name: str, edges: Array, share: Array, counts: Array, worth: float) -> FeatureDeparture:
    n = counts.sum()
    # A bin that is empty in the reference may hold one of its events.
    expected = n * np.maximum(share, 1 / worth)
    variance = expected * (1 + n / worth)
    z_score = 0.0
    if n > 0 and len(edges) > 1:
        chi2 = float(np.sum((counts - expected) ** 2 / variance))
        z_score = z_of_log_p(float(gamma_logsf((len(edges) - 1) / 2, np.array([chi2 / 2]))[0]))
    pull = np.abs(counts - expected) / np.sqrt(variance) if n > 0 else np.zeros(len(edges))
    worst = int(np.argmax(pull))
    high = edges[worst + 1] if worst + 1 < len(edges) else np.inf
    return FeatureDeparture(
        name, z_score, float(edges[worst]), float(high), float(counts[worst]), float(expected[worst])
    )
