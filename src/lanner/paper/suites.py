"""Suites of signals, none of them known to the test: how much of each several tests find, beside the ideal one.

`compare_suite` sets any tests before the signals, on the same toys. `power_suite` measures Lanner's own tests by
counting alone, with as many null toys as that takes: the paper's (one width, the likelihood ratio of one Newton step),
the likelihood ratio at several widths, and the score statistic at several scales, which is what `search` does by
default; of the latter two every combination and every single scale.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lanner._util.progress import as_progress, begin
from lanner.comparison.common_scale import found_of
from lanner.comparison.compare import Signal, compare_signals, shared_settings, signal_rows, write_comparison
from lanner.comparison.power import SearchRunner, search_runner
from lanner.comparison.protocol import Test
from lanner.comparison.registry import DEFAULT
from lanner.comparison.table import Comparison, Row, SuiteSignal
from lanner.comparison.tests.kernel import PreparedKernel
from lanner.comparison.tests.network import PUBLISHED, Network
from lanner.comparison.tests.supervised import KnownRatio
from lanner.comparison.toy_pool import NullToys, SignalToys
from lanner.errors import InputError
from lanner.events import Sample
from lanner.inference.combination import COMBINATIONS, number_of_map_toys
from lanner.inference.significance import empirical_z
from lanner.paper.datasets.library import Library
from lanner.paper.settings import paper_settings
from lanner.paper.suite_cases import SuiteCase, suite_case
from lanner.run.evaluate import Combiner
from lanner.run.execution.local import Executor
from lanner.settings import FitKeywords, spelled_out
from lanner.typing import Array, PathLike


@dataclass(frozen=True)
class OwnTest:
    """One of Lanner's own tests: settings of `search`, and how many null toys it can afford."""

    name: str
    settings: FitKeywords = field(hash=False)
    share: float = 1.0  # of the null toys asked for


OWN_TESTS = {
    "one-dimensional": (
        OwnTest("the paper's", paper_settings(width=0.3, penalty=1e-10, centers=3000, scaling=None), share=0.1),
        OwnTest("likelihood ratio, several widths", {"statistic": "likelihood-ratio"}),
        OwnTest("score, several scales", {}),
    ),
    "dimuon": (
        OwnTest("the paper's", paper_settings(width=3.0, penalty=1e-6, scaling="standard"), share=0.1),
        OwnTest("score, several scales", {}),
    ),
}


@spelled_out
def power_suite(
    name: str = "one-dimensional",
    *,
    toys: int = 10_000,
    experiments: int = 400,
    output: PathLike | None = None,
    library: Library | None = None,
    memory: float | str | None = None,
    executor: Executor | str = "local",
    device: str = "cpu",
    seed: int = 1,
    progress: Callable[..., None] | None = None,
) -> Comparison:
    """Measure what Lanner's own tests find of a suite of signals.

    Parameters
    ----------
    name : {"one-dimensional", "dimuon"}, default "one-dimensional"
        The paper's three 1-D signals and five more, or Z' resonances and a contact interaction.
    toys : int, default 10000
        Null toys; of the paper's test, whose significances are lower, a tenth of that.
    experiments : int, default 400
        Toy data sets for each signal.
    output : path_like, optional
        A folder for toys, suite.json, suite.md and suite.png; interrupted, the same call goes on from it.
    library : Library, optional
        Where events come from. Default: generated, and kept in the user's cache.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    executor : {"local", "dask"} or Dask, default "local"
        Who makes the toys; see `search`.
    device : str, default "cpu"
        Where features are kept and multiplied; see `search`.
    seed : int, default 1
        One seed, from which all random numbers follow.
    progress : callable, optional
        Called with what is being done, how much of it is done and how much there is.

    Returns
    -------
    Comparison
        A row for each test and each of its combinations and scales, with the ideal significances in `signals`.

    Raises
    ------
    InputError
        If the suite is not known.

    Examples
    --------
    >>> import lanner
    >>> print(lanner.power_suite("one-dimensional", toys=100_000, output="suite"))  # doctest: +SKIP
    """
    if name not in OWN_TESTS:
        raise InputError(f"suite={name!r} is not known; choose one of {', '.join(map(repr, OWN_TESTS))}")
    begin(as_progress(progress), "making the samples")
    case = suite_case(name, seed=seed, library=library)
    signals = [case.signal(s) for s in case.signals]
    rows: list[Row] = []
    for test in OWN_TESTS[name]:
        runner = search_runner(
            case.reference,
            Sample(np.vstack([s.sample.features for s in signals]), case.reference.names),
            expected=case.expected,
            settings={"seed": seed, "reference_size": case.reference_size} | test.settings,
            name=test.name,
            output=None if output is None else Path(output) / re.sub(r"[^a-z]+", "-", test.name),
            memory=memory,
            executor=executor,
            device=device,
            progress=as_progress(progress),
        )
        rows += _own_rows(runner, signals, max(300, round(test.share * toys)), experiments)
    result = Comparison(tuple(rows), experiments, case.signals)
    if output is not None:
        begin(as_progress(progress), "writing the table and the figure")
        write_comparison(result, Path(output), "suite")
    return result


