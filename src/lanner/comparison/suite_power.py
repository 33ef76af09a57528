"""A suite of signals, none of them known to the test: how much of each several tests find, beside the ideal one.

The tests are the paper's (one width, the likelihood ratio of one Newton step), the likelihood ratio at several
widths, and the score statistic at several scales, which is what `search` does by default; of the latter two every
combination and every single scale. All Z are medians over toy experiments of empirical p-values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from lanner._util.files import write_atomically
from lanner._util.text import at_most, is_beyond, markdown_table, text_table
from lanner.comparison.suites import SuiteSignal, suite_case
from lanner.errors import InputError
from lanner.inference.combination import COMBINATIONS, frozen_toys
from lanner.inference.multiscale import Ladder
from lanner.paper.datasets.library import Library
from lanner.run.evaluate import Combiner
from lanner.run.execution.local import Executor, executor_of
from lanner.run.injection import Injection
from lanner.run.planning import FitOptions
from lanner.run.toy_maker import ToyRun, stage
from lanner.typing import Array

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Test:
    """A way to test: options of `search`, and how many null toys it can afford."""

    __test__ = False  # not one of pytest's

    name: str
    options: dict[str, Any] = field(hash=False)
    share: float = 1.0  # of the null toys asked for


@dataclass(frozen=True)
class Row:
    """What one statistic finds of each signal: median Z, its error, and the largest Z that its toys can show."""

    test: str
    statistic: str  # "single", a combination, or a scale
    z: dict[str, float]
    error: dict[str, float]
    reach: float
    toys: int  # null toys

    def mean(self, names: Sequence[str]) -> float:
        """Mean over some signals."""
        return float(np.mean([self.z[name] for name in names]))

    def is_bound(self, name: str) -> bool:
        """Whether more than half of the experiments lie beyond all null toys."""
        return is_beyond(self.z[name], self.reach)

    def cell(self, name: str) -> str:
        """Median Z and its error, or the most that the toys can show."""
        error = "" if self.is_bound(name) else f" ± {self.error[name]:.2f}"
        return at_most(self.z[name], self.reach) + error


@dataclass(frozen=True)
class SuiteResult:
    """The table of a suite."""

    suite: str
    signals: tuple[SuiteSignal, ...]
    rows: tuple[Row, ...]
    experiments: int

    def row(self, test: str, statistic: str) -> Row:
        """One of the rows."""
        return next(r for r in self.rows if (r.test, r.statistic) == (test, statistic))

    def best_single(self, test: str, signal: str) -> float:
        """The highest median Z of any single scale of a test."""
        return self._best_row(test, signal).z[signal]

    def _best_row(self, test: str, signal: str) -> Row:
        singles = (r for r in self.rows if r.test == test and r.statistic.startswith("width"))
        return max(singles, key=lambda r: r.z[signal])

    def counts(self) -> str:
        """How many toys stand behind the table, in words."""
        nulls = "; ".join(f"{test}: {number}" for test, number in {r.test: r.toys for r in self.rows}.items())
        return f"null toys ({nulls}) and {self.experiments} toys per signal"

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{text_table(self.table())}\nMedian Z of empirical p-values, from {self.counts()}."

    def table(self) -> list[list[str]]:
        """Header and rows: the ideal test, then every test's combinations and its best single scale."""
        names = [s.name for s in self.signals]
        known, further = ([s.name for s in self.signals if s.known is k] for k in (True, False))
        groups = {"mean": known or further}
        if known and further:
            groups = {f"mean of the first {len(known)}": known, f"mean of the other {len(further)}": further}

        def line(title: str, by_signal: dict[str, Row]) -> list[str]:
            cells = [by_signal[n].cell(n) for n in names]
            for group in groups.values():
                bound = "≥ " if any(by_signal[n].is_bound(n) for n in group) else ""
                cells.append(f"{bound}{np.mean([by_signal[n].z[n] for n in group]):.2f}")
            return [title, *cells]

        ideal = {s.name: s.ideal for s in self.signals}
        means = [f"{np.mean([ideal[n] for n in group]):.2f}" for group in groups.values()]
        lines = [["test", *names, *groups], ["ideal", *(f"{ideal[n]:.2f}" for n in names), *means]]
        for test in dict.fromkeys(r.test for r in self.rows):
            for row in (r for r in self.rows if r.test == test and not r.statistic.startswith("width")):
                title = test if row.statistic == "single" else f"{test}: {row.statistic}"
                lines.append(line(title, dict.fromkeys(names, row)))
            if any(r.test == test and r.statistic.startswith("width") for r in self.rows):
                best = {n: self._best_row(test, n) for n in names}
                lines.append(line(f"{test}: best single scale for each signal", best))
        return lines


