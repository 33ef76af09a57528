"""From the data's fits and the toys to a result: one scale, or several combined."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanner.errors import ConvergenceWarning
from lanner.inference.multiscale import Ladder
from lanner.inference.null import Null
from lanner.inference.scales import deviation_of
from lanner.inference.sequential import Stopping
from lanner.inference.significance import z_of_log_p
from lanner.model.objective import Solution
from lanner.run.execution.local import BAND_TOYS
from lanner.run.frozen import Combiner
from lanner.run.result import Combined, ScaleResult, SearchResult
from lanner.run.toy_maker import ToyRun
from lanner.run.toy_store import sample_digest

DRAWS = 5  # of the reference, for the data's fit


@dataclass(frozen=True, eq=False)
class Judge:
    """The data's fits at every scale, to be set beside toys. `kind` is how several scales are combined."""

    ladder: Ladder
    kind: str

    @cached_property
    def solutions(self) -> list[Solution]:
        """The data's fits, with several draws of the reference."""
        return self.ladder.fit_data(DRAWS)

    @cached_property
    def statistics(self) -> NDArray[np.float64]:
        """The data's statistics, (scales, draws)."""
        return np.stack([s.statistic for s in self.solutions])

    def is_known(self, made: ToyRun, frozen: int, stopping: Stopping) -> bool:
        """Whether the toys there are decide."""
        how = Combiner.of(self.ladder, self.kind, made, frozen)
        return stopping.judge(float(how.statistic(self.statistics)[0]), how.null_statistics(made)) is not None

    def result(self, made: ToyRun, frozen: int, stopping: Stopping | None = None) -> SearchResult:
        """The result of the toys there are; the first `frozen` of them compare the scales and are not counted."""
        how = Combiner.of(self.ladder, self.kind, made, frozen)
        self._warn(made)
        null, draws = how.null(self.ladder, made), how.statistic(self.statistics)
        if how.combination is None:
            return self._result(0, null, draws, made.coefficients.astype(np.float64), stopping, None)
        local = how.combination.log_p(self.statistics[:, :1])[:, 0]
        speaks = int(np.argmin(local))
        shown = self.ladder.scales[speaks].fit_toys(range(min(BAND_TOYS, made.statistics.shape[1]))).coefficients
        scales = tuple(
            self._scale(k, made.statistics[k, frozen:], float(local[k])) for k in range(len(self.ladder.scales))
        )
        return self._result(speaks, null, draws, shown, stopping, Combined(self.kind, frozen, speaks, scales))

    def _scale(self, k: int, toys: NDArray[np.float64], log_p: float) -> ScaleResult:
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

    def _result(
        self,
        scale: int,
        null: Null,
        draws: NDArray[np.float64],
        coefficients: NDArray[np.float64],
        stopping: Stopping | None,
        combined: Combined | None,
    ) -> SearchResult:
        experiment = self.ladder.scales[scale]
        assert experiment.data is not None
        return SearchResult(
            statistic=float(draws[0]),
            null=null,
            reference_draws=draws,
            ratio=experiment.ratio(self.solutions[scale]),
            plan=experiment.plan,
            data_size=len(experiment.data),
            reference_total=len(experiment.reference),
            null_coefficients=experiment.pool.features.basis.coefficients(coefficients),
            digests=(("reference", sample_digest(experiment.reference)), ("data", sample_digest(experiment.data))),
            stopping=stopping,
            combined=combined,
        )

    def _warn(self, made: ToyRun) -> None:
        fits: Sequence[tuple[str, NDArray[np.bool_]]] = (
            ("the data's fits", np.stack([s.converged for s in self.solutions])),
            ("the toys' fits", made.converged),
        )
        for what, converged in fits:
            if not converged.all():
                warnings.warn(
                    f"{np.count_nonzero(~converged)} of {converged.size} of {what} have not converged; they are kept. "
                    f"Raise the penalty (now {self.ladder.first.plan.penalty:g})",
                    ConvergenceWarning,
                    stacklevel=4,
                )
