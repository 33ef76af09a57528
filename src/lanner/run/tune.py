"""`tune`: width, penalty and number of centres from the reference alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from lanner._util.machine import memory_budget
from lanner._util.progress import shown
from lanner.errors import InputError
from lanner.inference.tuning import Tuning
from lanner.inference.tuning import tune as tune_sample
from lanner.model.fit import MIN_REFERENCE, check_expected
from lanner.run.prepare import checked_sample
from lanner.settings import FitKeywords, FitSettings, spelled_out


@spelled_out
def tune(
    reference: Any,
    *,
    expected: float | None,
    memory: float | str | None = None,
    progress: Callable[..., None] | bool | None = None,
    **settings: Unpack[FitKeywords],
) -> Tuning:
    """Choose width, penalty and number of centres by the paper's protocol, from the reference alone.

    What is given as a setting stays as it is; trial fits of a part of the reference decide on the rest.

    Parameters
    ----------
    reference : array_like, mapping, data frame or Sample
        Events of the reference model, one a row.
    expected : float
        N(0), the number of data events that the reference predicts.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    progress : callable or bool, optional
        True shows how far the work is, False does not; a function is called with what is being done, how much of it is
        done and how much there is. Default: shown at a terminal and in a notebook.
    <the settings of a fit>

    Returns
    -------
    Tuning
        The settings chosen, `width`, `penalty` and `centers`, and the trials behind them.

    Raises
    ------
    InputError
        If the reference cannot be used, or if no penalty makes its toys stable.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> reference = np.random.default_rng(1).exponential(size=(3000, 1))
    >>> lanner.tune(reference, expected=200, penalty=1e-6, seed=1).penalty
    1e-06
    """
    if expected is None:
        raise InputError("expected=None: tuning needs the number of data events that the reference predicts")
    fit = FitSettings(**settings)
    with shown(progress) as told:
        return tune_sample(
            checked_sample(reference, "reference", MIN_REFERENCE, fit.scaling),
            expected=check_expected(expected),
            settings=fit,
            memory=memory_budget(memory),
            progress=told,
        )
