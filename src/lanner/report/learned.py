"""`Learned`: the learned ratio on every event and the null toys' ratios on some, evaluated once for all variables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lanner.errors import InputError
from lanner.events import Sample, match_columns
from lanner.model.kernel import GaussianKernel, kernel_sum
from lanner.model.ratio import LearnedRatio
from lanner.typing import Array
from lanner.uncertainties.fitted import FittedReference

# Reference events on which null toys are evaluated: 100 toys x 50 000 events x 500 centres take about a second, and
# the mean of e^f in a bin is known far better than it differs from toy to toy.
NULL_EVENTS = 50_000
_LARGEST = 500.0  # of |f|, so that sums of e^f stay inside the doubles even for a toy that diverged


@dataclass(frozen=True, eq=False)
class Learned:
    """f on reference and data, and e^f of the null toys on the reference events `rows`.

    Some of those events were data in a toy, where its f is a little higher than elsewhere: a part N(0)/R of them under
    the reference null, which is negligible, but about half under a permutation of samples of one size, where the
    toys' bands are a guide only.
    """

    share: Array  # of each reference event in the expected number: they sum to N(0)
    log_ratio_reference: Array
    log_ratio_data: Array
    rows: NDArray[np.intp]
    null: Array | None  # (rows, toys)
    unusable_toys: int  # whose coefficients are not finite
    slopes: NDArray[np.float32] | None = None  # (events, K): d log r / d nu of each nuisance, at its best value
    covariance: Array | None = None  # (K, K), of the nuisances

    @classmethod
    def evaluate(
        cls,
        ratio: LearnedRatio,
        reference: Sample,
        data: Sample,
        *,
        expected: float,
        null_coefficients: Array | None = None,
        fitted: FittedReference | None = None,
        rng: np.random.Generator | None = None,
    ) -> Learned:
        """Evaluate f(x) = K(x, centres) @ coefficients once for every event, and for the toys on a random part.

        Where the reference has uncertainties, `fitted` is where they fit the data best: f is the ratio to that.
        """
        like = Sample(ratio.scaling.inverse(ratio.centers[:1]), ratio.names)
        reference = match_columns(like, reference, labels=("fit", "reference"))
        rows = np.arange(len(reference))
        if len(reference) > NULL_EVENTS:
            rng = np.random.default_rng(0) if rng is None else rng
            rows = np.sort(rng.choice(len(reference), NULL_EVENTS, replace=False))
        null, unusable = None, 0
        if null_coefficients is not None:
            if null_coefficients.ndim != 2 or len(null_coefficients) != len(ratio.centers):
                raise InputError(
                    f"null_coefficients have shape {null_coefficients.shape}, the ratio has {len(ratio.centers)} "
                    "centres: give one column per toy and one row per centre of the same search"
                )
            usable = np.isfinite(null_coefficients).all(axis=0)
            unusable = int(np.count_nonzero(~usable))
            if usable.any():
                x = ratio.scaling.apply(reference.features[rows])
                sums = kernel_sum(GaussianKernel(ratio.width), ratio.centers, null_coefficients[:, usable], x)
                null = _exp(ratio.linked(sums))
        weights = np.ones(len(reference)) if reference.weights is None else reference.weights
        share, slopes, covariance = weights * (expected / weights.sum()), None, None
        if fitted is not None:
            at_nu = fitted.at(reference.features)
            share, slopes, covariance = share * at_nu.ratio, at_nu.slopes, at_nu.covariance
            if ratio.shape_only:  # the number of events is not predicted, nor is a change of it an uncertainty
                share = share * (expected / share.sum())
                slopes = slopes - (share @ slopes / share.sum()).astype(np.float32)
        return cls(
            share=share,
            log_ratio_reference=ratio.log_ratio(reference),
            log_ratio_data=ratio.log_ratio(data),
            rows=rows,
            null=null,
            unusable_toys=unusable,
            slopes=slopes,
            covariance=covariance,
        )

    @cached_property
    def ratio_reference(self) -> Array:
        """e^f on the reference."""
        return _exp(self.log_ratio_reference)

    def binned(self, bins: NDArray[np.intp], number: int) -> tuple[Array, Array | None]:
        """Mean of e^f per bin of the reference, on `rows`: (bins,) of the data's fit and (bins, toys) of the toys.

        `bins` holds the bin of every reference event. Both means are over the same events, so they can be compared.
        A bin without events there has nothing learned: 1.
        """
        chosen, share = bins[self.rows], self.share[self.rows]
        total = np.bincount(chosen, share, number)
        own = np.bincount(chosen, share * self.ratio_reference[self.rows], number)
        usable = total > 0
        means = np.ones(number)
        means[usable] = own[usable] / total[usable]
        if self.null is None:
            return means, None
        gather = sparse.csr_array((share, (chosen, np.arange(len(chosen)))), shape=(number, len(chosen)))
        toys = np.ones((number, self.null.shape[1]))
        toys[usable] = (gather @ self.null)[usable] / total[usable, None]
        return means, toys

    def uncertainty(self, bins: NDArray[np.intp], number: int) -> Array | None:
        """Error of the reference's events in each bin from the uncertainties, as they are left by the data.

        To first order: sqrt(g C g) with g_k the sum of the events' slopes in nu_k and C the covariance of nu. None
        where there are no uncertainties.
        """
        if self.slopes is None or self.covariance is None:
            return None
        g = np.stack([np.bincount(bins, self.share * d, number) for d in self.slopes.T], axis=1)
        return np.asarray(np.sqrt(np.maximum(np.einsum("bk,kl,bl->b", g, self.covariance, g), 0.0)))

    def variance_from_uncertainties(self, inside: NDArray[np.bool_]) -> float:
        """The same of some of the events together, squared; 0 where there are no uncertainties."""
        if self.slopes is None or self.covariance is None:
            return 0.0
        g = self.share[inside] @ self.slopes[inside]
        return float(g @ self.covariance @ g)


def _exp(f: Array) -> Array:
    return np.exp(np.clip(f, -_LARGEST, _LARGEST))
