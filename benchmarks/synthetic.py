"""Synthetic events shaped like the paper's: momenta with heavy tails, pseudorapidities, angles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Shape:
    """One of the paper's four problems: sizes and settings as in its Sec. 4 and App. C."""

    name: str
    dimensions: int
    reference: int  # N0
    expected: int  # N(0)
    centers: int  # M
    width: float
    penalty: float
    newton_steps: int | None = None

    def reduced(self, factor: float) -> Shape:
        """The same problem with fewer events and centres; N(0)/N0, width and penalty as they are."""
        return replace(
            self,
            reference=max(4000, int(self.reference / factor)),
            expected=max(800 if self.dimensions > 1 else 40, int(self.expected / factor)),
            centers=max(300, int(self.centers / factor)),
        )

    def thinned(self) -> Shape:
        """A tenth of the events and half the centres, so that a fit with all centres can be done."""
        return replace(self, reference=self.reference // 10, expected=self.expected // 10, centers=self.centers // 2)

    def smallest(self) -> Shape:
        """The same problem at a size of seconds, where only whether it runs is of interest."""
        return replace(self, reference=2000, expected=100, centers=100)


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("1-D", 1, 200_000, 2_000, 3_000, 0.3, 1e-10, newton_steps=1),
        Shape("5-D", 5, 100_000, 20_000, 20_000, 3.0, 1e-6),
        Shape("8-D", 8, 500_000, 100_000, 10_000, 4.5, 1e-6),
        # All 10 000 centres matter a little in 21 dimensions; the default cap on the rank applies.
        Shape("21-D", 21, 500_000, 100_000, 10_000, 7.0, 1e-6),
    )
}


def events(dimensions: int, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """n events: exponential in one dimension, otherwise standardised physics-like features."""
    if dimensions == 1:
        return rng.exponential(1 / 8, (n, 1))
    momenta = (dimensions + 2) // 3
    directions = (dimensions - momenta + 1) // 2
    angles = dimensions - momenta - directions
    common = rng.standard_normal((n, 1))
    pt = np.exp(0.5 * (0.8 * rng.standard_normal((n, momenta)) + 0.6 * common))
    eta = rng.normal(0, 1.1, (n, directions)).clip(-2.5, 2.5)
    phi = rng.uniform(-np.pi, np.pi, (n, angles))
    x = np.hstack([pt, eta, phi])
    x -= x.mean(axis=0)
    x /= x.std(axis=0)
    return x
