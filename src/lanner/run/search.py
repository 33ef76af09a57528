"""`search`: the whole path from two samples to a verdict."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lanner._util.machine import memory_budget
from lanner._util.warnings import collected_warnings
from lanner.errors import LannerWarning
from lanner.events import match_columns
from lanner.inference.combination import MIN_FROZEN, frozen_toys
from lanner.inference.multiscale import Recipe
from lanner.inference.plan import Generator
from lanner.inference.sequential import Stopping
from lanner.model.backend import arrays_on
from lanner.model.fit import MIN_DATA, MIN_REFERENCE
from lanner.run.evaluate import Evaluation
from lanner.run.execution.local import Executor, executor_of
from lanner.run.planning import (
    FitOptions,
    check_count,
    check_expected,
    check_ratio,
    check_sample,
    default_toys,
    plan_search,
)
from lanner.run.result import SearchResult
from lanner.run.toy_maker import ToyMaker, ToyRun
from lanner.run.toy_store import array_digest

_FIRST_LOOK = 1000  # toys after which it is first seen whether more are needed


def search(
    reference: Any,
    data: Any,
    *,
    expected: float | None,
    toys: int | None = None,
    null: str | None = None,
    statistic: str | None = None,
    combination: str = "harmonic",
    until_z: float | None = None,
    p_precision: float = 0.3,
    scaling: str | None = "standard",
    width: float | str | None = None,
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
    executor: Executor | str = "local",
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
) -> SearchResult:
    """Test whether the data follow the reference: a statistic of the two, the same of toys that do, and a count.

    Without a width, four widths and three penalties, chosen from the reference, are tested by the score statistic and
    combined. With a width it is the paper's test: the likelihood ratio of one fit.

    Args:
        reference, data: arrays, dictionaries of columns, data frames or `Sample`s.
        expected: N(0), the number of data events that the reference predicts. None tests the shape alone.
        toys: how many null toys; their number limits the smallest p-value to 1 / (toys + 1). Of several scales, a third
            of the toys, at most 2000, goes into making them comparable. None: 300, or 1000 of the score statistic,
            whose toys are cheap.
        null: where toys come from: "reference" (the paper), "permutation" (reference and data together, relabelled:
            right for a small reference too) or "generator" (see `generator`). None: the reference, or a permutation
            where the reference has less than 20 events for each one expected.
        statistic: "likelihood-ratio" (the paper's t) or "score" (t to second order, which needs no fit). None: the
            score without a width, the likelihood ratio with one.
        combination: of several scales: "harmonic", "smallest", "product" or "average" of their p-values.
        until_z: make toys until a p-value of that many standard deviations would be known to `p_precision` (relative),
            or until it is as well known that the data are less remarkable; `toys` is then the most there may be.
        scaling: "standard", "authors" or None, learned on the reference alone.
        width: of the kernel; "auto" for one from the reference; None for a ladder of several.
        penalty, centers, newton_steps, loss, precision, tolerance, trace_error: as in `fit_ratio`. A penalty or number
            of centres left at None is chosen from the reference, and the result says how.
        reference_size: N0, how many reference events each fit uses; None for all, less the room for a toy's data.
        seed: one number from which every toy's own seed follows.
        generator: a function (n, rng) -> n events of the reference model, for null="generator".
        output: a folder in which to keep the toys: an interrupted search resumes from it, a later one adds to it.
        memory: budget in bytes or as "4 GB". None: half of what is free.
        executor: who makes the toys: "local" (this process), "dask" (processes on this machine), or `lanner.Dask(...)`.
        device: where features are kept and multiplied: "cpu" (NumPy), "torch" (on the CPU), "cuda" or "cuda:1".
        progress: called with the toys done and the toys asked for.

    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> result = lanner.search(reference, data, expected=200, toys=90, seed=1)
    >>> 0 < result.p_value <= 1
    True
    """
    start = time.perf_counter()
    check_expected(expected)
    arrays_on(device)
    with collected_warnings() as said:
        reference = check_sample(reference, "reference", MIN_REFERENCE)
        data = match_columns(reference, check_sample(data, "data", MIN_DATA))
        options = FitOptions(
            null=null,
            statistic=statistic,
            combination=combination,
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
        plans = plan_search(reference, data, expected=expected, options=options, memory=budget)
        check_ratio(plans[0], reference)
        check_count(plans[0], len(data))
        # Toys depend on the data only where those are relabelled.
        relabelled = [data.features] if plans[0].null == "permutation" else []
        stopping = None if until_z is None else Stopping.until(until_z, p_precision, most=toys)
        number = default_toys(plans) if toys is None else toys
        recipe = Recipe(plans, reference, data, generator, device)
        with executor_of(executor).start(recipe, memory=budget) as workers:
            maker = ToyMaker.of(
                workers,
                folder=None if output is None else Path(output) / "toys",
                events_digest=array_digest(reference.features, reference.weights, *relabelled),
                toys=number,
            )
            judge = Evaluation(workers.ladder, combination)
            if stopping is None:
                result = judge.result(maker.first(number, progress), frozen_toys(number))
            else:
                result = _until(stopping, judge, maker, progress)
                if until_z is not None and not result.empirical.sequential:
                    _say_what_is_missing(until_z, p_precision, stopping.toys)
    return replace(result, warnings=tuple(said), seconds=time.perf_counter() - start)


def _say_what_is_missing(z: float, precision: float, toys: int) -> None:
    enough = Stopping.until(z, precision).toys
    if toys < enough:
        warnings.warn(
            f"to know a p-value of {z:g} sigma takes up to {enough} toys, and toys={toys} is the most that was allowed",
            LannerWarning,
            stacklevel=3,
        )


def _until(
    stopping: Stopping, judge: Evaluation, maker: ToyMaker, progress: Callable[[int, int], None] | None
) -> SearchResult:
    """Toys until the p-value is known well enough."""
    frozen = 0 if len(judge.ladder.scales) == 1 else max(MIN_FROZEN, frozen_toys(stopping.toys))
    total = frozen + stopping.toys
    toys = frozen + min(_FIRST_LOOK, stopping.toys)
    while True:
        made: ToyRun = maker.first(toys, None if progress is None else lambda done, _: progress(done, total))
        if toys >= total or judge.is_known(made, frozen, stopping):
            return judge.result(made, frozen, stopping)
        toys = min(2 * toys, total)
