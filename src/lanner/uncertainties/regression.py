"""Regressions on the same functions of x: of ratios of weights, by least squares, and of samples, by logistic loss.

Both learn on each half of the events, and choose the penalties by the loss on the other half. Polynomials and kernels
have a penalty each, |c|^2 / 2 times a number; the constant, the change of the yield, has none. Weights are
scaled so that they add up to the number of events that they are worth.

Least squares: r = psi . c minimises sum w r^2 / 2 - sum w_varied r, so it is the ratio of the two densities also where
single weights are negative, and all variations share the moments sum w psi psi^T and their factors.

Logistic: f = log r minimises sum_reference w log(1 + e^f) + sum_varied w log(1 + e^-f). Its curvature is largest at
f = 0, so Newton steps with the curvature there go downhill and need no other matrix; log r is small, and they are few.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import expit

from lanner.errors import ConvergenceWarning, NotConvexError
from lanner.model.parallel import in_parallel, sum_over_rows
from lanner.typing import Array
from lanner.uncertainties.relevance import relevant_penalties
from lanner.uncertainties.smooth import Part, Smooth

Penalties = tuple[float, float, float]
# Penalties (linear terms, other polynomials, kernels) to choose from. 1 / penalty is the variance that is expected of a
# coefficient; the last ones switch the functions off. Ratios of weights may be known far better than numbers suggest.
_LOGISTIC: tuple[Penalties, ...] = tuple(product((1e0,), (1e0, 1e2, 1e4, 1e6), (1e-2, 1e0, 1e2, 1e4, 1e6)))
_SQUARES: tuple[Penalties, ...] = tuple(
    product((1e-3, 1e2, 1e5), (1e-3, 1e0, 1e3, 1e5, 1e7), (1e-3, 1e-1, 1e1, 1e3, 1e5, 1e7))
)
_CONSTANT = 1e-6
_STEPS, _DECREMENT = 30, 0.05  # the decrement is in units of the statistical error
_CHANCE = 2.0  # in units of log-likelihood
_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Fitted:
    """Coefficients learned on each half, (2, functions, variations), and the penalties chosen for each variation."""

    halves: Array
    penalties: tuple[Penalties | None, ...]  # None: by relevance


def second_moments(parts: Sequence[Part]) -> list[Array]:
    """Sum w psi psi^T of each part."""
    found = []
    for part in parts:

        def block(rows: slice, part: Part = part) -> tuple[Array]:
            psi = part.psi(rows)
            return (psi.T @ (psi * part.weights[rows, None].astype(psi.dtype)),)

        found.append(sum_over_rows(len(part), _ROWS, block)[0])
    return found


def projected(part: Part, targets: Array) -> Array:
    """Sum psi t of a part, one column for each of the targets."""

    def block(rows: slice) -> tuple[Array]:
        psi = part.psi(rows)
        return (psi.T @ targets[rows].astype(psi.dtype),)

    return np.asarray(sum_over_rows(len(part), _ROWS, block)[0])


def least_squares(parts: Sequence[Part], moments: Sequence[Array], targets: Sequence[Array]) -> Fitted:
    """Regress the targets, t / w at weight w, (events, variations) of each half."""
    right = [projected(part, t) for part, t in zip(parts, targets, strict=True)]
    variations = right[0].shape[1]
    best, chosen = np.full(variations, np.inf), [_SQUARES[0]] * variations
    kept = np.zeros((2, parts[0].smooth.number, variations))
    for penalties in _SQUARES:
        ridge = _ridge(parts[0].smooth, penalties)
        solved = [_solved(m, ridge, b) for m, b in zip(moments, right, strict=True)]
        if any(c is None for c in solved):
            continue
        both = np.stack([c for c in solved if c is not None])
        loss = sum(np.einsum("iv,iv->v", c, 0.5 * (moments[1 - k] @ c) - right[1 - k]) for k, c in enumerate(both))
        better = np.asarray(loss) < best
        best = np.where(better, loss, best)
        kept[:, :, better] = both[:, :, better]
        chosen = [penalties if new else old for new, old in zip(better, chosen, strict=True)]
    if not np.isfinite(best).all():
        raise NotConvexError(
            "negative weights of the reference outweigh the positive ones somewhere, so no ratio of weights can be "
            "learned: merge the events of negative weight with their neighbours"
        )
    return Fitted(kept, tuple(chosen))


def refitted(parts: Sequence[Part], moments: Sequence[Array], targets: Sequence[Array], penalties: Penalties) -> Array:
    """The same from both halves together, with penalties that are known, (functions, variations)."""
    right = sum((projected(part, t) for part, t in zip(parts, targets, strict=True)), np.zeros(()))
    found = _solved(moments[0] + moments[1], _ridge(parts[0].smooth, penalties), right)
    if found is None:
        raise NotConvexError("the regression on both halves has no minimum: see whether weights are mostly negative")
    return found


def logistic(reference: Sequence[Part], varied: Sequence[Part], moments: Sequence[Array], what: str) -> Fitted:
    """Learn log r of varied events to the reference, given the second moments of the reference's halves."""
    smooth = reference[0].smooth
    curvature = [0.25 * (m + more) for m, more in zip(moments, second_moments(varied), strict=True)]
    pairs = list(zip(reference, varied, strict=True))
    grid = np.stack([_ridge(smooth, penalties) for penalties in _LOGISTIC], axis=1)
    solved = [_newton(pairs[k], curvature[k], grid) for k in (0, 1)]
    fitted, decrements = [c for c, _ in solved], [decrement for _, decrement in solved]
    loss = np.vstack([_losses(pairs[1], fitted[0]), _losses(pairs[0], fitted[1])])
    # Then with penalties by relevance, which each half tells by itself, starting from the best of the grid.
    best = int(np.argmin(loss.sum(axis=0)))
    ridges = []
    for k in (0, 1):
        right = curvature[k] @ fitted[k][:, best] + grid[:, best] * fitted[k][:, best]
        relevant = relevant_penalties(curvature[k], right, grid[:, best], smooth.groups)
        more, decrement = _newton(pairs[k], curvature[k], relevant[:, None])
        fitted[k], decrements[k] = np.hstack([fitted[k], more]), np.append(decrements[k], decrement)
        ridges.append(np.hstack([grid, relevant[:, None]]))
    last = np.vstack([_losses(pairs[1], fitted[0][:, -1:]), _losses(pairs[0], fitted[1][:, -1:])])
    chosen = _simplest(np.hstack([loss, last]), ridges, curvature)
    left = max(decrement[chosen] for decrement in decrements)
    if left > _DECREMENT:
        warnings.warn(
            f"the ratio of {what} was learned in {_STEPS} steps without coming to an end (decrement {left:.2g}): see "
            "whether weights of either sample are mostly negative somewhere",
            ConvergenceWarning,
            stacklevel=5,
        )
    penalties = _LOGISTIC[chosen] if chosen < len(_LOGISTIC) else None
    return Fitted(np.stack([c[:, [chosen]] for c in fitted]), (penalties,))


