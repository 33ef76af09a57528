"""`search`: the whole path from two samples to a verdict."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lanner.errors import ConvergenceWarning
from lanner.events import match_columns
from lanner.inference.experiment import Experiment
from lanner.inference.null import Null
from lanner.inference.plan import Generator
from lanner.inference.seeds import Stream
from lanner.inference.seeds import generator as seeded
from lanner.inference.significance import fit_chi2
from lanner.machine import memory_budget
from lanner.model.fit import MIN_DATA, MIN_REFERENCE
from lanner.run.collect import collected_warnings
from lanner.run.planning import FitOptions, check_count, check_expected, check_sample, plan_search, usable_null
from lanner.run.result import SearchResult
from lanner.run.store import array_digest, sample_digest
from lanner.run.toys import ToyRun, run_toys

DRAWS = 5  # of the reference, for the data's fit


def search(
    reference: Any,
    data: Any,
    *,
    expected: float | None,
    toys: int = 300,
    null: str = "reference",
    scaling: str | None = "standard",
    width: float | None = None,
    penalty: float | None = None,
    centers: int | None = None,
    newton_steps: int | None = None,
    loss: str = "logistic",
    seed: int = 0,
    generator: Generator | None = None,
    output: str | Path | None = None,
    memory: float | str | None = None,
    precision: str = "single",
    tolerance: float | None = None,
    trace_error: float | None = None,
    reference_size: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SearchResult:
    """Test whether the data follow the reference: fit both, and fit toys that do, and count.

    Args:
        reference, data: arrays, dictionaries of columns, data frames or `Sample`s.
        expected: N(0), the number of data events that the reference predicts. None tests the shape alone.
        toys: how many null toys; their number limits the smallest p-value to 1 / (toys + 1).
        null: where toys come from: "reference" (the paper), "permutation" (reference and data pooled and relabelled:
            exact, but blind to the number of events) or "generator" (see `generator`).
        scaling: "standard", "authors" or None, learned on the reference alone.
        width, penalty, centers, newton_steps, loss, precision, tolerance, trace_error: as in `fit_ratio`.
            A width, penalty or number of centres left at None is chosen from the reference, and the result says how.
        reference_size: N0, how many reference events each fit uses; None for all, less the room for a toy's data.
        seed: one number from which every toy's own seed follows.
        generator: a function (n, rng) -> n events of the reference model, for null="generator".
        output: a folder in which to keep the toys: an interrupted search resumes from it, a later one adds to it.
        memory: budget in bytes or as "4 GB". None: half of what is free.
        progress: called with the toys done and the toys asked for.

    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> result = lanner.search(reference, data, expected=200, toys=50, seed=1)
    >>> 0 < result.p_value <= 1
    True
    """
    start = time.perf_counter()
    check_expected(expected)
    with collected_warnings() as said:
        reference = check_sample(reference, "reference", MIN_REFERENCE)
        data = match_columns(reference, check_sample(data, "data", MIN_DATA))
        options = FitOptions(
            null=usable_null(null, reference, data, expected),
            scaling=scaling,
            width=width,
            penalty=penalty,
            centers=centers,
            newton_steps=newton_steps,
            loss=loss,
            seed=seed,
            precision=precision,
            tolerance=tolerance,
            trace_error=trace_error,
            reference_size=reference_size,
        )
        budget = memory_budget(memory)
        plan = plan_search(reference, data, expected=expected, options=options, memory=budget)
        check_count(plan, len(data))
        experiment = Experiment.prepare(plan, reference, data, memory=budget, make_events=generator)
        # Toys depend on the data only where those are relabelled.
        relabelled = data.features if plan.null == "permutation" else None
        made = run_toys(
            experiment,
            toys,
            folder=None if output is None else Path(output) / "toys",
            events_digest=array_digest(
                reference.features, reference.weights, *([] if relabelled is None else [relabelled])
            ),
            progress=progress,
        )
        result = judge(experiment, made)
    return replace(result, warnings=tuple(said), seconds=time.perf_counter() - start)


def judge(experiment: Experiment, made: ToyRun) -> SearchResult:
    """Fit the data and set its t beside the toys."""
    plan = experiment.plan
    assert experiment.data is not None
    solution = experiment.fit_data(DRAWS)
    for what, converged in (("the data's fits", solution.converged), ("the toys", made.converged)):
        if not converged.all():
            warnings.warn(
                f"{np.count_nonzero(~converged)} of {len(converged)} of {what} have not converged; they are kept. "
                f"Raise the penalty (now {plan.penalty:g})",
                ConvergenceWarning,
                stacklevel=3,
            )
    chi2 = fit_chi2(made.statistics, rng=seeded(plan.seed, Stream.CALIBRATION))
    return SearchResult(
        statistic=float(solution.statistic[0]),
        null=Null(plan.null, made.statistics, made.converged, experiment.analytic_null(), chi2),
        reference_draws=solution.statistic,
        ratio=experiment.ratio(solution),
        plan=plan,
        data_size=len(experiment.data),
        reference_total=len(experiment.reference),
        null_coefficients=experiment.pool.features.basis.coefficients(made.coefficients.astype(np.float64)),
        digests=(("reference", sample_digest(experiment.reference)), ("data", sample_digest(experiment.data))),
    )
