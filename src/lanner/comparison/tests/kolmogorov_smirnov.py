"""Kolmogorov-Smirnov on each feature, corrected for the number of features."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lanner.comparison.protocol import OneByOne, Prepared
from lanner.comparison.toy_pool import ToyPool
from lanner.model.weightings import DATA, REFERENCE, Draw
from lanner.typing import Progress


@dataclass(frozen=True)
class KolmogorovSmirnov:
    """t = -log p, p the smallest of the features' asymptotic p-values, corrected (Sidak) for having taken it."""

    name: str = "ks"

    def settings(self, pool: ToyPool) -> dict[str, Any]:  # noqa: D102
        return {}

    def prepare(  # noqa: D102
        self, pool: ToyPool, folder: Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        orders = []
        for column in pool.events.T:
            order = np.argsort(column, kind="stable")
            # Of equal values only the last is a place where the two distributions can be compared.
            last = np.append(np.diff(column[order]) > 0, True)
            orders.append((order, np.flatnonzero(last)))
        return _Sorted(orders)


@dataclass(frozen=True, eq=False)
class _Sorted(OneByOne):
    orders: list[tuple[NDArray[np.intp], NDArray[np.intp]]]

    def statistic(self, draw: Draw) -> float:
        """-log of the corrected p-value."""
        return -log_corrected(*self.distance(draw), len(self.orders))

    def distance(self, draw: Draw) -> tuple[float, float]:
        """The largest distance of any feature, and how many events the two samples are worth."""
        roles = draw.roles()
        n, m = len(draw.data), int(np.count_nonzero(roles == REFERENCE))
        if not n:
            return 0.0, 0.0
        steps = np.where(roles == DATA, 1 / n, np.where(roles == REFERENCE, -1 / m, 0.0))
        found = max(float(np.abs(np.cumsum(steps[order])[last]).max()) for order, last in self.orders)
        return found, n * m / (n + m)


def log_corrected(distance: float, events: float, features: int) -> float:
    """log of the asymptotic p-value of the largest distance of several features.

    >>> round(float(np.exp(log_corrected(0.05, 1000.0, 1))), 6), round(float(np.exp(log_corrected(0.05, 1000.0, 3))), 6)
    (0.013476, 0.039885)
    """
    x = events**0.5 * distance
    p = float(stats.kstwobign.sf(x))
    if p < 1e-12:  # where 1 - (1 - p)^features is features p, and p its first term
        return float(np.log(2.0 * features) - 2 * x * x)
    return float(np.log(-np.expm1(features * np.log1p(-p)))) if p < 1 else 0.0
