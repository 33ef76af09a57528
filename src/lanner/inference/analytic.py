"""The analytic null: the law of t under the reference model, from eigenvalues alone and without a toy.

Let f = w . phi, with S = E[phi phi^T] under the reference, a0 = N(0)/N0, n = N0 + N1 and ridge = penalty n.
Under the null f is small, and three expansions give the law of t.

1. One Newton step from f = 0. Both losses have a gradient at 0 that is a multiple of

       u = sum_{S1} phi - a0 sum_{S0} phi

       logistic:  gradient -u/2,  curvature 1/4 (a0 sum_{S0} + sum_{S1}) phi phi^T + ridge ~ N(0)/2 S + ridge
       extended:  gradient -u,    curvature a0 sum_{S0} phi phi^T + ridge                 ~ N(0) S + ridge

   so w = (N(0) S + c ridge)^-1 u with c = 2 for the logistic loss and c = 1 for the extended one. In the
   eigenbasis of S (eigenvalues s_j),

       w_j = h_j u_j / (N(0) s_j),    h_j = s_j / (s_j + c penalty n / N(0))

2. t to second order in f, with e^f - 1 ~ f + f^2/2:

       t = 2 [sum_{S1} f - a0 sum_{S0} (e^f - 1)] ~ 2 w . u - N(0) w^T S w
         = sum_j (2 h_j - h_j^2) u_j^2 / (N(0) s_j)

3. u is a sum over many events, so it is nearly Gaussian. Its mean is 0. With N1 ~ Poisson(N(0)) the data's part
   has covariance N(0) S, and the reference's about a0^2 N0 S = a0 N(0) S: together N(0) (1 + a0) S. Hence

       t ~ sum_j w_j chi2_1,    w_j = (1 + N(0)/N0) (2 h_j - h_j^2)

4. A sample of fixed size has the covariance S - m m^T per event, with m = E[phi], in place of S. That takes
   b N(0) m m^T away, with b = a0 for the reference alone and b = 1 + a0 where N1 is fixed too (a permutation, a test
   of the shape). The w_j are then the eigenvalues of

       diag((1 + a0) (2 h_j - h_j^2)) - b v v^T,    v_j = m_j sqrt((2 h_j - h_j^2) / s_j)

   It is the direction closest to a constant f, and worth up to b degrees of freedom.

Event weights in the reference enter as its effective size, (sum w)^2 / sum w^2, in place of N0: right where they do
not depend on x. Small counts where phi is large make the true tail heavier, so the law is trusted as far as the toys
confirm it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NotRequired, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.inference.weighted_chi2 import WeightedChi2
from lanner.model.moments import Spectrum
from lanner.model.ratio import LearnedRatio

# c above: what the loss makes of the penalty.
_PENALTY_FACTOR = {"logistic": 2.0, "extended": 1.0}
# Rounding leaves eigenvalues down to about -1e-7 of the largest in single precision; further down is no rounding.
_ROUNDING = 1e-6
# Weights below this are rounding of the largest.
_NOTHING = 1e-12


class FitOfLaw(TypedDict):
    """What the law of t depends on besides the moments of the features."""

    expected: float  # N(0)
    reference_size: float  # N0, or what weighted events are worth
    events: float  # n = N0 + N1
    penalty: float
    loss: NotRequired[str]  # the logistic one by default
    shape_only: NotRequired[bool]  # whether N1 is fixed


def analytic_weights(spectrum: Spectrum, **fit: Unpack[FitOfLaw]) -> NDArray[np.float64]:
    """The weights w_j of the law of t, falling.

    `spectrum` holds the moments of the features under the reference (per event), `expected` is N(0),
    `reference_size` N0 and `events` n = N0 + N1; `shape_only` says that N1 is fixed. Rounding below zero is
    clipped to zero.

    >>> settings = dict(expected=100, reference_size=400, events=500, penalty=0.1, loss="extended")
    >>> analytic_weights(Spectrum([0.5, 0.0], [0.0, 0.0]), **settings)  # h = 1/2: 1.25 * (1 - 1/4)
    array([0.9375, 0.    ])
    >>> analytic_weights(Spectrum([0.5, 0.0], [0.5**0.5, 0.0]), shape_only=True, **settings)  # phi is constant
    array([0., 0.])
    """
    diagonal, v, b = _quadratic_form(spectrum, **fit)
    weights = np.linalg.eigvalsh(np.diag(diagonal) - b * np.outer(v, v))[::-1]
    return np.where(weights > _NOTHING * (1.0 + fit["expected"] / fit["reference_size"]), weights, 0.0)


@dataclass(frozen=True)
class LawMoments:
    """The first moments of the law of t."""

    mean: float
    std: float
    skewness: float


def analytic_moments(spectrum: Spectrum, **fit: Unpack[FitOfLaw]) -> LawMoments:
    """Mean, spread and skewness of the law, from traces: no eigenvalue problem; see `analytic_weights`.

    >>> settings = dict(expected=2000, reference_size=2e5, events=202e3, penalty=1e-6)
    >>> round(analytic_moments(Spectrum([1.0, 0.1, 1e-3], [0.0, 0.0, 0.0]), **settings).mean, 1)
    3.0
    """
    d, v, b = _quadratic_form(spectrum, **fit)
    # Traces of the powers of diag(d) - b v v^T.
    v2 = v**2
    norm, first, second = float(v2.sum()), float(d @ v2), float(d**2 @ v2)
    one = float(d.sum()) - b * norm
    two = float(d @ d) - 2 * b * first + b**2 * norm**2
    three = float(np.sum(d**3)) - 3 * b * second + 3 * b**2 * norm * first - b**3 * norm**3
    return LawMoments(one, math.sqrt(2 * two), 8 * three / (2 * two) ** 1.5)


def _quadratic_form(
    spectrum: Spectrum, **fit: Unpack[FitOfLaw]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """diag(d) - b v v^T, whose eigenvalues are the weights."""
    loss, shape_only = fit.get("loss", "logistic"), fit.get("shape_only", False)
    if loss not in _PENALTY_FACTOR:
        choices = ", ".join(repr(name) for name in _PENALTY_FACTOR)
        raise InputError(f"loss {loss!r} has no analytic null; choose one of {choices}")
    expected, penalty = fit["expected"], fit["penalty"]
    numbers = {"reference_size": fit["reference_size"], "events": fit["events"]}
    for name, value in ({"expected": expected, "penalty": penalty} | numbers).items():
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{name} = {value}; give a finite number above 0")
    moments, means = _checked(spectrum)
    shrinkage = moments / (moments + _PENALTY_FACTOR[loss] * penalty * numbers["events"] / expected)
    parts = shrinkage * (2.0 - shrinkage)
    a0 = expected / numbers["reference_size"]
    b = 1.0 + a0 if shape_only else a0
    # 2 h - h^2 is of the order of s where s is small, so the root is finite; where s is 0, m is 0 too.
    v = means * np.sqrt(np.divide(parts, moments, out=np.zeros_like(parts), where=moments > 0))
    return (1.0 + a0) * parts, v, b


def analytic_law(spectrum: Spectrum, **fit: Unpack[FitOfLaw]) -> WeightedChi2:
    """The law of t under the reference model, sum_j w_j chi2_1; see `analytic_weights` for the arguments.

    >>> settings = dict(expected=2000, reference_size=2e5, events=202e3, penalty=1e-6)
    >>> null = analytic_law(Spectrum([1.0, 0.1, 1e-3], [0.0, 0.0, 0.0]), **settings)
    >>> null
    WeightedChi2(3 weights, mean 3, std 2.45, effective dof 3)
    >>> round(null.z_score(30.0), 2)
    4.69
    """
    return WeightedChi2(analytic_weights(spectrum, **fit))


def analytic_null(ratio: LearnedRatio) -> WeightedChi2:
    """The law of a fit's t under its reference model: a p-value without a toy, to be confirmed by toys.

    Parameters
    ----------
    ratio : LearnedRatio
        What `fit_ratio` learned, with any solver but Falkon, which knows no eigenvalues.

    Returns
    -------
    WeightedChi2
        The law of t: a sum of chi2_1 variables, each with its weight.

    Raises
    ------
    InputError
        If the fit has no eigenvalues, or if its reference has negative weights.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(5000, 1)), rng.exponential(size=(500, 1))
    >>> ratio = lanner.fit_ratio(reference, data, expected=500, width=2.0, rng=1)
    >>> 0.01 < lanner.analytic_null(ratio).sf(ratio.statistic) < 1
    True
    """
    if ratio.spectrum is None:
        raise InputError(f"the {ratio.solver} solver does not yield the eigenvalues; fit with solver='newton'")
    if ratio.spectrum.values.min() < -_ROUNDING * ratio.spectrum.values.max():
        raise InputError(
            "the reference has negative weights, for which there is no analytic null; use toys of a generator"
        )
    return analytic_law(
        ratio.spectrum,
        expected=ratio.expected,
        reference_size=ratio.reference_worth,
        events=ratio.reference_size + ratio.data_size,
        penalty=ratio.penalty,
        loss=ratio.loss,
        shape_only=ratio.shape_only,
    )


def _checked(spectrum: Spectrum) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    moments = np.asarray(spectrum.values, dtype=np.float64)
    means = np.asarray(spectrum.means, dtype=np.float64)
    if moments.ndim != 1 or moments.size == 0 or means.shape != moments.shape:
        raise InputError(
            f"eigenvalues have shape {moments.shape}, means {means.shape}; give one-dimensional arrays of one length, "
            "not empty"
        )
    if not np.all(np.isfinite(moments)):
        raise InputError(f"{np.sum(~np.isfinite(moments))} of {moments.size} eigenvalues are not finite")
    if moments.min() < -_ROUNDING * max(moments.max(), 0.0):
        raise InputError(
            f"the smallest eigenvalue is {moments.min():.3g} and the largest {moments.max():.3g}; "
            "a second-moment matrix has none below 0: check that the matrix is symmetric and per event"
        )
    return np.maximum(moments, 0.0), means
