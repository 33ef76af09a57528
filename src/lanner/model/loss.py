"""The two losses of the paper, and the test statistic.

What to use when: `Logistic` is the paper's choice (Eq. wbce), well behaved for any f; `Extended` is the
extended likelihood itself (Eq. loss_nplm), whose minimum is exactly -t/2, at the price of an exponential.

Both have the form  sum_i c_i A(f_i) - sum_{S1} v1_i f_i  with a convex A, c = v0 + v1 for the logistic loss
and c = v0 for the extended likelihood, where v0 = a0 times the event's weight in the reference and v1 its
weight in the data. The penalty (ridge/2) |f|_K^2 is the solver's business.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from array_api_compat import array_namespace

from lanner.errors import InputError
from lanner.model.backend import Values, column_dots  # single or double precision, whatever features are stored in

# exp(f) is taken at no more than this f, so that single precision does not overflow. No fit ends there:
# a step that goes beyond is cut back, because its slope has the right, positive, sign.
CEILING = 80.0


class Loss(Protocol):
    """A(f) and its first two derivatives, and the weight c that multiplies them."""

    name: str
    curvature_at_zero: float  # A''(0)

    def weight(self, v0: Values, v1: Values) -> Values:
        """The weight c of A(f)."""

    def slope(self, f: Values, exp_f: Values) -> Values:
        """A'(f), given exp(f)."""

    def curvature(self, f: Values, exp_f: Values) -> Values:
        """A''(f), given exp(f)."""

    def value(self, f: Values) -> Values:
        """A(f)."""


class Logistic:
    """A(f) = log(1 + e^f): the weighted cross-entropy, as log(1 + e^-f) = log(1 + e^f) - f."""

    name = "logistic"
    curvature_at_zero = 0.25

    def weight(self, v0: Values, v1: Values) -> Values:  # noqa: D102
        return v0 + v1

    def slope(self, f: Values, exp_f: Values) -> Values:  # noqa: D102
        return exp_f / (1 + exp_f)

    def curvature(self, f: Values, exp_f: Values) -> Values:  # noqa: D102
        s = exp_f / (1 + exp_f)
        return s * (1 - s)

    def value(self, f: Values) -> Values:  # noqa: D102
        return np.logaddexp(0, f)


class Extended:
    """A(f) = e^f - 1: the extended likelihood, a Poisson regression."""

    name = "extended"
    curvature_at_zero = 1.0

    def weight(self, v0: Values, v1: Values) -> Values:  # noqa: D102
        return v0

    def slope(self, f: Values, exp_f: Values) -> Values:  # noqa: D102
        return exp_f

    def curvature(self, f: Values, exp_f: Values) -> Values:  # noqa: D102
        return exp_f

    def value(self, f: Values) -> Values:  # noqa: D102
        return np.expm1(f)


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Logistic(), Extended())}


def loss_by_name(name: str) -> Loss:
    """The loss called "logistic" or "extended"."""
    if not isinstance(name, str) or name not in LOSSES:
        raise InputError(f"loss={name!r} is not known; choose one of {', '.join(map(repr, LOSSES))}")
    return LOSSES[name]


def null_curvature(loss: Loss) -> float:
    """Curvature of the loss at f = 0 per expected event: A''(0) c, where reference and data weigh N(0) each."""
    return loss.curvature_at_zero * float(loss.weight(np.ones(1), np.ones(1))[0])


def exp_capped(f: Values) -> Values:
    """exp(f), capped where single precision would overflow."""
    if isinstance(f, np.ndarray):
        return np.exp(np.minimum(f, f.dtype.type(CEILING)))
    xp = array_namespace(f)
    return xp.exp(xp.clip(f, None, CEILING))


def statistic_sum(f: Values, exp_f: Values, v0: Values, v1: Values) -> Values:
    """A block's share of t = 2 [sum_{S1} f - a0 sum_{S0} (e^f - 1)], per column.

    The paper prints Eq. (t) with the overall sign reversed; this is the right one.
    """
    return 2 * (column_dots(v1, f) - column_dots(v0, exp_f - 1))
