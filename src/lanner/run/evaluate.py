"""From the fits of data and toys to a result: the statistics of several scales are made comparable and combined."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanner.errors import ConvergenceWarning
from lanner.inference.combination import Combination
from lanner.inference.multiscale import Ladder
from lanner.inference.null import Null
from lanner.inference.scales import deviation_of
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.sequential import Stopping
from lanner.inference.significance import fit_chi2, z_of_log_p
from lanner.inference.tail import fit_tail
from lanner.model.objective import Solution
from lanner.run.execution.local import BAND_TOYS
from lanner.run.result import Combined, ScaleResult, SearchResult
from lanner.run.toy_maker import ToyRun
from lanner.run.toy_store import sample_digest
from lanner.typing import Array

REFERENCE_SUBSAMPLES = 5  # with which the data are fitted


@dataclass(frozen=True, eq=False)
class Combiner:
    """How the statistics of a ladder's scales, (scales, n), become one statistic.

    The first `n_map_toys` toys make the scales comparable. They are used for nothing else, so that the p-value counts
    only toys which had no part in the combination. A single scale needs neither.
    """

    combination: Combination | None
    n_map_toys: int

    @classmethod
    def of(cls, ladder: Ladder, kind: str, made: ToyRun, n_map_toys: int) -> Combiner:
        """Make the scales comparable by the first toys, where there are several scales."""
        if len(ladder.scales) == 1:
            return cls(None, 0)
        laws = [e.analytic_moments() for e in ladder.scales]
        return cls(Combination.freeze(kind, laws, made.statistics[:, :n_map_toys]), n_map_toys)

    def statistic(self, t: Array) -> Array:
        """The statistic of each column."""
        return t[0] if self.combination is None else self.combination(t)

    def null_statistics(self, made: ToyRun) -> Array:
        """The statistic of the toys that the p-value counts."""
        return self.statistic(made.statistics[:, self.n_map_toys :])

    def null(self, ladder: Ladder, made: ToyRun) -> Null:
        """The toys that the p-value counts, and the laws that extrapolate beyond them."""
        t = self.null_statistics(made)
        converged = np.asarray(made.converged[:, self.n_map_toys :].all(axis=0))
        plan = ladder.first.plan
        rng = rng_of(plan.seed, Stream.CALIBRATION)
        if self.combination is not None:
            return Null(plan.null, t, converged, tail=fit_tail(t, rng=rng))
        return Null(plan.null, t, converged, ladder.first.analytic_null(), fit_chi2(t, rng=rng))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The data's fits at every scale, to be compared with toys. `kind` is how several scales are combined."""

    ladder: Ladder
    kind: str

    @cached_property
    def solutions(self) -> list[Solution]:
        """The data's fits, repeated with other subsamples of the reference."""
        return self.ladder.fit_data(REFERENCE_SUBSAMPLES)

    @cached_property
    def statistics(self) -> Array:
        """The data's statistics, (scales, subsamples)."""
        return np.stack([s.statistic for s in self.solutions])

    def is_known(self, made: ToyRun, n_map_toys: int, stopping: Stopping) -> bool:
        """Whether these toys are enough to stop."""
        combiner = Combiner.of(self.ladder, self.kind, made, n_map_toys)
        t = float(combiner.statistic(self.statistics)[0])
        return stopping.judge(t, combiner.null_statistics(made)) is not None

    def result(self, made: ToyRun, n_map_toys: int, stopping: Stopping | None = None) -> SearchResult:
        """The result with these toys, of which the first `n_map_toys` make the scales comparable."""
        combiner = Combiner.of(self.ladder, self.kind, made, n_map_toys)
        self._warn_of_fits(made)
        combined, dominant, band = None, 0, made.coefficients.astype(np.float64)
        if combiner.combination is not None:
            log_p = combiner.combination.log_p(self.statistics[:, :1])[:, 0]
            dominant = int(np.argmin(log_p))
            band = self.ladder.scales[dominant].fit_toys(range(min(BAND_TOYS, made.statistics.shape[1]))).coefficients
            counted = made.statistics[:, n_map_toys:]
            scales = tuple(self._scale(k, counted[k], float(log_p[k])) for k in range(len(counted)))
            combined = Combined(self.kind, n_map_toys, dominant, scales)
        experiment, t = self.ladder.scales[dominant], combiner.statistic(self.statistics)
        assert experiment.data is not None
        return SearchResult(
            statistic=float(t[0]),
            null=combiner.null(self.ladder, made),
            reference_draws=t,
            ratio=experiment.ratio(self.solutions[dominant]),
            plan=experiment.plan,
            data_size=len(experiment.data),
            reference_total=len(experiment.reference),
            null_coefficients=experiment.pool.features.basis.coefficients(band),
            digests=(("reference", sample_digest(experiment.reference)), ("data", sample_digest(experiment.data))),
            stopping=stopping,
            combined=combined,
        )

    def _scale(self, k: int, toys: Array, log_p: float) -> ScaleResult:
        experiment = self.ladder.scales[k]
        plan, law = experiment.plan, experiment.analytic_moments()
        t = float(self.statistics[k, 0])
        return ScaleResult(
            width=plan.width,
            penalty=plan.penalty,
            deviation=deviation_of(plan.penalty, events=plan.events_per_fit, loss=experiment.pool.loss),
            rank=experiment.pool.features.basis.rank,
            statistic=t,
            exceedances=int(np.count_nonzero(~(toys < t))),
            toys=len(toys),
            local_p=float(np.exp(log_p)),
            local_z=z_of_log_p(min(log_p, -1e-16)),  # finite where p is 1
            null_mean=float(toys.mean()),
            null_spread=float(toys.std(ddof=1)) if len(toys) > 1 else 0.0,
            analytic_mean=law.mean,
            analytic_spread=law.std,
        )

    def _warn_of_fits(self, made: ToyRun) -> None:
        fits: dict[str, NDArray[np.bool_]] = {
            "the data's fits": np.stack([s.converged for s in self.solutions]),
            "the toys' fits": made.converged,
        }
        for what, converged in fits.items():
            if not converged.all():
                warnings.warn(
                    f"{np.count_nonzero(~converged)} of {converged.size} of {what} have not converged; they are kept. "
                    f"Raise the penalty (now {self.ladder.first.plan.penalty:g})",
                    ConvergenceWarning,
                    stacklevel=4,
                )
