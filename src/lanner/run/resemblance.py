"""How much what was learned looks like each nuisance.

The learned ratio of data to reference, less 1, and the slope d_k = d log r / d nu_k are functions of x. Their cosine
over the reference at nu^,

    c_k = E[(e^f - 1) d_k] / sqrt(E[(e^f - 1)^2] E[d_k^2]),

is 1 where the data depart from the reference at nu^ as if the nuisance had moved up, -1 as if it had moved down, and 0
where the departure has nothing to do with it. (Where only the shape is tested, means are taken off both.) f is that of
the most significant scale. Null toys have learned ratios too, and their cosines say which values mean nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lanner.events import Sample
from lanner.inference.varied_experiment import VariedPlan
from lanner.model.kernel import GaussianKernel, kernel_sum
from lanner.run.result import SearchResult
from lanner.run.systematics import Systematics
from lanner.run.uncertain import Nuisance, nuisances_of
from lanner.typing import Array
from lanner.uncertainties.closure import Closure
from lanner.uncertainties.declared import Uncertainty
from lanner.uncertainties.fitted import AtEvents, FittedReference
from lanner.uncertainties.matching import weights_of

_EVENTS = 20_000  # of the reference, by which the cosine is known to a hundredth
_STREAM = 0x51E9  # keeps the rows apart from the toys' own seeds
_SHARE = 0.95  # of the null toys that are less alike than what is kept of them


def with_systematics(
    result: SearchResult,
    found: VariedPlan,
    reference: Sample,
    closures: Sequence[Closure],
    uncertainties: Sequence[Uncertainty] = (),
) -> SearchResult:
    """The result with what was found of its nuisances, and with the reference where they were fitted."""
    fitted = FittedReference.of(found.nuisances, found.profile, reference.features)
    nuisances = resembling(nuisances_of(found, uncertainties), fitted, result, reference)
    return replace(result, nuisances=nuisances, systematics=Systematics(tuple(closures), fitted=fitted))


def resembling(
    nuisances: Sequence[Nuisance], fitted: FittedReference, result: SearchResult, reference: Sample
) -> tuple[Nuisance, ...]:
    """The nuisances, each with how much the learned departure looks like it, in the data and in null toys."""
    weights, rows = weights_of(reference), np.arange(len(reference))
    if len(rows) > _EVENTS:
        rows = np.random.default_rng([result.plan.seed, _STREAM]).choice(len(rows), _EVENTS, replace=False)
    at_nu, f = fitted.at(reference.features, rows), departures(result, reference.features[rows])
    found = cosines(f, at_nu, weights[rows], centred=result.ratio.shape_only)
    usual = np.quantile(np.abs(found[1:]), _SHARE, axis=0) if len(found) > 1 else np.full(len(nuisances), np.nan)
    return tuple(
        replace(one, resemblance=float(own), resemblance_of_toys=float(null) if np.isfinite(null) else None)
        for one, own, null in zip(nuisances, found[0], usual, strict=True)
    )


def departures(result: SearchResult, features: Array) -> Array:
    """The learned ratio less 1 at some events, of the data and then of null toys: (events, 1 + toys)."""
    ratio, null = result.ratio, result.null_coefficients
    usable = np.empty((ratio.rank, 0)) if null is None else null[:, np.isfinite(null).all(axis=0)]
    coefficients = np.column_stack([ratio.coefficients, usable])
    sums = kernel_sum(GaussianKernel(ratio.width), ratio.centers, coefficients, ratio.scaling.apply(features))
    return np.expm1(ratio.linked(sums))


def cosines(departures: Array, at_nu: AtEvents, weights: Array, *, centred: bool) -> Array:
    """Cosines of some functions, (events, functions), with the slopes of each nuisance: (functions, nuisances).

    >>> events = AtEvents(np.ones(4), np.array([[1.0], [1.0], [-1.0], [-1.0]], dtype=np.float32), np.eye(1))
    >>> f = np.array([[0.2, 0.1], [0.2, 0.0], [-0.2, 0.0], [-0.2, 0.0]])
    >>> cosines(f, events, np.ones(4), centred=False).round(3).tolist()
    [[1.0], [0.5]]
    """
    v = weights * at_nu.ratio
    v = v / v.sum()
    f, d = departures, at_nu.slopes.astype(np.float64)
    if centred:
        f, d = f - v @ f, d - v @ d
    products = f.T @ (d * v[:, None])
    lengths = np.sqrt(np.outer(v @ f**2, v @ d**2))
    found = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return np.asarray(np.clip(found, -1.0, 1.0))
