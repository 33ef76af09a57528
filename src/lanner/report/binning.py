"""Bins for a variable that nobody has looked at yet, and histograms in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.typing import Array

if TYPE_CHECKING:
    from hist import Hist

Bins = int | Sequence[float] | Array | None

BINS = 30
CENTRAL = 0.995  # of the events lie between the first and the last edge, the rest in under- and overflow
LEAST = 5  # reference events in a bin
_LARGEST = 0.25 * float(np.finfo(np.float64).max)
MAX_UNIT_BINS = 50  # an integer with more values than this gets bins of several units


def is_integer(*values: Array) -> bool:
    """Whether a variable only takes whole numbers (and is not so large that every double is one).

    >>> is_integer(np.array([0.0, 3.0])), is_integer(np.array([0.5]))
    (True, False)
    """
    return all(bool(np.all((v == np.rint(v)) & (np.abs(v) < 2**31))) for v in values)


def choose_edges(
    reference: Array, data: Array, bins: Bins = None, *, name: str = "variable", most: int = BINS, least: int = LEAST
) -> Array:
    """Edges of the bins: those given, or so many of one width over the central 99.5 % of both samples; `most` for None.

    The range is the wider of the two samples', because an excess may lie where the reference has hardly an event. For
    None, bins in which it has fewer than `least` are joined with their neighbours: no ratio can be shown without any.
    Both follow the density of the samples, never the learned ratio.
    """
    if bins is not None and not isinstance(bins, int | np.integer):
        return _checked(bins, name)
    number = most if bins is None else int(bins)
    if number < 1:
        raise InputError(f"bins={bins!r} for {name!r}: give a positive number of bins, or their edges")
    outside = (1 - CENTRAL) / 2
    # Order statistics, not interpolated ones: whole numbers stay whole.
    low = float(min(np.quantile(v, outside, method="lower") for v in (reference, data)))
    high = float(max(np.quantile(v, 1 - outside, method="higher") for v in (reference, data)))
    if is_integer(reference, data):
        wanted = MAX_UNIT_BINS if bins is None else number
        step = max(1, int(np.ceil((high - low + 1) / wanted)))
        count = int(np.ceil((high - low + 1) / step))
        return low - 0.5 + step * np.arange(count + 1, dtype=np.float64)
    # An open end that would be narrower than a bin is no tail: a variable that starts at 0 is shown from 0.
    margin = (high - low) / number
    first, last = float(min(reference.min(), data.min())), float(max(reference.max(), data.max()))
    low, high = (
        (first if low - first < margin else low),
        (math.nextafter(last, math.inf) if last - high < margin else high),
    )
    # From the smallest double to the largest is no number: such events go to the open ends.
    low, high = (float(np.clip(end, -_LARGEST, _LARGEST)) for end in (low, high))
    if not low < high:  # nearly all events share one value: bins around it
        reach = max(abs(low), 1.0) * 0.5
        low, high = low - reach, high + reach
    # Of values that double precision hardly tells apart there are fewer edges.
    edges = np.unique(np.linspace(low, high, number + 1))
    return edges if bins is not None else _joined(edges, np.histogram(reference, edges)[0], least)


def _joined(edges: Array, counts: NDArray[np.intp], least: int) -> Array:
    """The edges without those beside which there are too few events: the poorest bin goes with its poorer neighbour.

    >>> _joined(np.arange(7.0), np.array([1, 8, 9, 2, 1, 4]), 5).tolist()
    [0.0, 2.0, 3.0, 6.0]
    """
    kept, filled = list(edges), [int(n) for n in counts]
    while len(filled) > 1 and min(filled) < least:
        poorest = filled.index(min(filled))
        beside = [k for k in (poorest - 1, poorest + 1) if 0 <= k < len(filled)]
        other = min(beside, key=lambda k: filled[k])
        del kept[max(poorest, other)]
        filled[min(poorest, other)] += filled.pop(max(poorest, other))
    return np.array(kept)


def bin_numbers(values: Array, edges: Array) -> NDArray[np.intp]:
    """The bin of each value, 0 for underflow and len(edges) for overflow: as `hist` counts with flow=True."""
    return np.searchsorted(edges, values, side="right")


def histogram(
    columns: Sequence[Array], edges: Sequence[Array], names: Sequence[str], weights: Array | None = None
) -> Hist[Any]:
    """A histogram of one or more variables, with under- and overflow and the variances of its contents."""
    import hist

    # The name goes into the label: hist keeps axis names for keyword arguments and refuses some.
    axes = [hist.axis.Variable(e, label=name) for e, name in zip(edges, names, strict=True)]
    filled: Hist[Any] = hist.Hist(*axes, storage=hist.storage.Weight())
    filled.fill(*columns, weight=weights)
    return filled


def _checked(bins: Any, name: str) -> Array:
    edges = np.asarray(bins, dtype=np.float64)
    if edges.ndim != 1 or edges.size < 2 or not np.isfinite(edges).all() or not (np.diff(edges) > 0).all():
        raise InputError(f"the bin edges of {name!r} must be at least two finite numbers that rise; got {bins!r}")
    return edges
