"""Which values of the nuisance parameters fit a data set best, before anything else is looked for.

With reference weights w_e that sum to N(0) and an auxiliary measurement a of nu (0 for real data),

    log L(nu) = sum_data log r(x; nu) - sum_ref w_e (r(x_e; nu) - 1) - |nu - a|^2 / 2 + |a|^2 / 2

Where only the shape is tested the second sum is n log(sum_ref w_e r / N(0)). A few Newton steps find the largest value;
twice that is Delta, which follows a chi2 with as many degrees of freedom as there are nuisances where they are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lanner.errors import InputError
from lanner.typing import Array
from lanner.uncertainties.effects import Effects

_STEPS = 60
_GOAL = 1e-10  # of the Newton decrement: what is left of 2 log L
_LONGEST = 2.0  # uncertainties that a step may go in any of the nuisances


@dataclass(frozen=True, eq=False)
class Profile:
    """The best values of the nuisance parameters."""

    nu: Array
    covariance: Array  # of nu, from the curvature of log L
    delta: float  # 2 log L there
    expected: float  # data events that the reference predicts there

    @property
    def errors(self) -> Array:
        """What is left of each uncertainty: 1 where the data say nothing."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))


@dataclass(frozen=True, eq=False)
class Likelihood:
    """log L of the nuisances of one data set."""

    data: Effects
    reference: Effects
    weights: Array  # of the reference events, which sum to N(0)
    auxiliary: Array
    shape_only: bool = False

    def __call__(self, nu: Array) -> tuple[float, Array, Array]:
        """log L, its gradient, and minus its second derivatives."""
        log_data, d_data, e_data = self.data.at(nu)
        log_r, d, e = self.reference.at(nu)
        r = self.weights * np.exp(log_r)
        total, first = float(r.sum()), d.T @ r
        second = (d * r[:, None]).T @ d + np.diag(e.T @ r)
        away = nu - self.auxiliary
        value = float(log_data.sum()) - 0.5 * float(away @ away) + 0.5 * float(self.auxiliary @ self.auxiliary)
        gradient = d_data.sum(axis=0) - away
        curvature = np.eye(len(nu)) - np.diag(e_data.sum(axis=0))
        if self.shape_only:
            n, mean = self.data.events, first / total
            value -= n * np.log(total / float(self.weights.sum()))
            return value, gradient - n * mean, curvature + n * (second / total - np.outer(mean, mean))
        return value - total + float(self.weights.sum()), gradient - first, curvature + second

    def expected(self, nu: Array) -> float:
        """Data events that the reference predicts."""
        if self.shape_only:
            return float(self.weights.sum())
        return float(self.weights @ np.exp(self.reference.at(nu)[0]))


def profile(likelihood: Likelihood) -> Profile:
    """The best values, by Newton's method with steps that are halved until log L rises."""
    nu = np.zeros(len(likelihood.auxiliary))
    value, gradient, curvature = likelihood(nu)
    for _ in range(_STEPS):
        step = np.linalg.solve(_convex(curvature), gradient)
        step *= min(1.0, _LONGEST / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        decrement = float(gradient @ step)
        if decrement < _GOAL:
            covariance = np.asarray(np.linalg.inv(_convex(curvature)), dtype=np.float64)
            return Profile(nu, covariance, 2 * value, likelihood.expected(nu))
        for _ in range(40):
            found = likelihood(nu + step)
            if np.isfinite(found[0]) and found[0] >= value + 1e-4 * float(gradient @ step) - 1e-12 * abs(value):
                break
            step = step / 2
        nu, (value, gradient, curvature) = nu + step, found
    raise InputError(
        "the nuisance parameters of the uncertainties could not be fitted to the data: log L has no maximum near their "
        f"central values (after {_STEPS} steps nu = {np.array2string(nu, precision=2)}); check the variations"
    )


def _convex(curvature: Array) -> Array:
    """The curvature, where it is positive in every direction; otherwise as near to it as such a matrix can be."""
    values, vectors = np.linalg.eigh(curvature)
    return curvature if values.min(initial=1.0) > 0.1 else np.asarray((vectors * np.maximum(values, 0.1)) @ vectors.T)
