"""The default test of `search` beside the paper's setting: both on the same toys of one of the paper's experiments.

The paper's setting is its one width, its penalty and M, and the likelihood ratio of one Newton step; the default is the
score statistic at several scales. Both take the same toys: N0 reference events, Poisson(N(0)) others as data and, at
each strength, Poisson(N(S)) of the signal. Both have M candidate centres, which no toy has among its data. Their null
toys are counted in the same way; the chi2 that the paper fits to those of its own setting is there too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from scipy import stats

from lanner._util.files import write_atomically
from lanner._util.progress import as_progress, begin
from lanner.comparison.compare import Signal, judge_signals, pool_of_signals, shared_settings
from lanner.comparison.runner import TestRunner
from lanner.comparison.table import Comparison, Found, Row
from lanner.comparison.tests.kernel import Kernel
from lanner.comparison.toy_pool import NullToys, SignalToys, ToyPool
from lanner.inference.combination import number_of_map_toys
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.significance import fit_chi2
from lanner.paper.datasets.library import Library
from lanner.paper.reproduce.cases import Case, case
from lanner.paper.reproduce.measure import Events, Setting, closest_dof, sample_of
from lanner.paper.reproduce.stages import Numbers, Stages
from lanner.paper.reproduce.summaries import quantiles
from lanner.typing import Array, PathLike, Progress

PAPER, DEFAULT = "paper", "default"
TOYS = {"paper": 2000, "smoke": 60}


@dataclass(frozen=True)
class BesideDefault:
    """What both tests find of every signal at every strength, and the page that says so."""

    case: Case
    comparison: Comparison  # a row for each test, by counting null toys
    chi2: Numbers  # of the paper's setting: the chi2 that is fitted to its null toys, and the median Z by it
    page: Path

    def __str__(self) -> str:
        from lanner.paper.reproduce.default_page import summary

        return summary(self.case, self.comparison, self.chi2)


def beside_default(
    name: str,
    *,
    scale: str = "smoke",
    output: PathLike | None = None,
    library: Library | None = None,
    toys: int | None = None,
    paper_toys: int | None = None,
    experiments: int | None = None,
    memory: str | None = None,
    seed: int = 1,
    progress: Callable[..., None] | None = None,
) -> BesideDefault:
    """Run both tests and write ``default.md``, ``default.json`` and a figure; interrupted, the same call goes on.

    `toys` are the null toys that are counted: the default test makes half as many more, with which it makes its scales
    comparable. The paper's setting, whose toys are fits, may have fewer; more of them later go on from those.
    """
    from lanner.paper.reproduce.default_page import write_default_page

    chosen = case(name, scale=scale)
    chosen = replace(chosen, toys=toys or TOYS[scale], experiments=experiments or chosen.experiments)
    folder = Path(output if output is not None else Path("reproduce") / f"{name}-{scale}")
    events = Events(chosen, replace(library or Library(name), cuts=dict(chosen.cuts)))
    described = {k: v for k, v in asdict(chosen).items() if k not in ("paper", "toys")}
    depends = {"case": described, "seed": seed, "source": events.library.described()}
    stages = Stages(folder / "stages", depends, as_progress(progress))
    both = _BothTests(events, folder / "toys-default", memory, seed)
    default = stages.run("beside-default", partial(both.default, made_for(chosen.toys)), toys=chosen.toys)
    paper = stages.run("beside-paper", partial(both.paper, paper_toys or chosen.toys), toys=paper_toys or chosen.toys)
    comparison = Comparison((row_of(paper["row"]), row_of(default["row"])), chosen.experiments)
    numbers = {"case": asdict(chosen), "comparison": comparison.to_dict(), "chi2": paper["chi2"]}
    write_atomically(folder / "default.json", json.dumps(numbers, indent=1))
    page = write_default_page(chosen, comparison, paper["chi2"], folder / "default.md", scale=scale)
    return BesideDefault(chosen, comparison, paper["chi2"], page)


@dataclass(frozen=True, eq=False)
class _BothTests:
    """The pool whose toys both tests take, prepared when one of them needs it, and what each of them finds."""

    events: Events
    folder: Path
    memory: str | None
    seed: int

    def default(self, toys: int, progress: Progress | None) -> Numbers:
        """The row of the default test."""
        return {"row": asdict(self._judged(Kernel(DEFAULT), toys, progress))}

    def paper(self, toys: int, progress: Progress | None) -> Numbers:
        """The row of the paper's setting, and its chi2."""
        chosen = self.events.case
        test = Kernel(PAPER, Setting(chosen.low_level, chosen.width).options(chosen, seed=self.seed))
        row = self._judged(test, toys, progress)
        pool, rows = self._pool
        kept = TestRunner(test, pool, self.folder / test.name)  # all of whose toys are there: nothing is made again
        null = kept.toys("null", toys, NullToys()).statistics[0]
        made = [
            kept.toys(f"{s.label}-{s.events:g}", chosen.experiments, SignalToys(s.events, s.alone, r)).statistics[0]
            for s, r in zip(self._signals, rows, strict=True)
        ]
        return {"row": asdict(row), "chi2": chi2_of(null, made, self.seed)}

    def _judged(self, test: Kernel, toys: int, progress: Progress | None) -> Row:
        begin(progress, "reading or generating events")
        pool, rows = self._pool
        begin(progress, f"{test.name}, preparing")
        runner = TestRunner(test, pool, self.folder / test.name, progress=progress)
        return judge_signals(runner, self._signals, rows, toys, self.events.case.experiments)

    @cached_property
    def _signals(self) -> list[Signal]:
        return _signals(self.events)

    @cached_property
    def _pool(self) -> tuple[ToyPool, list[range]]:
        chosen = self.events.case
        settings = shared_settings(
            seed=self.seed,
            reference_size=chosen.reference_size,
            centers=min(chosen.centers, chosen.reference_size // 2),
        )
        reference = sample_of(self.events.background(chosen.reference_size), chosen.low_level)
        return pool_of_signals(
            reference, self._signals, expected=chosen.expected, settings=settings, memory=self.memory
        )


def row_of(kept: Numbers) -> Row:
    """The row of a test from what `asdict` made of it, also by way of JSON."""
    found = tuple(Found(**f | {"z": tuple(f["z"]), "probability": tuple(f["probability"])}) for f in kept["found"])
    return Row(**kept | {"found": found})


def _signals(events: Events) -> list[Signal]:
    """Every signal at every strength; its events are there once."""
    found = []
    for signal in events.case.signals:
        sample = sample_of(events.signal(signal), events.case.low_level)
        found += [Signal(signal.name, sample, strength, signal.alone) for strength in signal.strengths]
    return found


def made_for(counted: int) -> int:
    """How many null toys a test of several scales makes, so that so many are left to be counted.

    >>> made_for(2000), made_for(20_000)
    (2999, 25000)
    """
    made = counted
    while made - number_of_map_toys(made) < counted:
        made += counted - (made - number_of_map_toys(made))
    return made


def chi2_of(null: Array, found: Sequence[Array], seed: int) -> Numbers:
    """The chi2 that the paper fits to null toys, and the median Z by it of other toys; the closest, where none fits."""
    fit = fit_chi2(null, rng=rng_of(seed, Stream.CALIBRATION))
    dof = closest_dof(null) if fit is None else fit.dof
    return {
        "dof": dof,
        "dof_error": None if fit is None else fit.dof_error,
        "goodness_of_fit": None if fit is None else fit.goodness_of_fit,
        "median_z": [quantiles(stats.norm.isf(stats.chi2.sf(t, dof)))[1] for t in found],
    }
