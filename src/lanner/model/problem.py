"""The objective of a batch of fits: what it is, where it stands, and how a solver reports its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lanner.model.features import Features
from lanner.model.kernel import Array
from lanner.model.loss import Loss, Values, exp_capped, statistic_sum
from lanner.model.rows import sum_over_rows
from lanner.model.weightings import Weightings

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
    anchor: Array | str | None = None

    def take(self, fits: NDArray[np.bool_] | NDArray[np.intp]) -> Problem:
        """Some of the fits."""
        anchor = self.anchor[:, fits] if isinstance(self.anchor, np.ndarray) else self.anchor
        return replace(self, weightings=self.weightings.take(fits), ridge=self.ridge[fits], anchor=anchor)

    def evaluate(self, w: Array) -> tuple[Array, Array]:
        """t and the gradient of J at w, for each fit: one pass over the events."""
        features = self.features
        dtype = features.dtype
        lifted = features.lift(w) if w.any() else None
        anchored = features.lift(self.anchor) if isinstance(self.anchor, np.ndarray) else None
        batch = len(self.weightings)
        zero = np.zeros((1, 1), dtype)

        def block_sums(rows: slice) -> tuple[Values, Values]:
            block = features.block(rows)
            v0, v1 = self.weightings.block(rows, dtype)
            f = block @ lifted if lifted is not None else np.zeros((len(block), batch), dtype)
            exp_f = exp_capped(f)
            t = statistic_sum(f, exp_f, v0, v1)
            if self.anchor is None:
                slope = self.loss.slope(f, exp_f)
            else:  # A'(f0) + A''(f0) (f - f0)
                f0 = zero if anchored is None else block @ anchored
                exp_f0 = exp_capped(f0)
                slope = self.loss.slope(f0, exp_f0) + self.loss.curvature(f0, exp_f0) * (f - f0)
            residual = self.loss.weight(v0, v1) * slope - v1
            return t, block.T @ residual

        t, g = sum_over_rows(len(features), min(rows_per_block(batch), features.max_rows), block_sums)
        return t, features.lower(g) + self.ridge * w


def rows_per_block(batch: int) -> int:
    """Rows whose f, weights and residuals stay in cache (a few MB)."""
    return int(np.clip(2**19 // max(batch, 1), 256, 4096))


def cut_back(before: Array, after: Array) -> Array:
    """By how much to shorten a step, from its slopes: to where a line through the two crosses zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isfinite(after), np.clip(before / (before - after), 0.1, 0.7), 0.1)
