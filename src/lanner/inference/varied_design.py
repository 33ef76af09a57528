"""Null toys at a fixed design of values of the nuisance parameters, for data sets whose nu^ is not known beforehand.

A search makes toys at the nu^ that fits its data. Where toys have to be there before the data, they are made at the
centre, and at 1 and 2 uncertainties up and down of every nuisance that shapes the reference; how a toy stands among
toys of its own depends so little on the others that they need no points of their own. Data are then judged at the
points around their nu^, at each as one of its toys would be, and the toys of these points count in proportion to how
near they are: a share of each point's toys stands together for the null at nu^.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lanner.typing import Array
from lanner.uncertainties.effects import Effects

STEPS = (1.0, 2.0)  # uncertainties up and down, at which there are points
_FURTHEST = 2.5  # uncertainties, beyond which data need toys of their own
# The null changes with the shape that a nuisance gives the reference: by less than this, in the root mean square of its
# slope, it does not need points of its own.
_SHAPES = 0.02
_MOST = 6  # nuisances with points of their own, those of the largest slopes


@dataclass(frozen=True, eq=False)
class Design:
    """Values of the nuisance parameters at which there are null toys."""

    points: Array  # (points, K), the first of them 0

    @classmethod
    def of(cls, effects: Effects, weights: Array) -> Design:
        """The points that a reference with its weights needs."""
        number = len(effects.each)
        _, slopes, _ = effects.at(np.zeros(number))
        share = weights / weights.sum()
        centred = slopes - share @ slopes
        sizes = np.sqrt(share @ centred**2)
        shaping = [k for k in np.argsort(-sizes, kind="stable")[:_MOST] if sizes[k] > _SHAPES]
        points = [np.zeros(number)]
        for k in sorted(shaping):
            points += [sign * step * np.eye(number)[k] for step in STEPS for sign in (1, -1)]
        return cls(np.stack(points))

    def __len__(self) -> int:
        return len(self.points)

    def weights(self, nu: Array) -> Array | None:
        """How much the toys of each point count at nu; None where it lies outside.

        >>> two = Design(np.array([[0.0], [1.0], [-1.0], [2.0], [-2.0]]))
        >>> two.weights(np.array([0.25])).tolist(), two.weights(np.array([3.0]))
        ([0.75, 0.25, 0.0, 0.0, 0.0], None)
        """
        found = np.zeros(len(self))
        for k in np.flatnonzero(self.points.any(axis=0)):
            if abs(nu[k]) > _FURTHEST:
                return None
            there = np.flatnonzero(self.points[:, k] * np.sign(nu[k]) > 0)
            places = np.abs(self.points[there, k])
            there, places = there[np.argsort(places)], np.sort(places)
            at = np.interp(abs(nu[k]), [0.0, *places], np.arange(len(places) + 1))
            below, part = int(at), at - int(at)
            if below:
                found[there[below - 1]] += 1 - part
            if part:
                found[there[below]] += part
        found /= max(float(found.sum()), 1.0)
        found[0] = 1 - found.sum()
        return found


def mixed(weights: Array, toys: Sequence[Array], data: Sequence[float]) -> tuple[float, Array]:
    """The statistic of the data and the toys to compare it with, of points that count by their weights.

    Toys are compared with what the data are at their own point; so they are shifted to where the data are at the point
    that counts the most. The first toys of each point are taken, in proportion to its weight.
    """
    first = int(np.argmax(weights))
    number = [round(len(of_point) * float(weight)) for of_point, weight in zip(toys, weights, strict=True)]
    taken = [toys[j][:n] - data[j] + data[first] for j, n in enumerate(number) if n]
    return float(data[first]), np.concatenate(taken)
