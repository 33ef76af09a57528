"""From the fits of data and toys to a result: the statistics of several scales are made comparable and combined."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanner.errors import ConvergenceWarning, ReachWarning
from lanner.inference.combination import Combination
from lanner.inference.kept import BAND_TOYS
from lanner.inference.multiscale import Ladder
from lanner.inference.null import Null
from lanner.inference.resampling import DATA_DRAWS
from lanner.inference.scales import deviation_of
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.sequential import Stopping
from lanner.inference.significance import EmpiricalP, fit_chi2, z_of_log_p
from lanner.inference.tail import fit_tail
from lanner.inference.terms import CountTerm, OutOfReach, ProfiledCountTerm
from lanner.model.objective import Solution
from lanner.run.fingerprint import numbers_version, sample_digest
from lanner.run.parts import Combined, ScaleResult, Spread, TermResult
from lanner.run.result import SearchResult
from lanner.run.toy_maker import ToyRun
from lanner.typing import Array

_OTHER_MAPS = 10  # bootstraps of the toys that make scales comparable
_MOST_COUNTED = 20_000  # toys by which each of them is judged


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
        toys = made.statistics[:, :n_map_toys]
        return cls(Combination.freeze(kind, ladder.laws(), toys, ladder.votes()), n_map_toys)

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
        return self.ladder.fit_data(DATA_DRAWS)

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
            scales = len(self.ladder.scales)
            dominant = int(np.argmin(log_p[:scales]))
            band = self.ladder.scales[dominant].band(min(BAND_TOYS, made.statistics.shape[1]))
            counted = made.statistics[:, n_map_toys:]
            combined = Combined(
                self.kind,
                n_map_toys,
                dominant,
                tuple(self._scale(k, counted[k], float(log_p[k])) for k in range(scales)),
                tuple(self._term(k, counted[k], float(log_p[k])) for k in range(scales, len(counted))),
            )
        experiment, t = self.ladder.scales[dominant], combiner.statistic(self.statistics)
        assert experiment.data is not None
        null = combiner.null(self.ladder, made)
        return SearchResult(
            statistic=float(t[0]),
            null=null,
            spread=self._spread(combiner, null, made),
            out_of_reach=self._out_of_reach(combiner),
            ratio=experiment.ratio(self.solutions[dominant]),
            plan=experiment.plan,
            data_size=len(experiment.data),
            reference_total=len(experiment.reference),
            null_coefficients=experiment.basis.coefficients(band),
            digests=(("reference", sample_digest(experiment.reference)), ("data", sample_digest(experiment.data))),
            stopping=stopping,
            combined=combined,
            numbers=tuple(numbers_version().items()),
        )

    def _scale(self, k: int, toys: Array, log_p: float) -> ScaleResult:
        experiment = self.ladder.scales[k]
        plan, law = experiment.plan, experiment.analytic_moments()
        t = float(self.statistics[k, 0])
        return ScaleResult(
            width=plan.width,
            penalty=plan.penalty,
            deviation=deviation_of(plan.penalty, events=plan.events_per_fit, loss=experiment.loss),
            rank=experiment.basis.rank,
            statistic=t,
            exceedances=int(np.count_nonzero(~(toys < t))),
            toys=len(toys),
            local_p=float(np.exp(log_p)),
            local_z=z_of_log_p(min(log_p, np.log1p(-1 / (len(toys) + 1)))),  # no lower than toys can tell
            null_mean=float(toys.mean()),
            null_spread=float(toys.std(ddof=1)) if len(toys) > 1 else 0.0,
            analytic_mean=law.mean,
            analytic_spread=law.std,
        )

    def _term(self, k: int, toys: Array, log_p: float) -> TermResult:
        term, t = self.ladder.terms[k - len(self.ladder.scales)], float(self.statistics[k, 0])
        return TermResult(
            label=term.label,
            width=None if isinstance(term, CountTerm | ProfiledCountTerm) else term.width,
            statistic=t,
            exceedances=int(np.count_nonzero(~(toys < t))),
            toys=len(toys),
            local_p=float(np.exp(log_p)),
            local_z=max(z_of_log_p(min(log_p, -1e-16)), 0.0),  # no excess is no deficit
        )

    def _out_of_reach(self, combiner: Combiner) -> OutOfReach | None:
        """The data events that the centres do not reach, at the width where that is most surprising."""
        if self.ladder.first.plan.null == "permutation":  # relabelled, they have a part in the centres themselves
            return None
        reach = self.ladder.reach()
        totals = [float(term.log_p(np.array([term.of_data.sum()]))[0]) for term in reach]
        found = reach[int(np.argmin(totals))].beyond()
        if combiner.combination is None and found.surprising:
            warnings.warn(
                f"{found.number} data events lie out of reach of the centres at this width, where "
                f"{found.expected:.2g} are expected: the statistic hardly sees them; leave out the width to test at "
                "several, with a term for such events",
                ReachWarning,
                stacklevel=4,
            )
        return found

    def _spread(self, combiner: Combiner, null: Null, made: ToyRun) -> Spread | None:
        """How much Z depends on what is random in the method; None where the toys give but a bound of Z."""
        p, t = null.empirical(float(combiner.statistic(self.statistics)[0])), combiner.statistic(self.statistics)
        if p.is_bound:
            return None
        slope = _z_per_log_p(p)
        if combiner.combination is None:
            if null.analytic is None:
                return None
            log_p = np.array([float(null.analytic.logsf(x)) for x in t])
            return Spread(subsamples=slope * _deviation(log_p))
        splits = 0.0
        if self.ladder.first.plan.moment_blocks not in (None, 1):
            by_split = combiner.statistic(self.ladder.data_by_split().T)
            splits = slope * _deviation(by_split) / len(by_split) ** 0.5
        rng = rng_of(self.ladder.first.plan.seed, Stream.CALIBRATION, 1)
        others = [self._with_other_maps(combiner, made, rng) for _ in range(_OTHER_MAPS)]
        return Spread(subsamples=slope * _deviation(t), splits=splits, maps=slope * _deviation(np.array(others)))

    def _with_other_maps(self, combiner: Combiner, made: ToyRun, rng: np.random.Generator) -> float:
        """log p with maps from a bootstrap of the toys that make the scales comparable."""
        n = combiner.n_map_toys
        last = min(made.statistics.shape[1], n + _MOST_COUNTED)
        toys = made.statistics[:, np.concatenate([rng.integers(n, size=n), np.arange(n, last)])]
        other = Combiner.of(self.ladder, self.kind, replace(made, statistics=toys), n)
        t, null = float(other.statistic(self.statistics[:, :1])[0]), np.sort(other.statistic(toys[:, n:]))
        # Beyond the highest toy a statistic that is larger by one stands for a p smaller by e.
        beyond = max(t - float(null[-1]), 0.0)
        return float(np.log((np.count_nonzero(null >= t) + 1) / (len(null) + 1))) - beyond

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


def _deviation(values: Array) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 and np.isfinite(values).all() else 0.0


def _z_per_log_p(p: EmpiricalP) -> float:
    """By how much Z rises where log p falls by 1."""
    log_p = float(np.log(min(p.p_value, 1 - 1e-9)))
    return z_of_log_p(log_p - 0.5) - z_of_log_p(min(log_p + 0.5, -1e-9))
