"""A suite of signals, set before any number of tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lanner.comparison import PUBLISHED, Comparison, KnownRatio, Network, Test
from lanner.comparison.compare import Signal, compare_signals, write_comparison
from lanner.comparison.registry import DEFAULT
from lanner.comparison.suites import SuiteSignal, suite_case
from lanner.errors import InputError
from lanner.paper.datasets import one_dimensional
from lanner.paper.datasets.library import Library
from lanner.run.planning import FitOptions


def compare_suite(
    name: str = "one-dimensional",
    *,
    tests: Sequence[str | Test] = DEFAULT,
    signals: Sequence[str] | None = None,
    toys: int = 1000,
    experiments: int = 100,
    share: float = 1.0,
    reference_size: int | None = None,
    output: str | Path | None = None,
    library: Library | None = None,
    memory: float | str | None = None,
    seed: int = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> Comparison:
    """Compare tests on the signals of a suite ("one-dimensional", "dimuon", "susy" or "higgs"), or on some of them.

    `share` makes it smaller: that part of the events, with signals that are weaker by its root; `reference_size`
    takes fewer reference events for each toy. The network is the published one, if none is given; "supervised" is the
    exact likelihood ratio where the densities are known.
    """
    case = suite_case(name, seed=seed, library=library, share=share, ideal=False)
    hidden, clip = PUBLISHED[name]
    known = [s.name for s in case.signals]
    wrong = [s for s in signals or () if s not in known]
    if wrong:
        raise InputError(f"signals={wrong}: the suite has {', '.join(known)}")
    chosen = [s for s in case.signals if signals is None or s.name in signals]
    result = compare_signals(
        case.reference,
        [Signal(s.name, case.events(s), s.events, s.alone, _ideal(name, s, case.expected)) for s in chosen],
        expected=case.expected,
        tests=[Network(hidden, clip) if test == "network" else test for test in tests],
        toys=toys,
        experiments=experiments,
        options=FitOptions(
            width="auto",
            penalty=1e-6,
            statistic="score",
            seed=seed,
            reference_size=reference_size or case.reference_size,
        ),
        output=None if output is None else Path(output),
        memory=memory,
        progress=progress,
    )
    if output is not None:
        write_comparison(result, Path(output))
    return result


def _ideal(suite: str, signal: SuiteSignal, expected: float) -> Test | None:
    if suite != "one-dimensional":
        return None
    known = one_dimensional.log_ratio(signal.name, signal.events, expected=expected)
    return KnownRatio(known, f"ideal-{signal.name}")
