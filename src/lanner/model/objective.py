"""The objective of a batch of fits: what it is, where it stands, and how a solver reports its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lanner.model.backend import Values, column_dots
from lanner.model.features import Features
from lanner.model.loss import CEILING, Loss, exp_capped, statistic_sum
from lanner.model.parallel import sum_over_rows
from lanner.model.weightings import Weightings
from lanner.typing import Array

# A step is cut back where the slope at its end exceeds this part of the slope at its start: J is convex
# along a step, so it has gone down if the end's slope is not much above zero.
OVERSHOOT = 0.5


@dataclass(frozen=True, eq=False)
class Solution:
    """How a batch of fits ended."""

    coefficients: Array  # (r, B), of Phi
    statistic: Array  # (B,) t
    converged: NDArray[np.bool_]  # (B,)
    iterations: NDArray[np.int64]  # (B,) passes over the events
    decrement: Array  # (B,) Newton decrement sqrt(g^T H^-1 g): how far t may still be off, over 2 sqrt(t)

    @classmethod
    def joined(cls, parts: Sequence[Solution]) -> Solution:
        """Several batches as one."""
        return cls(
            coefficients=np.hstack([p.coefficients for p in parts]),
            statistic=np.concatenate([p.statistic for p in parts]),
            converged=np.concatenate([p.converged for p in parts]),
            iterations=np.concatenate([p.iterations for p in parts]),
            decrement=np.concatenate([p.decrement for p in parts]),
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """The objective of a batch: features, weightings, loss and ridge = penalty * n."""

    features: Features
    weightings: Weightings
    loss: Loss
    ridge: Array  # (B,)
    # Where the loss is expanded to second order: nowhere, at f = 0, or at the f of these coefficients.
    anchor: Values | str | None = None
    center: Array | None = None  # (r, B): where the ridge pulls coefficients to; None: to 0

    def take(self, fits: NDArray[np.bool_] | NDArray[np.intp]) -> Problem:
        """Some of the fits."""
        anchor = self.anchor
        if anchor is not None and not isinstance(anchor, str):
            anchor = self.features.arrays.take(anchor, np.arange(len(self.weightings))[fits], axis=1)
        center = None if self.center is None else self.center[:, fits]
        return replace(
            self, weightings=self.weightings.take(fits), ridge=self.ridge[fits], anchor=anchor, center=center
        )

    def evaluate(self, w: Values) -> tuple[Array, Values]:
        """t (on the host) and the gradient of J at w (where the features are), for each fit: one pass over them."""
        features, arrays = self.features, self.features.arrays
        dtype = features.dtype
        size = column_dots(w, w)
        lifted = features.lift(w) if bool(arrays.xp.any(size != 0)) else None
        # |phi(x)|^2 <= k(x, x) = 1, so |f| <= |w|: where that is small, no exponential has to be capped.
        exp = arrays.xp.exp if bool(arrays.xp.all(size < CEILING**2)) else exp_capped
        anchored = None if self.anchor is None or isinstance(self.anchor, str) else features.lift(self.anchor)
        batch = len(self.weightings)
        zero = arrays.zeros((1, 1), dtype)  # f of no coefficients, wherever it is

        def block_sums(rows: slice) -> tuple[Values, Values]:
            block = features.block(rows)
            v0, v1 = self.weightings.block(rows, dtype, arrays)
            f = block @ lifted if lifted is not None else zero
            exp_f = exp(f)
            t = statistic_sum(f, exp_f, v0, v1) if lifted is not None else arrays.zeros((batch,), dtype)
            if self.anchor is None:
                slope = self.loss.slope(f, exp_f)
            else:  # A'(f0) + A''(f0) (f - f0)
                f0 = zero if anchored is None else block @ anchored
                exp_f0 = exp_capped(f0)
                slope = self.loss.slope(f0, exp_f0) + self.loss.curvature(f0, exp_f0) * (f - f0)
            residual = self.loss.weight(v0, v1)
            residual *= slope
            residual -= v1
            return t, block.T @ residual

        t, g = sum_over_rows(
            len(features), min(arrays.rows_per_block(batch), features.max_rows), block_sums, arrays=arrays
        )
        away = w if self.center is None else w - arrays.put(self.center)
        return arrays.get(t), features.lower(g) + arrays.put(self.ridge) * away


def cut_back(before: Array, after: Array) -> Array:
    """By how much to shorten a step, from its slopes: to where a line through the two crosses zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isfinite(after), np.clip(before / (before - after), 0.1, 0.7), 0.1)
