"""`search`: the whole path from two samples to a verdict."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from lanner._util.progress import begin, named, part_of, shown
from lanner._util.warnings import collected_warnings
from lanner.errors import LannerWarning
from lanner.events.spread import Spread, SpreadSample, read_by
from lanner.inference.combination import AUTO_MAP_TOYS, MIN_MAP_TOYS, number_of_map_toys
from lanner.inference.multiscale import Recipe
from lanner.inference.plan import EventGenerator
from lanner.inference.sequential import AUTO, Stopping
from lanner.run.blinded import opened_at, refuse_blind
from lanner.run.cost import without_uncertainties
from lanner.run.evaluate import Evaluation
from lanner.run.execution.local import Executor, Local, Workers, executor_of
from lanner.run.expected_error import with_expected_error
from lanner.run.fingerprint import array_digest
from lanner.run.looks import looks_before, record_look
from lanner.run.prepare import Job, check_count, prepare
from lanner.run.resemblance import with_systematics
from lanner.run.result import SearchResult
from lanner.run.toy_maker import ToyMaker
from lanner.run.uncertain import digest_of, learned_for, with_learned
from lanner.settings import FitKeywords, FitSettings, checked, spelled_out
from lanner.typing import PathLike, Progress
from lanner.uncertainties.declared import Uncertainty

_FIRST_LOOK = 1000  # toys after which it is first seen whether more are needed


@spelled_out
def search(
    reference: Any,
    data: Any,
    *,
    expected: float | str | None,
    toys: int | str = AUTO,
    until_z: float | None = None,
    p_precision: float = 0.3,
    uncertainties: Sequence[Uncertainty] = (),
    uncertainty_cost: bool = True,
    generator: EventGenerator | None = None,
    output: PathLike | None = None,
    memory: float | str | None = None,
    executor: Executor | str = "local",
    device: str = "cpu",
    progress: Callable[..., None] | bool | None = None,
    **settings: Unpack[FitKeywords],
) -> SearchResult:
    """Test whether the data follow the reference: a statistic of the two, the same of toys that do, and a count.

    Without a width, several widths and penalties, chosen from the reference, are tested by the score statistic and
    combined, with terms for the number of events and for events that lie out of their reach. With a width it is the
    paper's test: the likelihood ratio of one fit.

    Parameters
    ----------
    reference : array_like, mapping, data frame, Sample or Spread
        Events of the reference model, one a row, with event weights if it is a `Sample` that has them; or files that
        are larger than memory, named with `lanner.spread`.
    data : array_like, mapping, data frame or Sample
        The measured events, with the columns of the reference.
    expected : float, "weights" or None
        N(0), the number of data events that the reference predicts. "weights": the sum of the reference's weights,
        with its statistical error, by which the toys' expectation fluctuates as well; beside uncertainties it is one of
        them, called "events simulated". None tests the shape alone.
    toys : int or "auto", default "auto"
        How many null toys; their number limits the smallest p-value to 1 / (toys + 1). Of several scales, a third of
        the toys, at most 5000, goes into making them comparable. "auto" makes toys until the p-value is known to 30 %:
        2000 for the comparison and 300 that are counted in any case, then more while the data are remarkable, up to a
        number that follows from the sizes of the samples alone. Of fits, which are costly, "auto" makes 300.
    until_z : float, optional
        Make toys until a p-value of that many standard deviations would be known to `p_precision`, or until it is as
        well known that the data are less remarkable; `toys` is then the most there may be.
    p_precision : float, default 0.3
        The relative precision of the p-value with `until_z`.
    uncertainties : sequence of Normalisation, Weights, Shifted, Process or KnownRatio, optional
        Systematic uncertainties of the reference, each with a nuisance parameter that is fitted to the data and to
        every toy. Default: none, the reference is taken as exact.
    uncertainty_cost : bool, default True
        With uncertainties, also do the same test without them: what they cost, or explain. It has at most 1500 toys
        and takes as long as a search without uncertainties with as many; False leaves it out.
    generator : callable, optional
        A function (n, rng) that returns n events of the reference model, for null="generator".
    output : path_like, optional
        A folder in which to keep the toys: an interrupted search resumes from it, a later one adds to it and says so.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    executor : {"local", "dask"} or Dask, default "local"
        Who makes the toys: this process, processes on this machine, or the workers of a cluster, `lanner.Dask(...)`.
    device : str, default "cpu"
        Where features are kept and multiplied: "cpu" (NumPy), "torch" (on the CPU), "cuda" or "cuda:1".
    progress : callable or bool, optional
        Called with what is being done, how much of it is done and how much there is. Default: shown where somebody is
        watching, at a terminal or in a notebook; True shows it anywhere, False does not.
    <the settings of a fit>

    Returns
    -------
    SearchResult
        The p-value, what it was made from, and the learned ratio.

    Raises
    ------
    InputError
        If the samples or settings cannot be used as they are.
    MemoryBudgetError
        If the memory budget is too small for even one block of the computation.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> result = lanner.search(reference, data, expected=200, toys=90, seed=1)
    >>> 0 < result.p_value <= 1
    True
    """
    start = time.perf_counter()
    if output is not None:
        refuse_blind(Path(output))
    with ExitStack() as opened, shown(progress) as told, collected_warnings() as said:
        fit = FitSettings(**settings)
        doing = executor_of(executor)
        left_out: Mapping[str, str] = {}
        if isinstance(reference, Spread):
            left_out = reference.left_out
            reference = read_by(reference, opened.enter_context(doing.rows()), told)
        if isinstance(reference, SpreadSample):
            doing = Local()  # of sums over many events toys cost little
        begin(told, "planning")
        expected, uncertainties = with_expected_error(expected, reference, uncertainties)
        job = prepare(
            reference,
            data,
            expected=expected,
            settings=fit,
            memory=memory,
            device=device,
            generator=generator,
            uncertain=bool(uncertainties),
            progress=told,
        )
        recipe, learned = job.recipe, None
        if uncertainties:
            learned = learned_for(recipe, uncertainties, memory=job.memory, progress=told)
            recipe = with_learned(recipe, learned)
            if recipe.varied is None and recipe.data is not None:  # none of them does anything
                check_count(recipe.plans[0], len(recipe.data))
        most, stopping = toys_wanted(job, toys, until_z, p_precision)
        folder = None if output is None else Path(output) / "toys"
        job = replace(job, recipe=recipe)
        result = _tested(job, doing, fit.combination, most or job.toys, stopping, folder, told)
        if stopping is not None and until_z is not None and not result.empirical.sequential:
            _say_what_is_missing(until_z, p_precision, stopping.toys)
        if learned is not None and recipe.varied is not None:
            begin(told, "comparing what was learned with the uncertainties")
            result = with_systematics(result, recipe.varied, recipe.reference, learned.closures, uncertainties)
            if uncertainty_cost:
                cost = without_uncertainties(job, fit.combination, _toys_made(result), progress=told)
                result = replace(result, systematics=replace(result.systematics, without=cost))
    looks: tuple[int, ...] = ()
    if output is not None:
        looks = looks_before(Path(output), job.plans, result)
        if stopping is None:  # a p-value that is valid whenever toys stop is not a look
            record_look(Path(output), job.plans, result)
    return replace(
        result,
        warnings=tuple(said),
        left_out=tuple((left_out or job.left_out).items()),
        seconds=time.perf_counter() - start,
        looks=looks,
        unblinded=None if output is None else opened_at(Path(output)),
    )


def toys_wanted(
    job: Job, toys: int | str, until_z: float | None, p_precision: float
) -> tuple[int | None, Stopping | None]:
    """The number of toys that was given, if one was, and when to stop making more."""
    most = checked("toys", toys)
    most = None if most == AUTO else most
    stopping = job.stopping() if most is None else None
    if until_z is not None:
        stopping = Stopping.until(until_z, p_precision, most=most)
    return most, stopping


def _tested(
    job: Job,
    doing: Executor,
    combination: str,
    toys: int,
    stopping: Stopping | None,
    folder: Path | None,
    progress: Progress | None,
) -> SearchResult:
    """The data of a job judged by so many toys, or by as many as it takes."""
    with doing.start(job.recipe, memory=job.memory, progress=progress) as workers:
        maker = maker_of(job.recipe, workers, folder, toys)
        evaluation = Evaluation(workers.prepared, combination)
        if stopping is None:
            return evaluation.result(maker.first(toys, progress), number_of_map_toys(toys))
        return _until(stopping, evaluation, maker, progress)


def maker_of(recipe: Recipe, workers: Workers, folder: Path | None, toys: int) -> ToyMaker:
    """The maker of a search's null toys, of which so many are wanted at first."""
    # Toys depend on the data where those are relabelled, or nuisance parameters are fitted to them.
    relabelled = recipe.data if recipe.plans[0].null == "permutation" or recipe.varied is not None else None
    events = [recipe.reference.features, recipe.reference.weights]
    digest = array_digest(*events, *([] if relabelled is None else [relabelled.features])) + digest_of(recipe.varied)
    return ToyMaker.of(workers, folder=folder, events_digest=digest, toys=toys)


