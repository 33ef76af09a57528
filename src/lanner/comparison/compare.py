"""`compare`: several tests on the same toys, through the same calibration."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.files import write_atomically
from lanner._util.text import at_most, markdown_table, text_table, three_digits
from lanner.comparison.protocol import Arena, Test
from lanner.comparison.registry import DEFAULT, SUPERVISED, named_tests
from lanner.comparison.runner import Contestant, z_scores
from lanner.comparison.tests.network.neural_test import Network
from lanner.comparison.tests.network.torch_module import need_torch
from lanner.comparison.tests.supervised import Supervised
from lanner.errors import InputError
from lanner.events import Sample
from lanner.inference.null import Null
from lanner.model.fit import MIN_DATA
from lanner.run.planning import FitOptions, check_count, check_expected, check_ratio, check_sample
from lanner.run.toy_maker import stage
from lanner.run.toy_store import array_digest

Progress = Callable[[str, int, int], None]
LEVELS = (2.0, 3.0)


@dataclass(frozen=True, eq=False)
class Signal:
    """A signal to be found: its events and their mean number, added to the reference or (alone) all there is."""

    label: str
    sample: Any
    events: float
    alone: bool = False
    ideal: Test | None = None  # a test that knows it; without one, boosted trees that learn it


@dataclass(frozen=True)
class Found:
    """What a test makes of a signal: 16 %, 50 % and 84 % of Z, and how often it reaches a level."""

    signal: str
    signal_events: float
    z: tuple[float, float, float]
    probability: tuple[float, ...]  # of LEVELS


@dataclass(frozen=True)
class Row:
    """One test: what it finds, or what it says of the data, and what it costs."""

    test: str
    toys: int  # that its p-values are counted on
    reach: float  # the largest Z that these can show; beyond it a fitted tail is quoted
    most: float  # the largest Z that the tail can show, or, without one, the toys
    unsettled: int  # toys whose training or fit did not end
    seconds_preparing: float
    seconds_per_toy: float
    found: tuple[Found, ...] = ()
    p_value: float | None = None
    p_interval: tuple[float, float] | None = None
    z_score: float | None = None


@dataclass(frozen=True)
class Comparison:
    """A table of tests."""

    rows: tuple[Row, ...]
    experiments: int

    def row(self, test: str) -> Row:
        """One of the rows."""
        for row in self.rows:
            if row.test == test:
                return row
        raise InputError(f"test {test!r} was not compared; there are {', '.join(r.test for r in self.rows)}")

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        found = {"levels": list(LEVELS)} | asdict(self)
        for row in found["rows"]:
            if not np.isfinite(row["seconds_per_toy"]):
                row["seconds_per_toy"] = None  # nothing was made here
        return found

    def table(self) -> list[list[str]]:
        """Header and rows."""
        signals = list(dict.fromkeys((f.signal, f.signal_events) for r in self.rows for f in r.found))
        header = ["test"]
        for name, events in signals:
            header += [f"{name} {events:g}: Z (16 %, 84 %)", *(f"P({level:g}σ)" for level in LEVELS)]
        if not signals:
            header += ["p-value", "95 % interval", "Z"]
        header += ["null toys", "reach", "ms per toy", "preparing"]
        lines = [header + (["not converged"] if any(r.unsettled for r in self.rows) else [])]
        for row in self.rows:
            cells = [row.test]
            by_signal = {(f.signal, f.signal_events): f for f in row.found}
            for signal in signals:
                f = by_signal.get(signal)
                if f is None:
                    cells += [""] * (1 + len(LEVELS))
                    continue
                low, middle, high = f.z
                # A level beyond what can be shown is not one that is never reached.
                often = (
                    f"{p:.0%}" if level <= row.most else "unknown"
                    for level, p in zip(LEVELS, f.probability, strict=True)
                )
                cells += [f"{at_most(middle, row.most)} ({at_most(low, row.most)}, {at_most(high, row.most)})", *often]
            if not signals:
                assert row.p_interval is not None
                far = " (no toy above)" if row.p_interval[0] == 0 else ""
                cells += [f"{row.p_value:.3g}{far}", "{:.2g} to {:.2g}".format(*row.p_interval), f"{row.z_score:z.2f}"]
            cells += [
                str(row.toys),
                f"{row.reach:.2f}",
                three_digits(1e3 * row.seconds_per_toy),
                f"{three_digits(row.seconds_preparing)} s",
            ]
            if any(r.unsettled for r in self.rows):
                cells.append(str(row.unsettled))
            lines.append(cells)
        return lines

    def markdown(self) -> str:
        """The table for a page."""
        return markdown_table(self.table())

    def __str__(self) -> str:
        return text_table(self.table())


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
    scaling: str | None = "standard",
    reference_size: int | None = None,
    seed: int = 0,
    output: str | Path | None = None,
    memory: float | str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Set several tests against a signal, or against data, on the same toys.

    Args:
        reference: events of the reference model.
        signal: events of a signal to inject, `signal_events` of them on average (several: each in turn).
        expected: N(0); None with data: only the shape is tested.
        data: instead of a signal, data that each test gives its p-value to.
        alone: the signal is a model of all data.
        tests: names, or tests of `lanner.comparison` with settings of your own.
        toys: null toys of each test.
        experiments: toy data sets with the signal.
        output: keeps all toys, compare.json, compare.md and compare.png; interrupted, the same call goes on.
        progress: called with what is being done, how much of it is done and how much there is.
    """
    if toys < 1 or experiments < 1:
        raise InputError(f"toys={toys}, experiments={experiments}: give numbers of toys, such as 1000 and 100")
    options = FitOptions(
        width="auto", penalty=1e-6, scaling=scaling, reference_size=reference_size, seed=seed, statistic="score"
    )
    folder = None if output is None else Path(output)
    if (signal is None) == (data is None):
        raise InputError("give either a signal to inject or data to test")
    if data is not None:
        data = check_sample(data, "data", MIN_DATA)
        arena = Arena.prepare(reference, data, expected=expected, options=options, memory=memory)
        check_ratio(arena.plan, arena.reference)
        check_count(arena.plan, len(data))
        chosen = [t for t in _ready(tests) if not isinstance(t, str | Supervised)]
        if not chosen:
            raise InputError("a supervised test learns from a signal: give one, or choose other tests")
        rows = [_judge_data(_contestant(test, arena, folder, progress), toys, progress) for test in chosen]
        result = Comparison(tuple(rows), 0)
    else:
        check_expected(expected)
        if expected is None:
            raise InputError("what a test finds of a signal depends on a number of events: give expected=")
        means = np.atleast_1d(np.asarray([] if signal_events is None else signal_events, dtype=np.float64))
        if not len(means) or not (means > 0).all():
            raise InputError(f"signal_events={signal_events!r}: give the mean numbers of signal events to inject")
        sample = check_sample(signal, "signal", 1)
        signals = [Signal("signal", sample, float(mean), alone) for mean in means]
        result = compare_signals(
            reference,
            signals,
            expected=float(expected),
            tests=tests,
            toys=toys,
            experiments=experiments,
            options=options,
            output=folder,
            memory=memory,
            progress=progress,
        )
    if folder is not None:
        write_comparison(result, folder)
    return result


