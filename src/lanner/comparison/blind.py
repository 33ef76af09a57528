"""`blind_search`: everything of a search that needs no data, and what it may be expected to find."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from lanner._util.progress import begin, shown
from lanner._util.text import count
from lanner._util.warnings import collected_warnings
from lanner.comparison.departures import Standard, pools, signals
from lanner.comparison.sensitivity import LEVELS, Sensitivity, experiments_of, measure, room_of
from lanner.errors import InputError
from lanner.events import Sample, match_columns
from lanner.events.effective_size import effective_size
from lanner.inference.combination import number_of_map_toys
from lanner.inference.plan import MIN_RATIO, Plan
from lanner.inference.sequential import AUTO
from lanner.report.blind_page import BlindPage, write_blind_page
from lanner.report.expected import expected_profiles
from lanner.report.look import Look
from lanner.run.blinded import KIND, PAGE, SENSITIVITY, Blinded, refuse_opened
from lanner.run.evaluate import Combiner
from lanner.run.execution.local import Executor, executor_of
from lanner.run.fingerprint import sample_digest
from lanner.run.manifest import written_together
from lanner.run.prepare import check_strengths, checked_sample, prepare
from lanner.run.search import first_toys, maker_of, toys_wanted
from lanner.settings import FIT_KEYWORDS, FitKeywords, FitSettings, spelled_out
from lanner.typing import PathLike

# Null toys that are counted where their number is left open. The search may do with fewer, but 3 standard deviations
# are not known by those; they are its own toys, which it has when it needs them.
_COUNTED = 3000


@dataclass(frozen=True, eq=False)
class BlindSearch:
    """A search that is ready for its data and has not looked at them.

    Parameters
    ----------
    folder : Path
        Where its record, its toys and its page are; `unblind` goes on from there.
    plans : tuple of Plan
        How every fit will be made, at each scale.
    sensitivity : Sensitivity
        What it may find: `threshold(level)` of the statistic, and `found`, a line for each departure.
    warnings : tuple of str
        What was warned of.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> reference = np.random.default_rng(1).exponential(size=(4000, 1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     blind = lanner.blind_search(reference, expected=200, output=folder, toys=90, seed=1)
    >>> [one.name for one in blind.sensitivity.found]
    ['more events', 'fewer events', 'a cluster', 'x0 shifted']
    """

    folder: Path
    plans: tuple[Plan, ...]
    sensitivity: Sensitivity
    warnings: tuple[str, ...] = ()

    @property
    def page(self) -> Path:
        """The page with the expected sensitivity and the plots of the reference."""
        return self.folder / PAGE

    def to_dict(self) -> dict[str, Any]:
        """Return the sensitivity as plain JSON.

        Returns
        -------
        dict
            What `sensitivity.json` holds.
        """
        plan = self.plans[0]
        about = {"expected": plan.expected, "features": list(plan.names), "seed": plan.seed}
        return about | self.sensitivity.to_dict()

    def to_json(self) -> str:
        """Return `to_dict` as JSON text.

        Returns
        -------
        str
            What `sensitivity.json` holds.
        """
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def __str__(self) -> str:
        plan = self.plans[0]
        head = f"Blind: {plan.expected:g} events expected, {count(len(plan.names), 'feature')}; no data were looked at"
        return f"{head}\n{self.sensitivity}"


@spelled_out
def blind_search(
    reference: Any,
    *,
    expected: float | str,
    output: PathLike,
    toys: int | str = AUTO,
    until_z: float | None = None,
    p_precision: float = 0.3,
    signal: Any = None,
    signal_events: Sequence[float] = (),
    alone: bool = False,
    look: Look | None = None,
    variables: Mapping[str, Any] | None = None,
    files: Sequence[tuple[str, str]] = (),
    memory: float | str | None = None,
    executor: Executor | str = "local",
    device: str = "cpu",
    progress: Callable[..., None] | bool | None = None,
    **settings: Unpack[FitKeywords],
) -> BlindSearch:
    """Do all of a search that needs no data: decide, make toys, and tell what may be found.

    `unblind` looks at the data.

    The same arguments as those of `search`, without the data. What is kept in `output` has nothing of the data and no
    clock in it.

    Parameters
    ----------
    reference : array_like, mapping, data frame or Sample
        Events of the reference model, one a row.
    expected : float or "weights"
        N(0), the number of data events that the reference predicts; see `search`. A test of the shape alone needs the
        number of data events, and is refused.
    output : path_like
        The folder of the search, in which `unblind` goes on.
    toys : int or "auto", default "auto"
        How many null toys; see `search`. All of them are made, or with "auto" those that are made whatever the data,
        and so many that 3 standard deviations are known.
    until_z : float, optional
        Make toys until a p-value of that many standard deviations is known; the first of them are made now.
    p_precision : float, default 0.3
        The relative precision of the p-value with `until_z`.
    signal : array_like, mapping, data frame or Sample, optional
        Events of a signal whose sensitivity is of interest, with the columns of the reference.
    signal_events : sequence of float, optional
        Mean numbers of signal events to try.
    alone : bool, default False
        Whether the signal is a model of all data.
    look : Look, optional
        Words for the axes of plots, and the processes of the reference.
    variables : mapping of str to array_like, optional
        Further variables of the reference to plot, row by row.
    files : sequence of (str, str), optional
        Names and digests of the files that the reference was read from, to be checked when the data are looked at.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    executor : {"local", "dask"} or Dask, default "local"
        Who makes the null toys; see `search`.
    device : str, default "cpu"
        Where features are kept and multiplied; see `search`.
    progress : callable or bool, optional
        Called with what is being done, how much of it is done and how much there is; see `search`.
    <the settings of a fit>

    Returns
    -------
    BlindSearch
        The expected sensitivity, and where all is kept.

    Raises
    ------
    InputError
        If the search cannot be made blind, or the folder is that of data that have been looked at.

    See Also
    --------
    unblind : Look at the data.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     blind = lanner.blind_search(reference, expected=200, output=folder, toys=90, seed=1)
    ...     result = lanner.unblind(folder, reference, data)
    >>> result.p_value == lanner.search(reference, data, expected=200, toys=90, seed=1).p_value
    True
    """
    fit, folder = FitSettings(**settings), Path(output)
    refuse_opened(folder)
    _refuse_null(fit, expected)
    with shown(progress) as told, collected_warnings() as said:
        begin(told, "planning")
        job = prepare(reference, expected=expected, settings=fit, memory=memory, device=device, progress=told)
        plan, sample = job.plans[0], job.recipe.reference
        _refuse_small(fit, plan, sample)
        added = (
            signals(_signal(signal, sample, signal_events), signal_events, alone=alone) if signal is not None else ()
        )
        most, stopping = toys_wanted(job, toys, until_z, p_precision)
        if stopping is None:
            number = most or job.toys
            n_map_toys = number_of_map_toys(number)
        else:
            n_map_toys, first = first_toys(stopping, len(job.plans))
            number = n_map_toys + min(max(first, _COUNTED), stopping.toys)
        standard = Standard.of(plan, sample)
        # In the place of the data stand reference events, which no toy takes: the pool is then laid out as it will be
        # with data, so that toys are the same to the last bit.
        recipe = replace(job.recipe, data=_stand_in(plan, sample))
        with executor_of(executor).start(recipe, memory=job.memory, progress=told) as workers:
            made = maker_of(recipe, workers, folder / "toys", most or job.toys).first(number, told)
            combiner = Combiner.of(workers.prepared, fit.combination, made, n_map_toys)
            null = combiner.null(workers.prepared, made)
        begin(told, "what may be found")
        departures = pools(standard, added, experiments=experiments_of(job), room=room_of(job))
        found = measure(job, departures, combiner, null, progress=told)
        sensitivity = Sensitivity(null, found, standard.unmoved)
        begin(told, "writing the page")
        given = {"expected": expected, "toys": toys, "until_z": until_z, "p_precision": p_precision}
        blinded = Blinded(
            settings=given | {name: getattr(fit, name) for name in FIT_KEYWORDS},
            reference=sample_digest(sample),
            features=sample.names,
            files=tuple(files),
        )
        ready = BlindSearch(folder, job.plans, sensitivity, tuple(said))
        with written_together(folder, KIND) as written:
            blinded.write(written)
            written.write(SENSITIVITY, ready.to_json())
            write_blind_page(ready.page, _page(ready, sample, look, variables or {}))
            written.include(PAGE)
    return ready


def _refuse_null(fit: FitSettings, expected: Any) -> None:
    if expected is None:
        raise InputError(
            "expected=None tests the shape alone: toys then have as many events as the data, and a blind search does "
            "not even know their number; give the number that the reference predicts, or expected='weights'"
        )
    if fit.null == "permutation":
        raise InputError(
            "null='permutation' draws toys by relabelling reference and data together, so none can be made before the "
            "data are read; leave null= out, with a reference worth at least 20 times the events expected"
        )
    if fit.null == "generator":
        raise InputError("null='generator' is for search alone: a blind search draws its toys from the reference")


def _refuse_small(fit: FitSettings, plan: Plan, reference: Sample) -> None:
    """Refuse what an open search would do by relabelling, which null=None leaves to the size of the reference."""
    if fit.null is not None or fit.reference_size is not None or reference.weights is not None:
        return
    size = effective_size(reference)
    if size.worth < MIN_RATIO * plan.expected:
        raise InputError(
            f"the reference has {size} for {plan.expected:g} expected: with fewer than {MIN_RATIO:g} times as many a "
            "search draws its toys by relabelling reference and data together (null='permutation'), so none can be "
            "made before the data are read; use a larger reference, or null='reference' if its p-values will do"
        )


def _signal(signal: Any, reference: Sample, means: Sequence[float]) -> Sample:
    found = match_columns(
        reference, checked_sample(signal, "signal", 1, like=reference), labels=("reference", "signal")
    )
    check_strengths(means, len(found))
    return found


def _stand_in(plan: Plan, reference: Sample) -> Sample:
    number = min(max(round(plan.expected), 1), len(reference))
    return Sample(reference.features[:number], reference.names)


def _page(found: BlindSearch, reference: Sample, look: Look | None, variables: Mapping[str, Any]) -> BlindPage:
    sensitivity, plan = found.sensitivity, found.plans[0]
    return BlindPage(
        plan=plan,
        scales=len(found.plans),
        reference=len(reference),
        null=sensitivity.null,
        law=sensitivity.law,
        thresholds=tuple((level, sensitivity.threshold(level)) for level in LEVELS),
        departures=tuple((one.name, one.words, one.strength.band()) for one in sensitivity.found),
        most=sensitivity.most,
        table=sensitivity.rows(),
        unmoved=sensitivity.unmoved,
        experiments=sensitivity.experiments,
        profiles=expected_profiles(reference, expected=plan.expected, look=look, variables=variables),
        warnings=found.warnings,
    )
