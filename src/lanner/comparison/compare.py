"""`compare`: several tests on the same toys, through the same calibration."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.files import write_atomically
from lanner._util.progress import begin, shown
from lanner.comparison.common_scale import NullOfTest, found_of
from lanner.comparison.protocol import Test
from lanner.comparison.registry import DEFAULT, SUPERVISED, named_tests
from lanner.comparison.runner import TestRunner
from lanner.comparison.table import Comparison, Row
from lanner.comparison.tests.supervised import Supervised
from lanner.comparison.toy_pool import DataAsToy, NullToys, SignalToys, ToyPool
from lanner.errors import InputError
from lanner.events import Sample
from lanner.model.fit import MIN_DATA, check_expected
from lanner.run.evaluate import Combiner
from lanner.run.prepare import check_constant, check_count, check_strengths, checked_sample, chosen_features
from lanner.run.sizes import check_sizes
from lanner.run.toy_maker import ToyRun
from lanner.settings import FitSettings, checked, spelled_out
from lanner.typing import PathLike, Progress


@dataclass(frozen=True, eq=False)
class Signal:
    """A signal to be found: its events and their mean number, added to the reference or (alone) all there is."""

    label: str
    sample: Sample
    events: float
    alone: bool = False
    ideal: Test | None = None  # a test that knows it; without one, boosted trees that learn it


@spelled_out
def compare(
    reference: Any,
    signal: Any = None,
    *,
    expected: float | None,
    signal_events: float | Sequence[float] | None = None,
    data: Any = None,
    alone: bool = False,
    tests: Sequence[str | Test] = DEFAULT,
    toys: int = 1000,
    experiments: int = 100,
    scaling: str | None = "robust",
    missing: str = "auto",
    periodic: Sequence[str] = (),
    reference_size: int | None = None,
    seed: int = 0,
    output: PathLike | None = None,
    memory: float | str | None = None,
    progress: Callable[..., None] | bool | None = None,
) -> Comparison:
    """Set several tests against a signal, or against data, on the same toys.

    Parameters
    ----------
    reference : array_like, mapping, data frame or Sample
        Events of the reference model, one a row, without weights.
    signal : array_like, mapping, data frame or Sample, optional
        Events of a signal to inject.
    expected : float or None
        N(0), the number of data events that the reference predicts; None with data tests the shape alone.
    signal_events : float or sequence of float, optional
        How many signal events to inject on average; several are tried in turn.
    data : array_like, mapping, data frame or Sample, optional
        Instead of a signal, data to which each test gives its p-value.
    alone : bool, default False
        Whether the signal is a model of all data.
    tests : sequence of str or Test, optional
        Names of tests, or tests of `lanner.comparison` with settings of your own. Default: all but the slow ones.
    toys : int, default 1000
        Null toys of each test.
    experiments : int, default 100
        Toy data sets with the signal.
    scaling : {"robust", "standard", "authors", None}, default "robust"
        Scaling of the features, learned on the reference.
    missing : {"auto", "keep"}, default "auto"
        Whether values such as -999, which many rows share far from all others, are missing or numbers.
    periodic : sequence of str, optional
        Angles, each NAME or NAME=PERIOD: their ends are joined.
    reference_size : int, optional
        Reference events of each toy. Default: all, less the room for its data.
    seed : int, default 0
        One seed, from which all random numbers follow.
    output : path_like, optional
        A folder for all toys, compare.json, compare.md and compare.png; interrupted, the same call goes on.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    progress : callable or bool, optional
        True shows how far the work is, False does not; a function is called with what is being done, how much of it is
        done and how much there is. Default: shown at a terminal and in a notebook.

    Returns
    -------
    Comparison
        A row for each test: what it finds, and what it costs.

    Raises
    ------
    InputError
        If the samples, the tests or the numbers cannot be used as they are.
    StoreError
        If the folder holds toys of something else.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.normal(size=(2000, 1)), rng.normal(size=(100, 1))
    >>> found = lanner.compare(reference, data=data, expected=100, tests=["ks", "energy"], toys=60)
    >>> all(0 < row.p_value <= 1 for row in found.rows)
    True
    """
    toys, experiments = checked("toys", toys), checked("experiments", experiments)
    settings = shared_settings(
        scaling=scaling, missing=missing, periodic=periodic, reference_size=reference_size, seed=seed
    )
    folder = None if output is None else Path(output)
    if (signal is None) == (data is None):
        raise InputError("give either a signal to inject or data to test")
    with shown(progress) as told:
        begin(told, "planning")
        reference, _ = chosen_features(reference, "reference")
        if data is not None:
            result = _compare_data(
                reference, data, expected=expected, tests=tests, toys=toys, settings=settings, output=folder,
                memory=memory, progress=told,
            )  # fmt: skip
        else:
            if expected is None:
                raise InputError("what a test finds of a signal depends on a number of events: give expected=")
            means = checked("signal_events", [] if signal_events is None else signal_events)
            if not means or not min(means) > 0:
                raise InputError(f"signal_events={signal_events!r}: give the mean numbers of signal events to inject")
            sample = checked_sample(signal, "signal", 1, like=reference)
            result = compare_signals(
                reference,
                [Signal("signal", sample, mean, alone) for mean in means],
                expected=check_expected(expected),
                tests=tests,
                toys=toys,
                experiments=experiments,
                settings=settings,
                output=folder,
                memory=memory,
                progress=told,
            )
        if folder is not None:
            begin(told, "writing the table and the figure")
            write_comparison(result, folder, "compare")
    return result


def shared_settings(**changed: Any) -> FitSettings:
    """The settings of a pool whose toys all tests share, with the paper's width for tests that need one."""
    return FitSettings(width="auto", penalty=1e-6, statistic="score", **changed)