TESTS = {
    "one-dimensional": (
        Test(
            "the paper's",
            {"width": 0.3, "penalty": 1e-10, "centers": 3000, "newton_steps": 1, "scaling": None},
            share=0.1,
        ),
        Test("likelihood ratio, four widths", {"statistic": "likelihood-ratio"}),
        Test("score, twelve scales", {}),
    ),
    "dimuon": (
        Test("the paper's", {"width": 3.0, "penalty": 1e-6, "newton_steps": 1}, share=0.1),
        Test("score, twelve scales", {}),
    ),
}


def power_suite(
    name: str = "one-dimensional",
    *,
    toys: int = 10_000,
    experiments: int = 400,
    output: str | Path | None = None,
    library: Library | None = None,
    memory: str | None = None,
    executor: Executor | str = "local",
    device: str = "cpu",
    seed: int = 1,
    progress: Progress | None = None,
) -> SuiteResult:
    """Measure what several tests find of a suite of signals.

    Args:
        name: "one-dimensional" (the paper's three signals and five more) or "dimuon" (Z' and contact interaction).
        toys: null toys; of the paper's test, whose significances are lower, a tenth of that.
        experiments: toys for each signal.
        output: a folder for toys, suite.json, suite.md and suite.png; interrupted, the same call goes on from it.
        library: where events come from.
        executor: "local", "dask" or `lanner.Dask(...)`.
        device: "cpu", "torch" or "cuda".
        progress: called with the test's and the signal's name, what is done and what there is to do.
    """
    if name not in TESTS:
        raise InputError(f"suite={name!r} is not known; choose one of {', '.join(map(repr, TESTS))}")
    case = suite_case(name, seed=seed, library=library)
    rows: list[Row] = []
    for test in TESTS[name]:
        made: dict[str, ToyRun] = {}
        for signal in case.signals:
            told = stage(progress, f"{test.name}, {signal.name}")
            injection = Injection.plan(
                case.reference,
                case.events(signal),
                expected=case.expected,
                options=FitOptions(seed=seed, reference_size=case.reference_size, **test.options),
                alone=signal.alone,
                output=None if output is None else Path(output) / re.sub(r"[^a-z]+", "-", test.name),
                memory=memory,
                device=device,
            )
            with executor_of(executor).start(injection.recipe, memory=injection.budget) as workers:
                if not made:
                    made["null"] = injection.null(workers, max(300, round(test.share * toys)), told)
                made[signal.name] = injection.toys(
                    workers, signal.events, experiments, label=signal.name, progress=told
                )
        rows += _rows(test.name, workers.ladder, made, [s.name for s in case.signals])
    result = SuiteResult(name, case.signals, tuple(rows), experiments)
    if output is not None:
        _write(result, Path(output))
    return result


def _rows(test: str, ladder: Ladder, made: dict[str, ToyRun], names: Sequence[str]) -> list[Row]:
    null, plans = made["null"].statistics, ladder.plans
    if len(plans) == 1:
        return [_row(test, "single", null[0], {n: made[n].statistics[0] for n in names})]
    rows = []
    for kind in COMBINATIONS:
        how = Combiner.of(ladder, kind, made["null"], frozen_toys(null.shape[1]))
        signals = {n: how.statistic(made[n].statistics) for n in names}
        rows.append(_row(test, kind, how.null_statistics(made["null"]), signals))
    for k, plan in enumerate(plans):
        label = f"width {plan.width:.3g}, penalty {plan.penalty:.2g}"
        rows.append(_row(test, label, null[k], {n: made[n].statistics[k] for n in names}))
    return rows


def _row(test: str, statistic: str, null: Array, signals: dict[str, Array]) -> Row:
    ordered = np.sort(null)
    z = {
        name: stats.norm.isf((len(null) - np.searchsorted(ordered, t) + 1) / (len(null) + 1))
        for name, t in signals.items()
    }
    medians = {name: float(np.median(values)) for name, values in z.items()}
    # Of a median: 1.25 standard deviations over the root of the number.
    errors = {name: float(1.2533 * values.std(ddof=1) / len(values) ** 0.5) for name, values in z.items()}
    return Row(test, statistic, medians, errors, float(stats.norm.isf(1 / (len(null) + 1))), len(null))


def _write(result: SuiteResult, folder: Path) -> None:
    from lanner.comparison.suite_figure import draw_suite

    write_atomically(folder / "suite.json", json.dumps(result.to_dict(), indent=1))
    write_atomically(
        folder / "suite.md",
        f"Median Z of empirical p-values, from {result.counts()}.\n\n{markdown_table(result.table())}\n",
    )
    draw_suite(result, folder / "suite.png")
