"""What uncertainties cost: the same test of the same data, with the reference taken as exact."""

from __future__ import annotations

import warnings
from dataclasses import replace

from lanner.inference.combination import number_of_map_toys
from lanner.run.evaluate import Evaluation
from lanner.run.execution.local import Local
from lanner.run.prepare import Job
from lanner.run.systematics import WithoutUncertainties
from lanner.run.toy_maker import run_toys
from lanner.typing import Progress

MOST = 1500  # toys, of which 500 make scales comparable and 1000 are counted: a p-value down to 0.001


def without_uncertainties(
    job: Job, combination: str, toys: int, *, progress: Progress | None = None
) -> WithoutUncertainties:
    """The test of a job's data without its uncertainties: same seed, same scales, at most `MOST` toys of its own."""
    number, told = min(toys, MOST), _without(progress)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it would warn of is no matter of the result
        with Local().start(replace(job.recipe, varied=None), memory=job.memory, progress=told) as workers:
            made = run_toys(workers, number, folder=None, events_digest="", progress=told)
            found = Evaluation(workers.prepared, combination).result(made, number_of_map_toys(number))
    law, extrapolation = found.beyond or (None, None)
    return WithoutUncertainties(found.statistic, found.empirical, law, extrapolation)


def _without(progress: Progress | None) -> Progress | None:
    """Progress whose steps say that they are those of the test without uncertainties."""
    if progress is None:
        return None
    return lambda what, done, total: progress(f"{what} without the uncertainties", done, total)