def _own_rows(runner: SearchRunner, signals: Sequence[Signal], toys: int, experiments: int) -> list[Row]:
    """What every combination and every scale of a test finds, by counting."""
    places = signal_rows(len(runner.pool.reference), signals)
    with runner:
        null = runner.toys("null", toys, NullToys())
        made = [
            runner.toys(f"{s.label}-{s.events:g}", experiments, SignalToys(s.events, s.alone, rows))
            for s, rows in zip(signals, places, strict=True)
        ]
        ready = runner.prepared.test
        assert isinstance(ready, PreparedKernel)
        plans = ready.ladder.plans

    def row(statistic: str, t: Array, by_signal: Sequence[Array]) -> Row:
        found = [found_of(s.label, s.events, empirical_z(x, t)) for s, x in zip(signals, by_signal, strict=True)]
        reach = float(empirical_z(np.array([np.inf]), t)[0])
        return Row(runner.test.name, len(t), reach, reach, found=tuple(found), statistic=statistic)

    if len(plans) == 1:
        return [row("single", null.statistics[0], [m.statistics[0] for m in made])]
    rows = []
    for kind in COMBINATIONS:
        how = Combiner.of(ready.ladder, kind, null, number_of_map_toys(null.statistics.shape[1]))
        rows.append(row(kind, how.null_statistics(null), [how.statistic(m.statistics) for m in made]))
    for k, plan in enumerate(plans):
        label = f"width {plan.width:.3g}, penalty {plan.penalty:.2g}"
        rows.append(row(label, null.statistics[k], [m.statistics[k] for m in made]))
    return rows


@spelled_out
def compare_suite(
    name: str = "one-dimensional",
    *,
    tests: Sequence[str | Test] = DEFAULT,
    signals: Sequence[str] | None = None,
    toys: int = 1000,
    experiments: int = 100,
    share: float = 1.0,
    reference_size: int | None = None,
    output: PathLike | None = None,
    library: Library | None = None,
    memory: float | str | None = None,
    seed: int = 1,
    progress: Callable[..., None] | None = None,
) -> Comparison:
    """Compare tests on the signals of a suite, or on some of them.

    The network is the published one, if none is given; "supervised" is the exact likelihood ratio where the densities
    are known.

    Parameters
    ----------
    name : {"one-dimensional", "dimuon", "susy", "higgs"}, default "one-dimensional"
        The suite.
    tests : sequence of str or Test, optional
        Names of tests, or tests of `lanner.comparison` with settings of your own. Default: all but the slow ones.
    signals : sequence of str, optional
        Some signals of the suite. Default: all.
    toys : int, default 1000
        Null toys of each test.
    experiments : int, default 100
        Toy data sets with each signal.
    share : float, default 1.0
        A smaller version of the suite: that part of its events, with signals that are weaker by its root.
    reference_size : int, optional
        Reference events of each toy. Default: the suite's.
    output : path_like, optional
        A folder for all toys, compare.json, compare.md and compare.png; interrupted, the same call goes on.
    library : Library, optional
        Where events come from. Default: generated, and kept in the user's cache.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    seed : int, default 1
        One seed, from which all random numbers follow.
    progress : callable, optional
        Called with what is being done, how much of it is done and how much there is.

    Returns
    -------
    Comparison
        A row for each test: what it finds, and what it costs.

    Raises
    ------
    InputError
        If the suite, a signal or a test is not known.

    Examples
    --------
    >>> import lanner
    >>> found = lanner.compare_suite(share=0.02, tests=["chi2"], signals=["bulk"], toys=40, experiments=5)
    >>> [row.test for row in found.rows]
    ['chi2']
    """
    begin(as_progress(progress), "making the samples")
    case = suite_case(name, seed=seed, library=library, share=share, ideal=False)
    hidden, clip = PUBLISHED[name]
    known = [s.name for s in case.signals]
    wrong = [s for s in signals or () if s not in known]
    if wrong:
        raise InputError(f"signals={wrong}: the suite has {', '.join(known)}")
    result = compare_signals(
        case.reference,
        [case.signal(s, _ideal(name, s, case)) for s in case.signals if signals is None or s.name in signals],
        expected=case.expected,
        tests=[Network(hidden, clip) if test == "network" else test for test in tests],
        toys=toys,
        experiments=experiments,
        # As published: what bounds the network's parameters is meant for standardised features.
        settings=shared_settings(seed=seed, reference_size=reference_size or case.reference_size, scaling="standard"),
        output=None if output is None else Path(output),
        memory=memory,
        progress=as_progress(progress),
    )
    if output is not None:
        begin(as_progress(progress), "writing the table and the figure")
        write_comparison(result, Path(output), "compare")
    return result


def _ideal(suite: str, signal: SuiteSignal, case: SuiteCase) -> Test | None:
    """A test that knows the signal, where its density is known."""
    if suite != "one-dimensional":
        return None
    from lanner.paper.datasets.one_dimensional import log_ratio

    return KnownRatio(log_ratio(signal.name, signal.events, expected=case.expected), f"ideal-{signal.name}")