def _toys_made(result: SearchResult) -> int:
    return len(result.null) + (0 if result.combined is None else result.combined.n_map_toys)


def _say_what_is_missing(z: float, precision: float, toys: int) -> None:
    enough = Stopping.until(z, precision).toys
    if toys < enough:
        warnings.warn(
            f"to know a p-value of {z:g} sigma takes up to {enough} toys, and toys={toys} is the most that was allowed",
            LannerWarning,
            stacklevel=4,
        )


def _until(stopping: Stopping, evaluation: Evaluation, maker: ToyMaker, progress: Progress | None) -> SearchResult:
    """Toys until the p-value is known well enough."""
    n_map_toys, first = first_toys(stopping, len(evaluation.ladder.scales))
    total = n_map_toys + stopping.toys
    toys = n_map_toys + first
    while True:
        made = maker.first(toys, named(part_of(progress, 0, total), "toys, at most"))
        if toys >= total or evaluation.is_known(made, n_map_toys, stopping):
            return evaluation.result(made, n_map_toys, stopping)
        toys = min(2 * toys, total)


def first_toys(stopping: Stopping, scales: int) -> tuple[int, int]:
    """How many toys make scales comparable, and how many are counted before it is first seen whether to go on."""
    n_map_toys = 0
    if scales > 1:
        n_map_toys = AUTO_MAP_TOYS if stopping.first else max(MIN_MAP_TOYS, number_of_map_toys(stopping.toys))
    return n_map_toys, min(stopping.first or _FIRST_LOOK, stopping.toys)