def pool_of_signals(
    reference: Any, signals: Sequence[Signal], *, expected: float, settings: FitSettings, memory: float | str | None
) -> tuple[ToyPool, list[range]]:
    """A pool with the events of all signals, each sample once, and the rows of each signal."""
    samples = {id(s.sample): s.sample for s in signals}
    pooled = Sample(np.vstack([s.features for s in samples.values()]), signals[0].sample.names)
    pool = unweighted(
        ToyPool.prepare(reference, pooled, expected=expected, settings=settings, label="signal", memory=memory)
    )
    return pool, signal_rows(len(pool.reference), signals)


def signal_rows(first: int, signals: Sequence[Signal]) -> list[range]:
    """The rows of each signal in a pool that has each sample once, after the first rows."""
    places = {}
    for s in signals:
        if id(s.sample) not in places:
            places[id(s.sample)] = range(first, first + len(s.sample))
            first += len(s.sample)
        check_strengths([s.events], len(s.sample))
    return [places[id(s.sample)] for s in signals]


def unweighted(pool: ToyPool) -> ToyPool:
    """The pool, whose reference must have no weights."""
    if pool.reference.weights is not None:
        raise InputError("the tests that others use take no event weights: give an unweighted reference")
    return pool


def compare_signals(
    reference: Any,
    signals: Sequence[Signal],
    *,
    expected: float,
    tests: Sequence[str | Test],
    toys: int,
    experiments: int,
    settings: FitSettings,
    output: Path | None,
    memory: float | str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """The same for several signals at once, which share their null toys."""
    pool, rows = pool_of_signals(reference, signals, expected=expected, settings=settings, memory=memory)
    check_sizes(pool.plan, pool.reference)
    made = []
    chosen = named_tests(tests)
    for k, test in enumerate(chosen):
        told = _of_test(progress, k, len(chosen))
        if isinstance(test, str):  # supervised: one for each signal
            ideal = [
                judge_signals(_runner(_ideal(s, pool, r), pool, output, told), [s], [r], toys, experiments)
                for s, r in zip(signals, rows, strict=True)
            ]
            made.append(_merged(ideal))
        else:
            made.append(judge_signals(_runner(test, pool, output, told), signals, rows, toys, experiments))
    return Comparison(tuple(made), experiments)


def judge_signals(
    runner: TestRunner, signals: Sequence[Signal], rows: Sequence[range], toys: int, experiments: int
) -> Row:
    """What a test finds of each signal."""
    with runner:
        made = runner.toys("null", toys, NullToys())
        null = NullOfTest.of(_combiner(runner, made), made, runner.pool.plan.seed)
        found, unsettled = [], null.null.not_converged
        for s, r in zip(signals, rows, strict=True):
            run = runner.toys(f"{s.label}-{s.events:g}", experiments, SignalToys(s.events, s.alone, r))
            found.append(found_of(s.label, s.events, null.z_scores(null.statistic(run))))
            unsettled += int(np.count_nonzero(~run.converged.all(axis=0)))
        return replace(_row(runner, null), unsettled=unsettled, found=tuple(found))


def _compare_data(
    reference: Any,
    data: Any,
    *,
    expected: float | None,
    tests: Sequence[str | Test],
    toys: int,
    settings: FitSettings,
    output: Path | None,
    memory: float | str | None,
    progress: Progress | None,
) -> Comparison:
    data = checked_sample(data, "data", MIN_DATA, like=reference)
    number = None if expected is None else check_expected(expected)
    pool = unweighted(ToyPool.prepare(reference, data, expected=number, settings=settings, memory=memory))
    check_sizes(pool.plan, pool.reference, data)
    check_constant(pool.reference, data)
    check_count(pool.plan, len(data))
    chosen = [t for t in named_tests(tests) if not isinstance(t, str | Supervised)]
    if not chosen:
        raise InputError("a supervised test learns from a signal: give one, or choose other tests")
    found = [
        _judge_data(_runner(test, pool, output, _of_test(progress, k, len(chosen))), toys)
        for k, test in enumerate(chosen)
    ]
    return Comparison(tuple(found), 0)


def _judge_data(runner: TestRunner, toys: int) -> Row:
    with runner:
        made = runner.toys("null", toys, NullToys())
        null = NullOfTest.of(_combiner(runner, made), made, runner.pool.plan.seed)
        run = runner.toys("data", 1, DataAsToy())
        p = null.null.empirical(float(null.statistic(run)[0]))
        return replace(
            _row(runner, null),
            unsettled=null.null.not_converged + int(not run.converged.all()),
            p_value=p.p_value,
            p_interval=p.interval,
            z_score=max(p.z_score, -null.reach),
        )


def _row(runner: TestRunner, null: NullOfTest) -> Row:
    """The row of a test before it has found anything."""
    return Row(
        runner.test.name,
        len(null.null),
        null.reach,
        null.most,
        seconds_preparing=runner.seconds_preparing,
        seconds_per_toy=runner.seconds_per_toy,
    )


def _combiner(runner: TestRunner, made: ToyRun) -> Combiner:
    """How a test's statistics become one: only several of them need the prepared test to say so."""
    return Combiner(None, 0) if len(made.statistics) == 1 else runner.prepared.test.combiner(made)


def _of_test(progress: Progress | None, k: int, tests: int) -> Progress | None:
    """Progress with the number of the test that it is about."""
    if progress is None or tests == 1:
        return progress
    return lambda what, done, total: progress(f"test {k + 1} of {tests}: {what}", done, total)


def _runner(test: Test, pool: ToyPool, folder: Path | None, progress: Progress | None) -> TestRunner:
    begin(progress, f"{test.name}, preparing")
    return TestRunner(test, pool, None if folder is None else folder / test.name, progress=progress)


def _ideal(signal: Signal, pool: ToyPool, rows: range) -> Test:
    if signal.ideal is not None:
        return signal.ideal
    name = f"{SUPERVISED}-{signal.label}-{signal.events:g}"
    first = len(pool.reference)
    return Supervised(signal.events, signal.alone, rows=(rows.start - first, rows.stop - first), name=name)


def _merged(rows: Sequence[Row]) -> Row:
    """Ideal tests, one for each signal, as one line."""
    return replace(
        rows[0],
        test=rows[0].test.split("-")[0],
        toys=min(r.toys for r in rows),
        reach=min(r.reach for r in rows),
        most=min(r.most for r in rows),
        seconds_preparing=float(np.mean([r.seconds_preparing for r in rows])),
        seconds_per_toy=float(np.mean([r.seconds_per_toy for r in rows])),
        found=tuple(f for r in rows for f in r.found),
    )


def write_comparison(result: Comparison, folder: Path, name: str) -> None:
    """The table as JSON and Markdown, and its figure."""
    from lanner.comparison.figure import draw_comparison

    write_atomically(folder / f"{name}.json", json.dumps(result.to_dict(), indent=1))
    write_atomically(folder / f"{name}.md", result.markdown() + "\n")
    draw_comparison(result, folder / f"{name}.png")
