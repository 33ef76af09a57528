"""Data against a calibration that was kept: no toy has to be made."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from lanner._util.machine import memory_budget
from lanner._util.warnings import collected_warnings
from lanner.errors import InputError
from lanner.events import Sample, match_columns
from lanner.inference.combination import number_of_map_toys
from lanner.inference.kept import kept_ladder
from lanner.inference.multiscale import Ladder, Recipe
from lanner.model.backend import arrays_on
from lanner.run.calibration import Calibration, load_calibration
from lanner.run.evaluate import Evaluation
from lanner.run.kept_widths import read_widths
from lanner.run.prepare import check_apart, check_constant, check_count, checked_data, least_data
from lanner.run.result import SearchResult
from lanner.run.sizes import check_sizes
from lanner.run.varied_calibration import judge_uncertain
from lanner.settings import spelled_out
from lanner.typing import PathLike


@spelled_out
def apply(
    calibration: Calibration | PathLike,
    data: Any,
    *,
    expected: float | None = None,
    memory: float | str | None = None,
    device: str = "cpu",
) -> SearchResult:
    """Test data against a calibration: one fit, no toy.

    Parameters
    ----------
    calibration : Calibration or path_like
        What `calibrate` made, or its folder.
    data : array_like, mapping, data frame or Sample
        The measured events, with the columns of the reference.
    expected : float, optional
        Checked against the number that the calibration was made for.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    device : str, default "cpu"
        Where features are kept and multiplied; see `search`.

    Returns
    -------
    SearchResult
        The result of a search with the same toys.

    Raises
    ------
    InputError
        If the calibration was made for other data or for another expectation.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> rng = np.random.default_rng(1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = lanner.calibrate(rng.exponential(size=(4000, 1)), expected=200, output=folder, toys=90)
    ...     result = lanner.apply(folder, rng.exponential(size=(200, 1)))
    >>> len(result.null)
    60
    """
    start = time.perf_counter()
    with collected_warnings() as said:
        if not isinstance(calibration, Calibration):
            calibration = load_calibration(calibration)
        plan = calibration.plan
        if expected is not None and expected != plan.expected:
            raise InputError(
                f"expected={expected:g}, but the calibration was made for {plan.expected:g}; calibrate again"
            )
        number = None if plan.fixed is not None else plan.expected
        least = least_data(plan.statistic, number)
        data = checked_data(data, least, number, like=calibration.reference)
        data = match_columns(calibration.reference, data)
        check_apart(calibration.reference, data)
        check_constant(calibration.reference, data)
        check_sizes(plan, calibration.reference, data)
        if calibration.uncertain is None:
            check_count(plan, len(data))
            evaluation = Evaluation(_judge(calibration, data, memory_budget(memory), device), plan.combination)
            result = evaluation.result(calibration.toys, number_of_map_toys(len(calibration)))
        else:
            result = judge_uncertain(
                calibration.uncertain,
                calibration.plans,
                calibration.reference,
                data,
                folder=calibration.folder,
                memory=memory_budget(memory),
            )
    return replace(result, warnings=tuple(said), seconds=time.perf_counter() - start)


def _judge(calibration: Calibration, data: Sample, memory: int, device: str) -> Ladder:
    """What judges the data: from what was kept, or, of fits and of weighted references, from the reference again."""
    if not calibration.kept:
        return Recipe(calibration.plans, calibration.reference, data, device=device).prepare(memory)
    widths = read_widths(calibration.folder, calibration.kept, arrays_on(device))
    return kept_ladder(widths, calibration.plans, calibration.reference, data, memory=memory)
