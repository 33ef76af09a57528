"""Where the data depart most, as a selection that can be read, typed in and applied to other events.

A shallow regression tree of f proposes boxes; of all its nodes the one is taken in which the number of data events is
most unlike the number expected (or one nearly as telling with fewer cuts). That choice was made on these very data, so
the significance given is a description of the box and not a test: the search has one p-value, and it is not this one.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from lanner.report.binning import is_integer
from lanner.report.learned import Learned
from lanner.typing import Array

LOCAL = "local, not corrected for the choice: a description, not a test"
_DEPTH = 3
_LEAST = 10  # events of both samples in a box
_NEARLY = 0.9
_LARGEST_RATIO = 100.0  # one event with a ratio of 1e6 must not decide on every cut

Box = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Cut:
    """low < variable < high; an end that does not matter is infinite."""

    name: str
    low: float
    high: float
    integer: bool

    def __str__(self) -> str:
        # As pandas' DataFrame.query reads it: a name that is no identifier stands in backticks.
        name = self.name if self.name.isidentifier() and not keyword.iskeyword(self.name) else f"`{self.name}`"
        ends = []
        if math.isfinite(self.low):  # an integer's ends are halves
            ends.append(f"{name} >= {math.ceil(self.low)}" if self.integer else f"{name} > {self.low:.15g}")
        if math.isfinite(self.high):
            ends.append(f"{name} <= {math.floor(self.high)}" if self.integer else f"{name} < {self.high:.15g}")
        return " and ".join(ends)


@dataclass(frozen=True)
class Region:
    """A box, the events in it and the events expected there. `local_z` is what `note` says and no more."""

    cuts: tuple[Cut, ...]
    data: int
    expected: float
    expected_error: float  # from the size of the reference and its systematic uncertainties
    local_z: float
    note: str = LOCAL

    @property
    def ends(self) -> int:
        """How many comparisons the selection has."""
        return sum(math.isfinite(end) for cut in self.cuts for end in (cut.low, cut.high))

    @property
    def selection(self) -> str:
        """The cuts as an expression, such as "mll > 287.5 and mll < 312.1 and njet >= 2"."""
        return " and ".join(map(str, self.cuts))


def find_region(learned: Learned, reference: Mapping[str, Array], data: Mapping[str, Array]) -> Region | None:
    """The box that stands out most, by excess or deficit; None if the trees find nothing to split, or no variable."""
    if not reference:
        return None
    whole = {name: is_integer(reference[name], data[name]) for name in reference}
    steps = {name: _step(values) for name, values in reference.items()}
    found: dict[tuple[Cut, ...], Region] = {}
    for box in _boxes(learned, reference, data):
        cuts = tuple(_rounded(name, *ends, steps[name], whole[name]) for name, ends in box.items())
        if cuts not in found:
            # Counted with the rounded cuts: the numbers belong to the selection as it is printed.
            region = _count(cuts, learned, reference, data)
            if region is not None:
                found[cuts] = region
    best = max((abs(region.local_z) for region in found.values()), default=0.0)
    # A description should be simple: of the boxes nearly as telling as the best, one with the fewest cuts.
    telling = [region for region in found.values() if abs(region.local_z) >= _NEARLY * best]
    return min(telling, key=lambda r: (r.ends, -abs(r.local_z)), default=None)


def local_significance(observed: float, expected: float, variance: float, unit: float) -> float:
    """Z of a count where the expectation comes from a finite reference (Li and Ma 1983, Eq. 17), signed.

    `variance` is that of the expectation, `unit` what one reference event counts for.

    >>> round(local_significance(30, 10.0, 1e-9, 1e-10), 2)  # exactly known: sqrt(2 (30 log 3 - 20))
    5.09
    """
    alpha = variance / expected if expected > 0 else unit
    off = expected / alpha
    total = observed + off
    if total <= 0:
        return 0.0
    # n log((1 + alpha)/alpha n/(n + off)) + off log((1 + alpha) off/(n + off))
    deviance = xlogy(observed, (1 + alpha) / alpha * observed / total) + xlogy(off, (1 + alpha) * off / total)
    return math.copysign(math.sqrt(2 * max(float(deviance), 0.0)), observed - expected)


def _boxes(learned: Learned, reference: Mapping[str, Array], data: Mapping[str, Array]) -> Iterator[Box]:
    """Every node but the root of trees of f (deviations of either sign) and of e^f (excesses)."""
    from sklearn.tree import DecisionTreeRegressor

    names, rows = list(reference), learned.rows
    pooled = [np.concatenate([reference[name][rows], data[name]]) for name in names]
    # Ranks instead of values: the tree's cuts are the same, and its single precision cannot blur them.
    levels, ranks = zip(*(np.unique(column, return_inverse=True) for column in pooled), strict=True)
    f = np.concatenate([learned.log_ratio_reference[rows], learned.log_ratio_data])
    weights = np.concatenate([np.abs(learned.share[rows]), np.ones(len(learned.log_ratio_data))])
    for target in (f, np.minimum(np.exp(np.minimum(f, 50.0)), _LARGEST_RATIO)):
        tree = DecisionTreeRegressor(max_depth=_DEPTH, min_samples_leaf=_LEAST, random_state=0)
        nodes = tree.fit(np.stack(ranks, axis=1), target, sample_weight=weights).tree_

        def walk(node: int, box: Box, nodes: object = nodes) -> Iterator[Box]:
            if box:
                yield box
            left, right = nodes.children_left[node], nodes.children_right[node]  # type: ignore[attr-defined]
            if left < 0:
                return
            column = int(nodes.feature[node])  # type: ignore[attr-defined]
            below = int(nodes.threshold[node])  # type: ignore[attr-defined]
            cut = 0.5 * float(levels[column][below]) + 0.5 * float(levels[column][below + 1])
            low, high = box.get(names[column], (-math.inf, math.inf))
            yield from walk(left, {**box, names[column]: (low, cut)}, nodes)
            yield from walk(right, {**box, names[column]: (cut, high)}, nodes)

        yield from walk(0, {})


def _count(
    cuts: tuple[Cut, ...], learned: Learned, reference: Mapping[str, Array], data: Mapping[str, Array]
) -> Region | None:
    inside = [np.ones(len(learned.share), dtype=bool), np.ones(len(learned.log_ratio_data), dtype=bool)]
    for cut in cuts:
        for mask, columns in zip(inside, (reference, data), strict=True):
            mask &= (columns[cut.name] > cut.low) & (columns[cut.name] < cut.high)
    share = learned.share[inside[0]]
    observed, expected, variance = int(inside[1].sum()), float(share.sum()), float((share**2).sum())
    variance += learned.variance_from_uncertainties(inside[0])
    if observed + len(share) < _LEAST or expected < 0:
        return None
    unit = float((learned.share**2).sum() / learned.share.sum())
    z = local_significance(observed, expected, variance, unit)
    return Region(cuts, observed, expected, math.sqrt(variance), z)


def _rounded(name: str, low: float, high: float, step: float, integer: bool) -> Cut:
    if integer:
        low, high = (math.floor(x) + 0.5 if math.isfinite(x) else x for x in (low, high))
        return Cut(name, low, high, integer=True)
    low_rounded, high_rounded = (
        float(f"{round(x / step) * step:.15g}") if math.isfinite(x) else x for x in (low, high)
    )
    if not low_rounded < high_rounded:  # narrower than the rounding
        low_rounded, high_rounded = low, high
    return Cut(name, low_rounded, high_rounded, integer=False)


def _step(values: Array) -> float:
    """The power of ten below a hundredth of the range: cuts are given to about two and a half digits of it."""
    low, high = np.quantile(values, (0.005, 0.995))
    reach = float(high - low) or abs(float(high)) or 1.0
    return float(10.0 ** math.floor(math.log10(reach / 100)))
