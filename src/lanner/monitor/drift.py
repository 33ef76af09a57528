"""In which direction each feature drifts, from the counts in its bins alone.

Each bin of a feature has a normal score, that of the middle of its share of the reference, so that the mean score of a
batch says how far its values have moved, in standard deviations of the feature, whatever its shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from lanner.monitor.bins import Bins
from lanner.typing import Array


@dataclass(frozen=True, eq=False)
class Shifts:
    """Mean shifts of features in units of their spread, (features, batches)."""

    names: tuple[str, ...]
    shift: Array
    error: Array  # (batches,)

    @property
    def sure(self) -> Array:
        """The part of each shift that is not noise: shift (1 - 1 / z^2), or 0 within one error."""
        with np.errstate(divide="ignore", invalid="ignore"):
            kept = np.maximum(0.0, 1 - np.square(self.error / self.shift))
        return np.where(np.isfinite(kept), kept, 0.0) * self.shift

    def leading(self, number: int) -> Shifts:
        """The features that have moved most, on average over the batches."""
        order = np.argsort(-np.sqrt(np.mean(np.square(self.sure), axis=1)), kind="stable")[:number]
        return Shifts(tuple(self.names[j] for j in order), self.shift[order], self.error)


def shifts(bins: Bins, counts: Array, worth: float) -> Shifts:
    """Of counts in bins, (batches, bins of all features), beside a reference that is worth so many events."""
    found, start = [], 0
    for share in bins.shares:
        own = counts[:, start : start + len(share)]
        start += len(share)
        total = np.maximum(own.sum(axis=1), 1.0)
        found.append(own @ _scores(share) / total)
    sizes = np.maximum(counts[:, : len(bins.shares[0])].sum(axis=1), 1e-9)
    return Shifts(bins.names, np.array(found), np.sqrt(1 / sizes + 1 / worth))


def _scores(share: Array) -> Array:
    """With mean 0 and variance 1 over the reference; a feature with one value has none."""
    middle = np.clip(np.cumsum(share) - share / 2, 1e-9, 1 - 1e-9)
    raw = norm.ppf(middle)
    raw = raw - raw @ share
    spread = float(np.sqrt(np.square(raw) @ share))
    return raw / spread if spread > 0 else np.zeros_like(raw)
