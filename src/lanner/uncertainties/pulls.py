"""Pulls of a closure against each feature: varied events against the reweighted reference, bin by bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.typing import Array

_BINS = 10


@dataclass(frozen=True, eq=False)
class FeaturePulls:
    """How far varied events and the reweighted reference differ in bins of a feature, outermost bins without an end."""

    feature: str
    edges: Array  # (bins - 1,), between the bins
    pulls: Array  # (bins,), in units of the statistical error of the events that were compared
    bias: Array  # (bins,), in standard deviations of the data expected in the bin

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        numbers = {"edges": self.edges.tolist(), "pulls": self.pulls.tolist(), "bias": self.bias.tolist()}
        return {"feature": self.feature} | numbers

    def where(self) -> str:
        """The bin of the largest bias, in words.

        >>> FeaturePulls("pt", np.array([10.0, 20.0]), np.zeros(3), np.array([0.1, 0.2, -0.7])).where()
        "'pt' above 20"
        """
        k = int(np.argmax(np.abs(self.bias)))
        if len(self.edges) == 0:
            return f"{self.feature!r}"
        if k == 0:
            return f"{self.feature!r} below {self.edges[0]:.4g}"
        if k == len(self.edges):
            return f"{self.feature!r} above {self.edges[-1]:.4g}"
        return f"{self.feature!r} from {self.edges[k - 1]:.4g} to {self.edges[k]:.4g}"


@dataclass(frozen=True, eq=False)
class Binning:
    """Bins of each feature with as many events of the reference in each, and which bin its events are in."""

    names: tuple[str, ...]
    edges: tuple[Array, ...]
    bins: tuple[tuple[NDArray[np.intp], ...], ...]  # of the events of each half, for each feature

    @classmethod
    def of(cls, names: Sequence[str], halves: Sequence[Array]) -> Binning:
        """Bins of a reference, given its features half by half."""
        edges, bins = [], []
        for j in range(len(names)):
            values = np.concatenate([half[:, j] for half in halves])
            edges.append(np.unique(np.quantile(values, np.linspace(0, 1, _BINS + 1)[1:-1])))
            bins.append(tuple(np.searchsorted(edges[-1], half[:, j], side="right") for half in halves))
        return cls(tuple(names), tuple(edges), tuple(bins))

    def pulls(
        self,
        reweighted: Sequence[Array],
        varied: Sequence[Array | None],
        weights: Sequence[Array],
        *,
        total: float,
        expected: float,
    ) -> tuple[FeaturePulls, ...]:
        """Pulls against each feature, over both halves, given weights of the reference and of the varied events.

        The features of varied events are None where they are the reference's own.
        """
        found = []
        for j, (name, edges, bins) in enumerate(zip(self.names, self.edges, self.bins, strict=True)):
            number = len(edges) + 1
            difference, variance, filled = np.zeros(number), np.zeros(number), np.zeros(number)
            for here, w, y, v in zip(bins, reweighted, varied, weights, strict=True):
                there = here if y is None else np.searchsorted(edges, y[:, j], side="right")
                below, above = (np.bincount(at, of, minlength=number) for at, of in ((here, w), (there, v)))
                difference += above - below
                filled += below
                variance += _variance(here, w, there, v, number)
            error = np.sqrt(np.maximum(variance, np.finfo(float).tiny))
            share = np.maximum(filled / total, 1 / expected)
            bias = difference / total * np.sqrt(expected / share)
            found.append(FeaturePulls(name, edges, np.where(difference == 0, 0.0, difference / error), bias))
        return tuple(found)


def _variance(here: NDArray[np.intp], w: Array, there: NDArray[np.intp], v: Array, number: int) -> Array:
    """Of the difference in each bin; event by event where both have as many, so that the same events cancel."""
    if len(here) != len(there):
        return np.asarray(np.bincount(here, w**2, minlength=number) + np.bincount(there, v**2, minlength=number))
    if here is there:
        return np.asarray(np.bincount(here, (v - w) ** 2, minlength=number))
    stays = here == there
    inside = np.bincount(here[stays], (v - w)[stays] ** 2, minlength=number)
    leave = np.bincount(here[~stays], w[~stays] ** 2, minlength=number)
    enter = np.bincount(there[~stays], v[~stays] ** 2, minlength=number)
    return np.asarray(inside + leave + enter)
