"""The suites of signals: a reference, its sizes, and signals at one strength each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lanner.comparison.compare import Signal
from lanner.comparison.protocol import Test
from lanner.comparison.table import SuiteSignal
from lanner.errors import InputError
from lanner.events import Sample
from lanner.inference.resampling import room_for_data
from lanner.paper.datasets.library import Library

SUITES = ("one-dimensional", "dimuon", "susy", "higgs")
_SIGNAL_EVENTS = 10_000


@dataclass(frozen=True, eq=False)
class SuiteCase:
    """A reference and the signals of a suite."""

    reference: Sample
    expected: float
    reference_size: int
    signals: tuple[SuiteSignal, ...]
    events: Callable[[SuiteSignal], Sample]

    def signal(self, signal: SuiteSignal, ideal: Test | None = None) -> Signal:
        """A signal with its events."""
        return Signal(signal.name, self.events(signal), signal.events, signal.alone, ideal)


def suite_case(
    name: str, *, seed: int, library: Library | None = None, share: float = 1.0, ideal: bool = True
) -> SuiteCase:
    """A suite by its name, or a smaller version of it: a share of its events, with signals weaker by its root.

    Events of collisions come from a library.
    """
    if name not in SUITES:
        raise InputError(f"suite={name!r} is not known; choose one of {', '.join(map(repr, SUITES))}")
    if not 0 < share <= 1:
        raise InputError(f"share={share!r}: give the part of the suite's events that is used, such as 0.1")
    if name == "one-dimensional":
        return _one_dimensional(seed, share)
    return _collisions(name, library or Library(name), share, ideal and share == 1)


def _one_dimensional(seed: int, share: float) -> SuiteCase:
    from lanner.paper.datasets import one_dimensional as example

    rng = np.random.default_rng([seed, 1])
    size, expected = round(share * example.REFERENCE_SIZE), share * example.EXPECTED
    every = example.SIGNALS | example.FURTHER

    def signal(s: Any) -> SuiteSignal:
        events = s.events * (share if s.alone else share**0.5)
        z = example.ideal_significance(s.name, events, expected=expected)
        return SuiteSignal(s.name, events, z, s.name in example.SIGNALS, s.alone)

    return SuiteCase(
        Sample(example.background(size + room_for_data(expected, None), rng), ("x",)),
        expected,
        size,
        tuple(signal(s) for s in every.values()),
        lambda s: Sample(every[s.name].sample(_SIGNAL_EVENTS, np.random.default_rng([seed, 2]))[:, None], ("x",)),
    )


def _collisions(name: str, library: Library, share: float, ideal: bool) -> SuiteCase:
    from lanner.paper.reproduce.cases import case as paper_case
    from lanner.paper.reproduce.measure import Events, ideal_significances, sample_of

    case = paper_case(name)
    case = replace(
        case,
        expected=share * case.expected,
        reference_size=round(share * case.reference_size),
        signals=tuple(
            replace(s, strengths=tuple(round(n * (share if s.alone else share**0.5), 1) for n in s.strengths))
            for s in case.signals
        ),
    )
    events = Events(case, replace(library, cuts=dict(case.cuts)))
    z = ideal_significances(events)["z"] if ideal else {}
    return SuiteCase(
        sample_of(events.background(case.reference_size), case.low_level),
        case.expected,
        case.reference_size,
        tuple(
            SuiteSignal(s.name, s.strengths[-1], z[s.name][-1] if ideal else np.nan, known=False, alone=s.alone)
            for s in case.signals
        ),
        lambda wanted: next(sample_of(events.signal(s), case.low_level) for s in case.signals if s.name == wanted.name),
    )
