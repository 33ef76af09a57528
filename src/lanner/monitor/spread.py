"""Run-to-run spread: the few ways in which good batches differ beyond chance, learned from them, which are no alarm.

Of G batches that are known to be good, the means of all readings less what the reference predicts are y_g. Their
directions, each divided by (s + rho)^1/2 so that what a typical batch can tell counts alike, are rows of Z, weighted by
w_g where batches are small. Two batches share no event, so that chance adds nothing to Z Z^T but on its diagonal, where
it is known and taken away. An eigenvector u of what is left, whose eigenvalue no toys without spread reach, is a way in
which batches differ:

    D = sum_g u_g w_g y_g / (sum_g w_g^2)^1/2

is the shift of all readings, of all widths, for a strength a = 1, where strengths follow a Normal(0, 1). A batch is
judged by what goes beyond it. At each width its strength is fitted, with the prior that says so, and taken away,

    a^ = B^-1 D^T (S + rho)^-1 (n y),   B = n D^T (S + rho)^-1 D + 1,   n y - n D a^

from the directions, from what windows of local excesses predict, and from what lies far out; toys have strengths of
their own and go the same way (`uncertainties` has the same for nuisance parameters that are known beforehand).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lanner.errors import InputError
from lanner.inference.seeds import Stream, rng_of
from lanner.monitor.toys import SMALLEST, Sizes, ToyMaker
from lanner.monitor.yardstick import Halves, Yardstick
from lanner.typing import Array

LEAST_BATCHES = 10
MOST_DIRECTIONS = 5
_PLACE = 6  # of the random numbers of the toys without spread
_SETS, _QUANTILE = 60, 0.98  # of toys without spread, and which of their largest eigenvalues has to be exceeded


@dataclass(frozen=True, eq=False)
class Spread:
    """The ways in which good batches differ."""

    shifts: Array  # (ways, readings): of the means of all readings but the number, for a strength of 1
    strengths: Array  # (ways,): how far a typical good batch is off, in units of its fluctuation by chance
    batches: int  # of which it was learned

    @property
    def ways(self) -> int:
        """How many there are."""
        return len(self.shifts)


def spread_of(yardstick: Yardstick, halves: Halves, sums: Array, *, seed: int) -> Spread:
    """Learn it from the sums of good batches, (G, columns)."""
    sums = sums[sums[:, 0] >= SMALLEST]
    if len(sums) < LEAST_BATCHES:
        raise InputError(
            f"{len(sums)} good batches have {SMALLEST} events or more, and the spread of batches takes "
            f"{LEAST_BATCHES}: give more, or none"
        )
    sizes, readings = sums[:, 0], yardstick.read(sums)
    typical = float(np.median(sizes))
    weights = np.sqrt(np.minimum(1.0, sizes / typical))
    means = (readings / sizes[:, None])[:, 1:] - _predicted(yardstick)
    values, vectors = np.linalg.eigh(_gram(yardstick, means, sizes, weights, typical))
    least = _by_chance(yardstick, halves, sizes, weights, typical, seed)
    kept = [k for k in np.argsort(-values)[:MOST_DIRECTIONS] if values[k] > least]
    total = float(np.sum(weights**2))
    shifts = (vectors[:, kept] * weights[:, None]).T @ means / total**0.5
    noise = _noise(yardstick, typical) / typical
    return Spread(shifts, np.sqrt(values[kept] / total / noise), len(sums))


def with_spread(yardstick: Yardstick, spread: Spread) -> Yardstick:
    """A yardstick that judges what goes beyond the spread."""
    if not spread.ways:
        return yardstick
    widths, start = [], 0
    for width in yardstick.widths:
        widths.append(replace(width, spread=spread.shifts[:, start : start + width.readings].copy()))
        start += width.readings
    return replace(yardstick, widths=tuple(widths))


def _predicted(yardstick: Yardstick) -> Array:
    """What the reference predicts of the readings of one event."""
    parts = [[np.zeros(len(w.values)), w.mean[: len(w.squares)], w.far[:1]] for w in yardstick.widths]
    return np.concatenate([one for part in parts for one in part])


def _noise(yardstick: Yardstick, typical: float) -> float:
    """The sum of the variances of one event in the directions of all widths, as they count."""
    return float(sum(np.sum(w.values / (w.values + w.rho(typical))) for w in yardstick.widths))


def _gram(yardstick: Yardstick, means: Array, sizes: Array, weights: Array, typical: float) -> Array:
    """Z Z^T without what chance adds to its diagonal."""
    columns, start = [], 0
    for width in yardstick.widths:
        along = means[:, start : start + len(width.values)]
        columns.append(along / np.sqrt(width.values + width.rho(typical)))
        start += width.readings
    z = np.hstack(columns) * weights[:, None]
    return np.asarray(z @ z.T - np.diag(weights**2 * _noise(yardstick, typical) / sizes))


def _by_chance(yardstick: Yardstick, halves: Halves, sizes: Array, weights: Array, typical: float, seed: int) -> float:
    """The largest eigenvalue that batches without any spread rarely exceed."""
    of_toys = Sizes.up_to(float(sizes.max()))
    step = np.clip(np.round(np.log2(sizes / SMALLEST)), 0, of_toys.steps).astype(np.intp)
    number = max(2000, _SETS * len(sizes))
    chosen = rng_of(seed, Stream.MONITOR, _PLACE).integers(number, size=(_SETS, len(sizes)))
    columns = []
    for width in yardstick.widths:
        means = np.zeros((_SETS, len(sizes), width.readings))
        for k, toys in enumerate(ToyMaker(width, halves, seed).batches(number, of_toys.steps, _PLACE)):
            here, size = step == k, SMALLEST * 2**k
            if not here.any():
                continue
            off = toys[chosen[:, here]] - toys.mean(axis=0, dtype=np.float64)
            along = width.project(off.reshape(-1, width.rank + 1)[:, :-1].T).T.reshape(*off.shape[:2], -1)
            # A toy is not quite as large as the batch that it stands for.
            means[:, here, : len(width.values)] = along / np.sqrt(size * sizes[here])[:, None]
        columns.append(means)
    sets = np.concatenate(columns, axis=2)
    largest = [np.linalg.eigvalsh(_gram(yardstick, one, sizes, weights, typical))[-1] for one in sets]
    return float(np.quantile(largest, _QUANTILE))