def _simplest(loss: Array, ridges: Sequence[Array], curvature: Sequence[Array]) -> int:
    """Of the penalties whose loss is no worse than the best by more than chance, those that leave the fewest freedoms.

    Chance is the error of the difference, by the stretches of events (rows), but at most what hardly matters.
    """
    worse = loss - loss[:, [int(np.argmin(loss.sum(axis=0)))]]
    error = len(worse) ** 0.5 * worse.std(axis=0)
    near = np.flatnonzero(worse.sum(axis=0) <= np.minimum(error, _CHANCE))
    freedoms = [
        sum(np.trace(np.linalg.solve(c + np.diag(ridge[:, k]), c)) for c, ridge in zip(curvature, ridges, strict=True))
        for k in near
    ]
    return int(near[np.argmin(freedoms)])


def _ridge(smooth: Smooth, penalties: Penalties) -> Array:
    return np.repeat((_CONSTANT, *penalties), smooth.sizes)


def _solved(moment: Array, ridge: Array, right: Array) -> Array | None:
    try:
        return np.asarray(cho_solve(cho_factor(moment + np.diag(ridge), lower=True, check_finite=False), right))
    except LinAlgError:
        return None


def _newton(pair: tuple[Part, Part], curvature: Array, ridges: Array) -> tuple[Array, Array]:
    """The minimum for each of the penalties, (functions, penalties), and the decrement of the last step to each."""
    factors = [cho_factor(curvature + np.diag(ridge), lower=True, check_finite=False) for ridge in ridges.T]
    c = np.zeros_like(ridges)
    active = np.arange(ridges.shape[1])
    lengths = np.ones(ridges.shape[1])
    before = np.full(ridges.shape[1], np.inf)
    for _ in range(_STEPS):
        gradient = _gradient(pair, c[:, active]) + ridges[:, active] * c[:, active]
        steps = np.stack([cho_solve(factors[k], g) for k, g in zip(active, gradient.T, strict=True)], axis=1)
        decrement = np.sqrt(np.einsum("ij,ij->j", gradient, steps))
        # Negative weights can make the curvature grow: shorter steps then.
        lengths[active] = np.where(decrement > before[active], 0.5, 1.0) * lengths[active]
        before[active] = decrement
        c[:, active] -= lengths[active] * steps
        active = active[decrement > _DECREMENT]
        if not len(active):
            break
    return c, before


def _gradient(pair: tuple[Part, Part], c: Array) -> Array:
    total = np.zeros_like(c)
    for sign, part in zip((1.0, -1.0), pair, strict=True):

        def block(rows: slice, sign: float = sign, part: Part = part) -> tuple[Array]:
            psi = part.psi(rows)
            # d/df of log(1 + e^f) is sigmoid(f); of log(1 + e^-f), -sigmoid(-f).
            slope = expit(sign * (psi @ c.astype(psi.dtype)))
            slope *= (sign * part.weights[rows, None]).astype(psi.dtype)
            return (psi.T @ slope,)

        total += sum_over_rows(len(part), _ROWS, block)[0]
    return total


def _losses(pair: tuple[Part, Part], c: Array) -> Array:
    """The loss of each column of coefficients, stretch by stretch, (stretches, columns)."""
    found = []
    for sign, part in zip((1.0, -1.0), pair, strict=True):

        def block(rows: slice, sign: float = sign, part: Part = part) -> Array:
            f = part.psi(rows).astype(np.float64) @ c
            return np.asarray(part.weights[rows] @ (np.logaddexp(0.0, sign * f) - np.log(2.0)))

        found.append(np.stack(in_parallel(block, [slice(a, b) for a, b in pairwise(part.edges)])))
    first, second = found
    # Stretches of the same events belong together; where a sample has too few for that, each counts by itself.
    return first + second if len(first) == len(second) else np.vstack(found)
