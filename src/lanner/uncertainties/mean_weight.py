"""The local mean of event weights, E[w | x]: what toys are drawn by where single weights are negative.

Events of a generator at next-to-leading order have weights of either sign, of which only the mean over neighbouring
events has a meaning: n(x) = p(x) E[w | x], where p is the density of the generated events. A toy's data are accepted
with a probability proportional to E[w | x], while statistics use the weights as they are.

E[w | x] is a sum of smooth functions of x (`smooth`), by least squares, the penalties chosen on halves of the events
and the coefficients then learned from all of them. So it reproduces sum_e w_e psi(x_e) for these functions, but for the
penalty. Where it comes out below 0 there are no toy data; how many events that concerns is counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lanner.events import Sample, Scaling
from lanner.typing import Array
from lanner.uncertainties.regression import least_squares, refitted, second_moments
from lanner.uncertainties.smooth import Part, Smooth, halves, stretch_edges

_STREAM = 78  # of random numbers: which events are centres


@dataclass(frozen=True, eq=False)
class MeanWeights:
    """The local mean of the weights at each event."""

    values: Array  # none negative; they add up to what the weights do
    clipped: int  # events where it came out below 0
    lost: float  # what these would have added, as a part of the total


def mean_weights(sample: Sample, scaling: Scaling, *, seed: int, memory: int) -> MeanWeights:
    """Learn the local mean of a sample's weights.

    >>> x = np.random.default_rng(1).exponential(size=4000)
    >>> w = np.where(np.arange(4000) % 5 == 0, -1.0, 1.0)
    >>> sample = Sample.of(x, weights=w)
    >>> found = mean_weights(sample, Scaling.learn(sample), seed=1, memory=10**9)
    >>> bool(abs(found.values / 0.6 - 1).max() < 0.2)
    True
    """
    assert sample.weights is not None
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_STREAM,)))
    smooth = Smooth.choose(sample.features, scaling, rng=rng, memory=memory)
    rows = halves(len(sample))
    # Not stored, in single precision: toys would depend on whether there is room, and three passes are all there are.
    parts = [
        Part(smooth, sample.features[half], np.ones(len(half)), stretch_edges(len(sample), k), stored=False)
        for k, half in enumerate(rows)
    ]
    unit = sample.total_weight / len(sample)
    targets = [sample.weights[half, None] / unit for half in rows]
    moments = second_moments(parts)
    penalties = least_squares(parts, moments, targets).penalties[0]
    assert penalties is not None
    c = refitted(parts, moments, targets, penalties)
    found = np.empty(len(sample))
    for part, half in zip(parts, rows, strict=True):
        found[half] = part.sums(c)[:, 0]
    values = np.maximum(found, 0.0)
    lost = float(values.sum() - found.sum()) / len(sample)
    return MeanWeights(values * (sample.total_weight / values.sum()), int(np.count_nonzero(found < 0)), lost)