def compare_signals(
    reference: Any,
    signals: Sequence[Signal],
    *,
    expected: float,
    tests: Sequence[str | Test],
    toys: int,
    experiments: int,
    options: FitOptions,
    output: Path | None,
    memory: float | str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """The same for several signals at once, which share their null toys."""
    samples = {id(s.sample): Sample.of(s.sample) for s in signals}
    pooled = replace(next(iter(samples.values())), features=np.vstack([s.features for s in samples.values()]))
    arena = Arena.prepare(reference, pooled, expected=expected, label="signal", options=options, memory=memory)
    places, start = {}, len(arena.reference)
    for key, sample in samples.items():
        places[key] = range(start, start + len(sample))
        start += len(sample)
    for s in signals:
        if s.events + 5 * s.events**0.5 > len(places[id(s.sample)]):
            raise InputError(
                f"signal_events={s.events:g}: give strengths well below the {len(places[id(s.sample)])} events of the "
                "signal"
            )
    rows = []
    for test in _ready(tests):
        entered: list[tuple[Test, list[Signal]]]
        if isinstance(test, str):  # supervised: one for each signal
            entered = [(_ideal(s, arena, places[id(s.sample)]), [s]) for s in signals]
        else:
            entered = [(test, list(signals))]
        made = [
            _judge_signals(_contestant(t, arena, output, progress), s, places, toys, experiments, progress)
            for t, s in entered
        ]
        rows.append(_merged(made) if isinstance(test, str) else made[0])
    return Comparison(tuple(rows), experiments)


def _contestant(test: Test, arena: Arena, folder: Path | None, progress: Progress | None) -> Contestant:
    return Contestant(test, arena, folder, stage(progress, f"{test.name}, preparing"))


def _ready(tests: Sequence[str | Test]) -> list[str | Test]:
    """Tests by name or as they are; one that cannot run is refused before any toy is made."""
    found = named_tests(tests)
    if any(isinstance(test, Network) for test in found):
        need_torch()
    return found


def _ideal(signal: Signal, arena: Arena, rows: range) -> Test:
    if signal.ideal is not None:
        return signal.ideal
    name = f"{SUPERVISED}-{signal.label}-{signal.events:g}"
    first = len(arena.reference)
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


def _judge_signals(
    contestant: Contestant,
    signals: Sequence[Signal],
    places: dict[int, range],
    toys: int,
    experiments: int,
    progress: Progress | None,
) -> Row:
    scheme, name = contestant.arena.scheme, contestant.test.name
    made = contestant.toys("null", toys, scheme.toy, stage(progress, f"{name}, null"))
    null = contestant.null(made)
    found, unsettled = [], null.not_converged
    for s in signals:
        rows = places[id(s.sample)]
        run = contestant.toys(
            f"{s.label}-{s.events:g}",
            experiments,
            lambda i, s=s, rows=rows: scheme.with_signal(i, s.events, alone=s.alone, rows=rows),  # type: ignore[misc]
            stage(progress, f"{name}, {s.label} {s.events:g}"),
            about=[s.label, s.events, s.alone, array_digest(contestant.arena.events[rows.start : rows.stop])],
        )
        z = z_scores(contestant.statistic(run), null)
        low, middle, high = (float(q) for q in np.quantile(z, [0.16, 0.5, 0.84]))
        found.append(Found(s.label, s.events, (low, middle, high), tuple(float(np.mean(z >= x)) for x in LEVELS)))
        unsettled += int(np.count_nonzero(~run.converged.all(axis=0)))
    return Row(
        name,
        len(null),
        null.empirical(np.inf).z_score,
        _most(null),
        unsettled,
        contestant.seconds_preparing,
        contestant.seconds_per_toy,
        tuple(found),
    )


def _judge_data(contestant: Contestant, toys: int, progress: Progress | None) -> Row:
    scheme, name = contestant.arena.scheme, contestant.test.name
    made = contestant.toys("null", toys, scheme.toy, stage(progress, f"{name}, null"))
    null = contestant.null(made)
    digest = array_digest(contestant.arena.events[len(contestant.arena.reference) :])
    run = contestant.toys("data", 1, scheme.data, stage(progress, f"{name}, data"), about=["data", digest])
    p = null.empirical(float(contestant.statistic(run)[0]))
    return Row(
        name,
        len(null),
        null.empirical(np.inf).z_score,
        _most(null),
        null.not_converged + int(not run.converged.all()),
        contestant.seconds_preparing,
        contestant.seconds_per_toy,
        p_value=p.p_value,
        p_interval=p.interval,
        z_score=max(p.z_score, -null.empirical(np.inf).z_score),
    )


def _most(null: Null) -> float:
    """The largest Z that can be shown."""
    return float(z_scores(np.array([np.inf]), null)[0])


def write_comparison(result: Comparison, folder: Path) -> None:
    """compare.json, compare.md and compare.png."""
    from lanner.comparison.figure import draw_comparison

    write_atomically(folder / "compare.json", json.dumps(result.to_dict(), indent=1))
    write_atomically(folder / "compare.md", result.markdown() + "\n")
    draw_comparison(result, folder / "compare.png")
