"""`power`: how likely a search is to find a given signal, at several strengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

from lanner._util.progress import begin, shown
from lanner.comparison.runner import TestRunner
from lanner.comparison.strengths import Power, judged
from lanner.comparison.tests.kernel import Kernel, PreparedKernel
from lanner.comparison.tests.uncertain_kernel import uncertain_pool
from lanner.comparison.toy_pool import NullToys, SignalToys, ToyKind, ToyPool
from lanner.errors import InputError
from lanner.inference.plan import Plan, needs_trials
from lanner.inference.sequential import AUTO
from lanner.model.backend import arrays_on
from lanner.model.fit import check_expected
from lanner.run.execution.local import Executor
from lanner.run.prepare import check_strengths, default_toys
from lanner.run.sizes import check_sizes
from lanner.run.toy_maker import open_store
from lanner.run.toy_store import ToyStore
from lanner.settings import FitKeywords, FitSettings, checked, spelled_out
from lanner.typing import PathLike, Progress
from lanner.uncertainties.declared import Uncertainty


@dataclass(eq=False)
class SearchRunner(TestRunner):
    """Runs a test of Lanner's own with toys that a search in the same folder shares."""

    def folder_of(self, label: str) -> Path | None:
        """Where toys of one kind are kept: the null's where a search keeps its own."""
        return super().folder_of("toys" if label == "null" else label)

    def open_store(self, folder: Path, kind: ToyKind, batch_size: int) -> ToyStore:
        """The store of toys of one kind, described as a search describes it."""
        assert isinstance(self.test, Kernel)
        about = kind.about(self.pool) | self.test.about()
        return open_store(folder, self._plans, about.pop("events"), about, batch_size=batch_size)

    def with_uncertainties(self, uncertainties: Sequence[Uncertainty]) -> SearchRunner:
        """The same test of a reference with uncertainties."""
        assert isinstance(self.test, Kernel)
        test, pool = uncertain_pool(self.test, self.pool, uncertainties)
        return SearchRunner(test, pool, self.folder, self.executor, self.progress)

    @cached_property
    def _plans(self) -> tuple[Plan, ...]:
        assert isinstance(self.test, Kernel)
        return self.test.plans(self.pool)


def search_runner(
    reference: Any,
    signal: Any,
    *,
    expected: float,
    settings: FitKeywords,
    name: str = "search",
    output: Path | None = None,
    memory: float | str | None = None,
    executor: Executor | str = "local",
    device: str = "cpu",
    progress: Progress | None = None,
) -> SearchRunner:
    """A runner of a search with some settings, on a pool of a reference and a signal."""
    fit = FitSettings(**settings)
    if fit.null not in (None, "reference"):
        raise InputError(f"null={fit.null!r}: the power is that of null='reference'")
    arrays_on(device)
    pool = ToyPool.prepare(
        reference,
        signal,
        expected=check_expected(expected),
        settings=fit,
        label="signal",
        memory=memory,
        device=device,
        progress=progress,
        in_bunches=True,
    )
    check_sizes(pool.plan, pool.reference)
    decided = settings
    if needs_trials(fit):  # the trials are over, and need not be repeated wherever toys are made
        decided = settings | {"penalty": pool.plan.penalty}
    return SearchRunner(Kernel(name, decided), pool, output, executor, progress)


@spelled_out
def power(
    reference: Any,
    signal: Any,
    *,
    expected: float,
    signal_events: Sequence[float],
    toys: int | str = AUTO,
    experiments: int = 100,
    alone: bool = False,
    uncertainties: Sequence[Uncertainty] = (),
    label: str = "signal",
    output: PathLike | None = None,
    memory: float | str | None = None,
    executor: Executor | str = "local",
    device: str = "cpu",
    progress: Callable[..., None] | bool | None = None,
    **settings: Unpack[FitKeywords],
) -> Power:
    """Inject a signal into toy data at several strengths and see what a search would find.

    Each toy data set has Poisson(expected) reference events and Poisson(s) signal events, for each s of
    `signal_events`; or, with `alone`, Poisson(s) events of the signal and nothing else, where that is a model of all
    data (an interference, another simulator).

    Parameters
    ----------
    reference : array_like, mapping, data frame or Sample
        Events of the reference model, one a row.
    signal : array_like, mapping, data frame or Sample
        Events of the signal, with the columns of the reference.
    expected : float
        N(0), the number of data events that the reference predicts.
    signal_events : sequence of float
        Mean numbers of signal events to try.
    toys : int or "auto", default "auto"
        How many null toys. "auto" makes 1000 of the score statistic, and 300 of fits.
    experiments : int, default 100
        Toy data sets per strength.
    alone : bool, default False
        Whether the signal is a model of all data.
    uncertainties : sequence of Normalisation, Weights, Shifted, Process or KnownRatio, optional
        Systematic uncertainties of the reference; see `search`. The truth is at their central values, and every toy
        fits their nuisance parameters.
    label : str, default "signal"
        The name under which toys with the signal are kept: several signals can share one folder and its null toys.
    output : path_like, optional
        A folder in which to keep all toys, from which an interrupted run resumes.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    executor : {"local", "dask"} or Dask, default "local"
        Who makes the toys; see `search`.
    device : str, default "cpu"
        Where features are kept and multiplied; see `search`.
    progress : callable or bool, optional
        True shows how far the work is, False does not; a function is called with what is being done, how much of it is
        done and how much there is. Default: shown at a terminal and in a notebook.
    <the settings of a fit>

    Returns
    -------
    Power
        The null and, for each strength, the significances that toys with the signal reach.

    Raises
    ------
    InputError
        If the samples, the strengths or the settings cannot be used as they are.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, signal = rng.exponential(size=(4000, 1)), rng.normal(4.0, 0.1, (400, 1))
    >>> found = lanner.power(reference, signal, expected=200, signal_events=[20], toys=90, experiments=10)
    >>> found.strengths[0].band("empirical")[1] > 1
    True
    """
    with shown(progress) as told:
        begin(told, "planning")
        runner = search_runner(
            reference,
            signal,
            expected=expected,
            settings=settings,
            output=None if output is None else Path(output),
            memory=memory,
            executor=executor,
            device=device,
            progress=told,
        )
        if uncertainties:
            begin(told, "learning the uncertainties")
            runner = runner.with_uncertainties(uncertainties)
        assert runner.pool.other is not None
        check_strengths(signal_events, len(runner.pool.other))
        number = checked("toys", toys)
        number = default_toys(runner.pool.plan) if number == AUTO else number
        experiments = checked("experiments", experiments)
        work = number + experiments * len(signal_events)
        with runner:
            runner.progress = counted(told, 0, work)
            made = runner.toys("null", number, NullToys())
            ready = runner.prepared.test
            assert isinstance(ready, PreparedKernel)
            combiner = ready.combiner(made)
            null = combiner.null(ready.ladder, made)
            strengths = []
            for k, mean in enumerate(signal_events):
                runner.progress = counted(told, number + k * experiments, work)
                found = runner.toys(f"{label}-{mean:g}", experiments, SignalToys(mean, alone))
                strengths.append(judged(mean, combiner.statistic(found.statistics), null))
    return Power(null, tuple(strengths))


def counted(progress: Progress | None, before: int, work: int) -> Progress | None:
    """Progress of a runner whose toys are a part of all toys and experiments; its preparation is none of them."""
    if progress is None:
        return None

    def told(what: str, done: int, total: int) -> None:
        if what.endswith("preparing"):
            progress("preparing", done, total)
        else:
            progress("toys and experiments", before + done, work)

    return told
