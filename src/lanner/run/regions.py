"""`search_regions`: several selections of one pair of samples, each tested by itself, and one p-value for all of them.

Toys are drawn once, of all events, and every region sees of each toy the events that lie in it. Regions that share
events therefore share them in the toys as in the data, and the global p-value pays for no more than was looked at.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from lanner._util.progress import PREPARING, begin, shown
from lanner._util.warnings import collected_warnings
from lanner.errors import InputError, LannerWarning
from lanner.events import match_columns
from lanner.events.io.roles import sample_like
from lanner.events.regions import Region, no_events, regions_of
from lanner.events.sample import check_varies
from lanner.events.spread import Spread
from lanner.inference.effort import most_toys_of
from lanner.inference.multiscale import Recipe
from lanner.inference.plan import Part, plan_scales
from lanner.inference.regions import RegionScheme
from lanner.inference.resampling import PermutationScheme, ReferenceScheme
from lanner.inference.score_experiment import scheme_of
from lanner.inference.sequential import AUTO, Stopping
from lanner.model.fit import MIN_REFERENCE
from lanner.run.execution.local import Local
from lanner.run.fingerprint import sample_digest
from lanner.run.prepare import Job, chosen_features, prepare
from lanner.run.regions_result import RegionResult, RegionsResult
from lanner.run.regions_toys import Judged, judged_together
from lanner.run.sizes import check_sizes
from lanner.settings import FitKeywords, FitSettings, checked, spelled_out
from lanner.typing import Progress


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A region that can be searched: which events, and how."""

    region: Region
    recipe: Recipe
    expected_error: float


@spelled_out
def search_regions(
    reference: Any,
    data: Any,
    *,
    regions: Mapping[str, Any],
    expected: float | str | None,
    toys: int | str = AUTO,
    until_z: float | None = None,
    p_precision: float = 0.3,
    memory: float | str | None = None,
    device: str = "cpu",
    progress: Callable[..., None] | bool | None = None,
    **settings: Unpack[FitKeywords],
) -> RegionsResult:
    """Test several regions of the same samples, each by itself, with one global p-value for all of them.

    Each region is searched as `search` would search its events: with scales, widths and units of its own. Regions may
    share events. The global p-value is the chance that toys depart as much somewhere in the regions.

    Parameters
    ----------
    reference : array_like, mapping, data frame or Sample
        Events of the reference model, one a row, in any of the regions or in none.
    data : array_like, mapping, data frame or Sample
        The measured events, with the columns of the reference.
    regions : mapping of str to str or pair of array_like
        Each region under a name: a formula over the features, such as ``"mll > 200"``, or a mask of the reference's
        events and one of the data's.
    expected : float, "weights" or None
        N(0), the number of data events that the reference predicts, in all regions and outside of them; what it
        predicts in each region is that number times the region's part of the reference. "weights": the sum of the
        reference's weights. None takes the total number as it is, and tests how it is divided among regions.
    toys : int or "auto", default "auto"
        How many null toys; a third of them, at most 5000, makes scales and regions comparable. "auto" makes toys until
        the global p-value and that of each region are known to 30 %, up to a number that the samples' sizes decide.
    until_z : float, optional
        Make toys until p-values of that many standard deviations would be known to `p_precision`.
    p_precision : float, default 0.3
        The relative precision of p-values with `until_z`.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    device : str, default "cpu"
        Where features are kept and multiplied: "cpu" (NumPy), "torch" (on the CPU), "cuda" or "cuda:1".
    progress : callable or bool, optional
        As for `search`.
    <the settings of a fit>

    Returns
    -------
    RegionsResult
        The global p-value, and what each region says by itself.

    Raises
    ------
    InputError
        If the samples, the regions or the settings cannot be used as they are.

    See Also
    --------
    search : Test all events together.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(150, 1))
    >>> regions = {"low": "x0 < 1", "high": "x0 > 0.5"}
    >>> found = lanner.search_regions(reference, data, regions=regions, expected=150, toys=90, seed=1)
    >>> list(found.regions)
    ['low', 'high']
    """
    start = time.perf_counter()
    with shown(progress) as told, collected_warnings() as said, ExitStack() as opened:
        fit = FitSettings(**settings)
        _refuse(reference, fit)
        begin(told, "planning")
        reference, left_out = chosen_features(reference, "reference")
        data = match_columns(reference, sample_like(reference.names, data, "data"))
        of_each = regions_of(regions, reference, data)
        job = prepare(reference, data, expected=expected, settings=fit, memory=memory, device=device, progress=told)
        prepared = _prepared(job, of_each, fit)
        most = checked("toys", toys)
        stopping = None
        if most == AUTO:
            stopping = Stopping.automatic(
                most_toys_of([(p.recipe.plans[0], len(p.recipe.reference)) for p in prepared])
            )
        if until_z is not None:
            stopping = Stopping.until(until_z, p_precision, most=None if most == AUTO else most)
        ladders, memory_of_each = [], job.memory // len(prepared)
        for k, one in enumerate(prepared):
            part = _part_told(told, k, len(prepared))
            ladders.append(opened.enter_context(Local().start(one.recipe, memory=memory_of_each, progress=part)))
        found = judged_together(ladders, fit.combination, None if most == AUTO else most, stopping, told)
    job = replace(job, left_out=left_out)
    return _result(job, prepared, found, stopping, tuple(said), time.perf_counter() - start)


