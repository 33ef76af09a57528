"""Which widths and penalties a search looks at when it is told neither: chosen from the reference, before any data.

**Widths.** No kernel width is best for every signal. The ladder goes in equal ratios from the finest width that the
data can resolve, at which a typical kernel still holds some tens of the expected events, to one that hardly any pair of
reference events exceeds, the whole sample.

**Penalties.** The fit is that of a Gaussian process: a penalty lambda on n events says that the log-ratio f is
expected to be of the size

    tau = (c lambda n)^(-1/2)        c = 2 for the logistic loss, 1 for the extended likelihood

before the data are seen. So a penalty is named by the deviations worth looking for, whatever the number of events:
tau = 0.1 looks for densities that differ by 10 %, which only many events can show, tau = 1.2 for a factor of 3. With
tau = 20 every direction counts by its own fluctuation alone, however small its part in the reference; that pays in more
than two dimensions, and only at the coarsest widths, because at fine ones single events rule. In one or two dimensions
the terms beside the scales (`inference/terms.py`) find a few events where next to none are expected.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from lanner.errors import InputError
from lanner.events.scaled_rows import Rows
from lanner.model.kernel import pairwise_width
from lanner.model.loss import Loss, null_curvature

FINE, COARSE = 0.2, 0.98  # quantiles of the distances between reference events: the finest width is no coarser
OCCUPANCY = 80.0  # expected events within a typical kernel of the finest width (sum of k, median over events)
LEAST_WIDTHS, LARGEST_RATIO = 4, 3.4  # of neighbouring widths
_DEPTH = 300.0  # the coarsest width over the finest, at most: ties would make the finest 0
_ANCHORS, _NEIGHBOURS = 400, 2500  # events by which the occupancy is estimated, and those around them
# Sizes of f that are looked for: q, which needs no fit, takes several; a fit takes one.
DEVIATIONS = {"score": (0.1, 0.35, 1.2), "likelihood-ratio": (2.0,)}
ANY_SIZE, COARSEST, MANY_FEATURES = 20.0, 2, 3  # of the score, beside them at the coarsest widths of so many features


def deviations_at(statistic: str, widths: Sequence[float], width: float, *, features: int) -> tuple[float, ...]:
    """The sizes of f that are looked for at one of several widths.

    >>> deviations_at("score", [0.1, 0.5, 2.5], 0.5, features=4)
    (0.1, 0.35, 1.2, 20.0)
    """
    many = statistic == "score" and features >= MANY_FEATURES
    return DEVIATIONS[statistic] + ((ANY_SIZE,) if many and width in sorted(widths)[-COARSEST:] else ())


def ladder_of_widths(reference: Rows, expected: float, rng: np.random.Generator) -> list[float]:
    """Widths in equal ratios, fine to coarse, from the distances between scaled reference events."""
    fine, coarse = (pairwise_width(reference, quantile=q, rng=rng) for q in (FINE, COARSE))
    if not coarse > 0:
        raise InputError(
            "nearly all distances between reference events are 0, so no ladder of widths follows from them: give "
            "width=, or drop features that hardly vary"
        )
    finest = finest_width(reference, expected, rng)
    finest = max(min(finest, fine if fine > 0 else coarse), coarse / _DEPTH)
    steps = max(LEAST_WIDTHS - 1, int(np.ceil(np.log(coarse / finest) / np.log(LARGEST_RATIO))))
    return [float(w) for w in np.geomspace(finest, coarse, steps + 1)]


def finest_width(reference: Rows, expected: float, rng: np.random.Generator) -> float:
    """The width at which the kernel of a typical event sums up to `OCCUPANCY` over the expected events."""
    n = len(reference)
    anchors, others = (reference[rng.permutation(n)[:most]] for most in (_ANCHORS, _NEIGHBOURS))
    squares = cdist(anchors, others, "sqeuclidean")
    apart = squares[squares > 0]
    if not apart.size:
        return 0.0

    def occupancy(log_width: float) -> float:
        return expected * float(np.median(np.exp(-squares / (2 * np.exp(2 * log_width))).mean(axis=1)))

    low, high = 0.5 * np.log(apart.min()) - 5, 0.5 * np.log(apart.max()) + 5
    if occupancy(high) <= OCCUPANCY:
        return float(np.exp(high))
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (low, middle) if occupancy(middle) > OCCUPANCY else (middle, high)
    return float(np.exp(high))


def penalty_for(deviation: float, *, events: float, loss: Loss) -> float:
    """The penalty under which log-ratios of the size `deviation` are expected.

    >>> from lanner.model.loss import loss_by_name
    >>> penalty_for(0.7, events=202_000, loss=loss_by_name("logistic"))
    5.05...e-06
    """
    return null_curvature(loss) / (deviation**2 * events)


def deviation_of(penalty: float, *, events: float, loss: Loss) -> float:
    """The size of f that a penalty expects; the inverse of `penalty_for`."""
    return float((null_curvature(loss) / (penalty * events)) ** 0.5)
