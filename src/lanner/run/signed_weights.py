"""References whose weights are of either sign: toys are drawn by their local mean, which is learned here."""

from __future__ import annotations

import warnings

import numpy as np

from lanner._util.progress import PREPARING
from lanner._util.text import count
from lanner.errors import WeightWarning
from lanner.events import Sample
from lanner.events.planning import for_planning
from lanner.inference.units import Chosen, learn_units
from lanner.settings import FitSettings
from lanner.typing import Progress
from lanner.uncertainties.mean_weight import mean_weights

_MOST_LOST = 1e-3  # of the total weight, where the local mean came out below 0
_LEAST = 200  # events, to learn anything from


def with_toy_weights(
    reference: Sample, settings: FitSettings, *, memory: int, progress: Progress | None = None
) -> tuple[Sample, tuple[Chosen, ...]]:
    """The reference with the local mean of its weights, where some of these are negative; and what there is to say."""
    w = reference.weights
    if w is None or reference.toy_weights is not None or not (w < 0).any() or settings.null not in (None, "reference"):
        return reference, ()
    if len(reference) < _LEAST:
        return reference, ()  # which the plan refuses
    if progress is not None:
        progress(f"{PREPARING} the local mean of the weights", 0, 1)
    found = mean_weights(reference, learn_units(for_planning(reference), settings), seed=settings.seed, memory=memory)
    if found.lost > _MOST_LOST:
        warnings.warn(
            f"the local mean of the reference's weights is below 0 at {count(found.clipped, 'event')} of "
            f"{len(reference)}, {found.lost:.1%} of the total weight: toys have no data there, and real data will look "
            "like a departure. Use more events, or leave out where negative weights outweigh the positive ones",
            WeightWarning,
            stacklevel=5,
        )
    share = float(np.mean(w < 0))
    chosen = Chosen(
        "toys' data",
        "by the local mean of the weights",
        f"{share:.1%} of the reference's weights are negative; {count(found.clipped, 'event')} whose mean is, too",
    )
    return (
        Sample(reference.features, reference.names, w, label="reference", toy_weights=found.values),
        (chosen,),
    )
