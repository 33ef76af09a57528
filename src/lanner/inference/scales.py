"""Which widths and penalties a search looks at when it is told neither: chosen from the reference, before any data.

**Widths.** No kernel width is best for every signal. The ladder goes in equal ratios from the distance that a fifth
of all pairs of reference events keep below, the size of fine structure, to one that hardly any pair exceeds, the
whole sample.

**Penalties.** The fit is that of a Gaussian process: a penalty lambda on n events says that the log-ratio f is
expected to be of the size

    tau = (c lambda n)^(-1/2)        c = 2 for the logistic loss, 1 for the extended likelihood

before the data are seen. So a penalty is named by the deviations worth looking for, whatever the number of events:
tau = 0.7 looks for densities that differ by a factor of 2, tau = 0.2 for 20 %, which only many events can show, tau
= 2 for a few events where next to none are expected.
"""

from __future__ import annotations

import numpy as np

from lanner.errors import InputError
from lanner.events.scaled_rows import Rows
from lanner.model.kernel import pairwise_width
from lanner.model.loss import Loss, null_curvature

QUANTILES = (0.2, 0.98)  # of the distances between reference events, for the finest and the coarsest width
WIDTHS = 4
# Sizes of f that are looked for: q, which needs no fit, takes several; a fit takes one.
DEVIATIONS = {"score": (0.2, 0.7, 2.0), "likelihood-ratio": (2.0,)}


def ladder_of_widths(reference: Rows, rng: np.random.Generator, number: int = WIDTHS) -> list[float]:
    """Widths in equal ratios, fine to coarse, from the distances between scaled reference events."""
    fine, coarse = (pairwise_width(reference, quantile=q, rng=rng) for q in QUANTILES)
    if not 0 < fine < coarse:
        raise InputError(
            "a fifth of the distances between reference events are 0, so no ladder of widths follows from them: give "
            "width=, or drop features that hardly vary"
        )
    return [float(w) for w in np.geomspace(fine, coarse, number)]


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