def _result(
    job: Job,
    prepared: list[_Prepared],
    found: Judged,
    stopping: Stopping | None,
    said: tuple[str, ...],
    seconds: float,
) -> RegionsResult:
    plan, data = job.plans[0], job.recipe.data
    assert data is not None
    inside = np.sum([one.region.data for one in prepared], axis=0)
    names = [one.region.name for one in prepared]
    note: tuple[str, ...] = ()
    if len(names) > 1:
        p = found.null.empirical(found.statistic)
        p = p if stopping is None else stopping.judge(found.statistic, found.null.statistics) or p
        note = (
            f"this is one of {len(names)} regions, and its p-value does not account for having looked at the others; "
            f"the global p-value does, and is {'at most ' if p.is_bound else ''}{p.p_value:.2g}",
        )
    left_out = tuple(job.left_out.items())
    alone = [replace(one, warnings=note, left_out=left_out, seconds=seconds) for one in found.results]
    return RegionsResult(
        statistic=found.statistic,
        null=found.null,
        regions={
            one.region.name: RegionResult(one.region.name, result, one.expected_error, one.region.selection)
            for one, result in zip(prepared, alone, strict=True)
        },
        leading=names[int(np.argmin(found.log_p))],
        combination=found.combination,
        n_map_toys=found.n_map_toys,
        data_size=len(data),
        expected=plan.expected,
        shared=int(np.count_nonzero(inside > 1)),
        outside=int(np.count_nonzero(inside == 0)),
        seed=plan.seed,
        stopping=stopping,
        shape_only=plan.fixed is not None,
        warnings=said,
        seconds=seconds,
        digests=(("reference", sample_digest(job.recipe.reference)), ("data", sample_digest(data))),
    )


def _part_told(progress: Progress | None, part: int, parts: int) -> Progress | None:
    """Tells how much of one region is prepared, as a part of all of them."""
    if progress is None:
        return None
    words = f"{PREPARING} region {part + 1} of {parts}"
    return lambda _, done, total: progress(words, part * total + done, parts * total)


def _refuse(reference: Any, settings: FitSettings) -> None:
    """Refuse what is not known to be right with several regions."""
    if isinstance(reference, Spread):
        raise InputError("regions need the events of the reference in memory: read it with read_sample")
    if settings.null == "generator":
        raise InputError("null='generator' has no events that regions could share: give a reference, and leave it out")
    if settings.chosen_statistic != "score":
        raise InputError(
            "regions are tested by the score statistic: the likelihood ratio's centres are never a toy's data, so that "
            "those of one region would be missing in the others. Leave out width, or give statistic='score'"
        )


def _prepared(job: Job, regions: tuple[Region, ...], settings: FitSettings) -> list[_Prepared]:
    """Plan each region as a search of its events alone would be, but for what toys of all events decide."""
    reference, data, plan = job.recipe.reference, job.recipe.data, job.plans[0]
    assert data is not None
    if plan.null == "reference" and plan.centers_barred:
        raise InputError(
            f"{len(reference)} reference events are too few for {plan.centers} centres that toys may have among their "
            f"data, with {plan.expected:g} expected: use a larger reference, or fewer centres"
        )
    whole = scheme_of(plan, reference, data)
    assert isinstance(whole, ReferenceScheme | PermutationScheme)
    found = []
    for region in regions:
        with _named(region.name):
            found.append(_one(job, whole, region, settings))
    return found


def _one(job: Job, whole: ReferenceScheme | PermutationScheme, region: Region, settings: FitSettings) -> _Prepared:
    plan, reference, data = job.plans[0], job.recipe.reference, job.recipe.data
    assert data is not None
    in_reference = int(np.count_nonzero(region.reference))
    if in_reference < MIN_REFERENCE:
        raise InputError(
            f"it selects {in_reference} of {len(reference)} reference events, and {MIN_REFERENCE} are needed at least: "
            "check the selection, or use a larger reference"
        )
    inside = np.concatenate([region.reference, region.data])
    weights = np.ones(len(reference)) if reference.weights is None else reference.weights
    own = float(weights[region.reference].sum())
    if not own > 0:
        raise InputError(f"the weights of its reference events add up to {own:.4g}: a positive sum is needed")
    part = reference.take(region.reference)
    # Relabelled, nothing may depend on which events are data.
    relabelled = plan.null == "permutation"
    share = float(inside.mean()) if relabelled else in_reference / len(reference)
    expected = plan.expected * (share if relabelled else own / float(weights.sum()))
    relative = float(np.sqrt(np.square(weights[region.reference]).sum())) / own
    check_varies(part, "the reference in it", everywhere=plan.scaling != "robust")
    of_data = data.take(region.data) if region.data.any() else no_events(data)
    plans = plan_scales(
        part,
        of_data,
        expected=expected,
        settings=replace(settings, null=plan.null, reference_size=None),
        expected_error=expected * relative if plan.expected_error else 0.0,
        part=Part(plan, share),
    )
    check_sizes(plans[0], part, of_data if len(of_data) else None)
    scheme = RegionScheme.of(whole, inside, expected)
    recipe = replace(job.recipe, plans=plans, reference=part, data=of_data, scheme=scheme)
    return _Prepared(region, recipe, expected * relative)


@contextmanager
def _named(region: str) -> Iterator[None]:
    """Errors and warnings within the block say which region they are of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LannerWarning)
        try:
            yield
        except InputError as error:
            raise type(error)(f"region {region!r}: {error}") from error
    for w in caught:
        told = f"region {region!r}: {w.message}" if issubclass(w.category, LannerWarning) else w.message
        warnings.warn(told, w.category, stacklevel=4)
