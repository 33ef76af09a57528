"""`tune`: width, penalty and number of centres from the reference alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lanner._util.machine import memory_budget
from lanner.errors import InputError
from lanner.inference.tuning import Tuning
from lanner.model.fit import MIN_REFERENCE
from lanner.run.planning import FitOptions, check_expected, check_sample, tune_reference


def tune(
    reference: Any,
    *,
    expected: float | None,
    memory: float | str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Tuning:
    """Choose width, penalty and number of centres by the paper's protocol; those given as options stay.

    >>> import lanner, numpy as np
    >>> reference = np.random.default_rng(1).exponential(size=(3000, 1))
    >>> lanner.tune(reference, expected=200, penalty=1e-6, seed=1).penalty
    1e-06
    """
    if expected is None:
        raise InputError("expected=None: tuning needs the number of data events that the reference predicts")
    check_expected(expected)
    sample = check_sample(reference, "reference", MIN_REFERENCE)
    return tune_reference(
        sample,
        expected=float(expected),
        options=FitOptions(**options),
        memory=memory_budget(memory),
        plateau=True,
        progress=progress,
    )
