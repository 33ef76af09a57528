"""A pool of a reference at the nuisance parameters nu^ that fit the data best: toys are drawn and judged there.

Each row of the bunches holds sum_accepted phi + a0 sum_all v phi, with a0 = N(0) / (weight of a toy's reference): what
a toy that takes the row adds to u, its data and what is no longer its reference. With delta = nu - nu^ of its own fit,

    u = sum_rows H - a0 Phi(delta)     Phi(delta): the sum of w r(x; nu^ + delta) phi over all, by powers of delta

(delta changes only what is still its reference), so that a toy costs one sum over its rows, as without nuisances. At
its best nu the score of the nuisances themselves is 0, and u needs no projection; its covariance does: with the second
moments under v, in units of the events predicted,

    I_eff / N = E[phi phi^T] - E[phi d^T] (E[d d^T] + 1/N)^-1 E[d phi^T]

is what directions are weighed by. Where only the shape is tested, moments with d are those about the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import blas_threads_for, require_memory
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.varied_sums import ROWS, EventFeatures, moments_at_nu, summed_at_nu
from lanner.model.backend import NUMPY, Arrays
from lanner.model.bunches import Bunches
from lanner.model.features import PRECISIONS, StoredFeatures
from lanner.model.local_excess import LocalExcess
from lanner.model.nystrom import Basis
from lanner.model.score_model import ScoreModel
from lanner.model.score_pool import ScorePool
from lanner.model.splits import Splits
from lanner.model.summing import Whitened, reach_columns
from lanner.model.taken import Taken
from lanner.model.weightings import Draw
from lanner.typing import Array
from lanner.uncertainties.effects import Effects
from lanner.uncertainties.toys import Monomials, OwnFits, VariedReference


@dataclass(frozen=True, eq=False)
class NuisanceRows:
    """Sums over the events of each row of the bunches that say how the nuisances act: the same at every width."""

    counts: NDArray[np.intp]  # data events, if the row is taken
    slopes: Array  # (rows, K): sums of d over these
    curvatures: Array  # (rows, K)
    mass: Array  # weight that is no longer reference, if the row is taken
    columns: Array  # (rows, powers): sums of `VariedReference.columns` over all events; 0 for the data
    total: Array  # of these over the whole reference
    weight: float  # of the whole reference
    monomials: Monomials

    @classmethod
    def of(cls, bunches: Bunches, varied: VariedReference, data: Sequence[Effects]) -> NuisanceRows:
        """Of the bunches, whose last rows are data sets, or single events of these."""
        events, starts = bunches.events[: bunches.total], bunches.starts[: bunches.drawn]
        beside, own_starts = len(bunches) - bunches.drawn, bunches.starts[bunches.drawn : -1] - bunches.total
        of_data = [effects.at(varied.nu) for effects in data]

        def by_row(values: Array, last: Array) -> Array:
            return np.concatenate([np.add.reduceat(values, starts, axis=0), last])

        def of_those(part: int) -> Array:
            if not beside:
                return np.zeros((0, len(varied.nu)))
            return np.asarray(np.add.reduceat(np.concatenate([one[part] for one in of_data]), own_starts, axis=0))

        accepted = varied.accepted[events]  # heavy events are, all of them
        columns = varied.columns(events)
        numbers = bunches.sizes[bunches.drawn :].astype(np.float64)
        return cls(
            by_row(accepted.astype(np.float64), numbers).astype(np.intp),
            by_row(varied.slopes[events] * accepted[:, None], of_those(1)),
            by_row(varied.curvatures[events] * accepted[:, None], of_those(2)),
            by_row(varied.weights[events], np.zeros(beside)),
            by_row(columns, np.zeros((beside, columns.shape[1]))),
            columns.sum(axis=0),
            float(varied.weights.sum()),
            varied.monomials,
        )

    def fits(self, draws: Sequence[Draw], *, expected: float, shape_only: bool) -> OwnFits:
        """The fits of the nuisances of some draws."""
        sums = _Sums(draws)
        return OwnFits(
            self.monomials,
            np.stack([d.auxiliary for d in draws if d.auxiliary is not None]),
            sums(self.slopes),
            sums(self.curvatures),
            self.total - sums(self.columns),
            expected / (self.weight - sums(self.mass)),
            sums(self.counts.astype(np.float64)),
            shape_only,
        )

    def taken(self, draws: Sequence[Draw], *, expected: float, shape_only: bool) -> VariedTaken:
        """What draws take, each with a fit of the nuisances of its own."""
        fits, sums = self.fits(draws, expected=expected, shape_only=shape_only), _Sums(draws)
        rows, ends, removed, number = sums.rows, sums.ends, sums(self.mass), fits.number
        delta = fits.solve()
        powers, scale = self.monomials(delta), fits.scale
        predicted = scale * np.einsum("bp,bp->b", fits.sums, powers)
        if shape_only:
            scale, predicted = scale * number / predicted, number
        # What is no longer reference is in the rows as it is at nu^, and is a random part of all.
        powers[:, 1:] *= (1 - removed / self.weight)[:, None]
        return VariedTaken(
            len(self.counts),
            rows,
            ends,
            np.ones(len(rows), dtype=bool),
            np.ones(len(rows)),
            scale,
            tuple(d.split for d in draws),
            np.zeros(len(draws)),  # what a toy took from the reference is in its rows already
            delta,
            powers,
            number,
            predicted,
        )


@dataclass(frozen=True, eq=False)
class VariedTaken(Taken):
    """What draws take, and where their own fits of the nuisances end."""

    delta: Array  # (B, K)
    powers: Array  # (B, powers of delta), those of what is no longer reference left out
    number: Array  # (B,): data events
    predicted: Array  # (B,): how many the reference predicts at their own nuisances


@dataclass(frozen=True, eq=False, kw_only=True)
class ProfiledPool(ScorePool):
    """Rows whose draws fit the nuisances, and the reference as a series in how far these are from nu^."""

    rows: NuisanceRows
    totals: Array  # (r, powers): Phi
    expected: float  # N(0), at the central values
    shape_only: bool

    def taken(self, draws: Sequence[Draw]) -> VariedTaken:  # noqa: D102
        return self.rows.taken(draws, expected=self.expected, shape_only=self.shape_only)

    def _background(self, taken: Taken, part: slice) -> Array:
        assert isinstance(taken, VariedTaken)
        return np.asarray(self.totals @ (taken.powers[part] * taken.scale[part, None]).T)


@dataclass(frozen=True, eq=False, kw_only=True)
class VariedPool(ProfiledPool):
    """A pool at nu^."""

    varied: VariedReference
    pivot_events: NDArray[np.intp] | None

    @cached_property
    def _pivots_accepted(self) -> NDArray[np.bool_]:
        """Which pivots would be data of a toy that takes their row."""
        assert self.pivot_events is not None
        return self.varied.accepted[self.pivot_events]

    def pivots_among(self, taken: Taken) -> Array | None:  # noqa: D102
        found = super().pivots_among(taken)
        return None if found is None else found * self._pivots_accepted[:, None]

    @classmethod
    def at(
        cls,
        varied: VariedReference,
        rows: NuisanceRows,
        events: ScaledRows,
        basis: Basis,
        bunches: Bunches,
        *,
        expected: float,
        shape_only: bool,
        precision: str,
        memory: int,
        splits: Splits | None,
        pivots: NDArray[np.intp] | None,
        arrays: Arrays = NUMPY,
        source: EventFeatures | None = None,
        told: Callable[[float], None] | None = None,
    ) -> VariedPool:
        """One pass over the events, whose last are the data, for all that toys at nu^ need.

        `source` may have the features of the reference already, where several data sets are judged.
        """
        whitened, dtype = Whitened.of(basis, arrays), PRECISIONS[precision]
        columns = reach_columns(bunches.total, basis.rank)
        work = 4 * 8 * basis.rank**2 + 8 * 8 * basis.rank * ROWS
        source = EventFeatures(events, whitened) if source is None else source
        require_memory(
            len(bunches) * basis.rank * dtype.itemsize + work, memory, f"the features of {len(bunches)} rows"
        )
        predicted = expected * (1.0 if shape_only else varied.growth)
        with blas_threads_for(basis.rank):
            found = summed_at_nu(varied, source, bunches, predicted, expected, columns, dtype, pivots, told)
            plain, effective = moments_at_nu(varied, source, bunches, splits, predicted, dtype, shape_only=shape_only)
            second = sum((m.second for m in plain), np.zeros_like(plain[0].second)) / len(plain)
            v = varied.varied
            local = LocalExcess.of(
                basis, found.totals[:, 0] / v.sum(), second, expected=predicted, worth=float(v.sum() ** 2 / (v @ v))
            )
            bases = tuple(m.eigenbasis for m in effective)
        model = ScoreModel(basis, bases, local, found.totals[:, 0], float(varied.weights.sum()), predicted, arrays)
        return cls(
            model=model,
            features=StoredFeatures(basis, arrays.put(found.phi, dtype), dtype, arrays),
            bunches=bunches,
            residuals=found.residuals,
            memory=memory,
            pivot_rows=None if pivots is None else bunches.rows_of(pivots),
            varied=varied,
            rows=rows,
            totals=found.totals,
            expected=expected,
            shape_only=shape_only,
            pivot_events=pivots,
        )


class _Sums:
    """Sums of what rows have over the rows of each draw."""

    def __init__(self, draws: Sequence[Draw]) -> None:
        self.rows: NDArray[np.intp] = np.concatenate([d.data for d in draws])
        self.ends: NDArray[np.intp] = np.concatenate([[0], np.cumsum([len(d.data) for d in draws])])

    def __call__(self, values: Array) -> Array:
        taken = values[self.rows]
        summed = np.concatenate([np.zeros((1, *taken.shape[1:])), np.cumsum(taken, axis=0)])
        return np.asarray(summed[self.ends[1:]] - summed[self.ends[:-1]])
