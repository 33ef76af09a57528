"""`RatioMap`: the learned ratio over a plane of two variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lanner.report.binning import Bins, bin_numbers, choose_edges, histogram
from lanner.report.importance import information, pull
from lanner.report.learned import Learned
from lanner.typing import Array

if TYPE_CHECKING:
    from hist import Hist
    from matplotlib.axes import Axes


BINS = 20  # per axis: half a percent of the events a cell on average
_LEAST = 30  # reference events in all cells of a row or column
MIN_EVENTS = 5  # reference events below which a cell's mean is not shown
_COARSE = 10  # bins per axis where pairs are compared
_CONSIDERED = 5  # most important variables among which the pair is chosen


@dataclass(frozen=True, eq=False)
class RatioMap:
    """The mean learned ratio in cells of two variables; what lies outside the axes is counted, not drawn."""

    names: tuple[str, str]
    reference: Hist[Any]
    reweighted: Hist[Any]
    data: Hist[Any]
    ratio: Array  # (x, y); NaN where the reference has too few events
    unusual: NDArray[np.bool_] | None  # cells outside the central 95 % of the null toys
    data_outside: int

    @property
    def edges(self) -> tuple[Array, Array]:
        """Edges along both axes."""
        x, y = (np.asarray(axis.edges, dtype=np.float64) for axis in self.reference.axes)
        return x, y

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the map."""
        from lanner.report.plots.search import plot_map

        return plot_map(self, ax)


def map_2d(
    learned: Learned,
    reference: Mapping[str, Array],
    data: Mapping[str, Array],
    names: tuple[str, str],
    bins: tuple[Bins, Bins] = (None, None),
) -> RatioMap:
    """Reweighted over reference in the plane of two variables."""
    of_reference, of_data = ([columns[name] for name in names] for columns in (reference, data))
    edges = [
        choose_edges(reference[name], data[name], b, name=name, most=BINS, least=_LEAST)
        for name, b in zip(names, bins, strict=True)
    ]
    shape = (len(edges[0]) + 1, len(edges[1]) + 1)
    cells = _cells(of_reference, edges)
    number = shape[0] * shape[1]
    own, null = learned.binned(cells, number)
    inside = (slice(1, -1), slice(1, -1))
    events = np.bincount(cells, minlength=number).reshape(shape)[inside]
    filled = [
        histogram(columns, edges, names, weights)
        for columns, weights in (
            (of_reference, learned.share),
            (of_reference, learned.share * learned.ratio_reference),
            (of_data, None),
        )
    ]
    below, above = filled[1].values(), filled[0].values()
    shown = (events >= MIN_EVENTS) & (above > 0)
    ratio = np.divide(below, above, out=np.full(above.shape, np.nan), where=shown)
    unusual = None
    if null is not None:
        low, high = np.quantile(null, (0.025, 0.975), axis=1)
        unusual = ((own < low) | (own > high)).reshape(shape)[inside] & shown
    outside = len(of_data[0]) - int(filled[2].values().sum())
    return RatioMap(names, filled[0], filled[1], filled[2], ratio, unusual, outside)


def most_telling_pair(
    learned: Learned, reference: Mapping[str, Array], data: Mapping[str, Array], ranked: Sequence[str]
) -> tuple[str, str] | None:
    """The two important variables whose plane shows most, compared with null toys; None for one variable."""
    best, found = -np.inf, None
    for x, y in combinations(ranked[:_CONSIDERED], 2):
        edges = [choose_edges(reference[name], data[name], _COARSE, name=name) for name in (x, y)]
        number = (len(edges[0]) + 1) * (len(edges[1]) + 1)
        cells = _cells((reference[x], reference[y]), edges)
        own, null = learned.binned(cells, number)
        expected = np.bincount(cells, learned.share, number).astype(np.float64)
        value = float(information(expected, own))
        if null is not None and null.shape[1] > 1:
            value = pull(value, information(expected, null.T))
        if value > best:
            best, found = value, (x, y)
    return found


def _cells(columns: Sequence[Array], edges: Sequence[Array]) -> NDArray[np.intp]:
    """One number per cell, open ends included."""
    x, y = (bin_numbers(values, e) for values, e in zip(columns, edges, strict=True))
    return np.asarray(x * (len(edges[1]) + 1) + y)
