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
from pathlib import Path

from scipy import stats

from lanner._util.files import write_atomically
from lanner._util.progress import as_progress, begin
from lanner.comparison.compare import Signal, judge_signals, pool_of_signals, shared_settings
from lanner.comparison.runner import TestRunner
from lanner.comparison.table import Comparison
from lanner.comparison.tests.kernel import Kernel
from lanner.comparison.toy_pool import NullToys, SignalToys
from lanner.inference.combination import number_of_map_toys
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.significance import fit_chi2
from lanner.paper.datasets.library import Library
from lanner.paper.reproduce.cases import Case, case
from lanner.paper.reproduce.measure import Events, Setting, closest_dof, sample_of
from lanner.paper.reproduce.stages import Numbers
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
    comparison, chi2 = _measured(
        events, paper_toys or chosen.toys, folder / "toys-default", memory, seed, as_progress(progress)
    )
    numbers = {"case": asdict(chosen), "comparison": comparison.to_dict(), "chi2": chi2}
    write_atomically(folder / "default.json", json.dumps(numbers, indent=1))
    page = write_default_page(chosen, comparison, chi2, folder / "default.md", scale=scale)
    return BesideDefault(chosen, comparison, chi2, page)


def _measured(
    events: Events, paper_toys: int, folder: Path, memory: str | None, seed: int, progress: Progress | None
) -> tuple[Comparison, Numbers]:
    """What each test finds, and the chi2 of the paper's."""
    begin(progress, "reading or generating events")
    chosen, signals = events.case, _signals(events)
    reference = sample_of(events.background(chosen.reference_size), chosen.low_level)
    paper = Kernel(PAPER, Setting(chosen.low_level, chosen.width).options(chosen, seed=seed))
    settings = shared_settings(
        seed=seed, reference_size=chosen.reference_size, centers=min(chosen.centers, chosen.reference_size // 2)
    )
    begin(progress, "planning")
    pool, rows = pool_of_signals(reference, signals, expected=chosen.expected, settings=settings, memory=memory)
    found = []
    for test, toys in ((Kernel(DEFAULT), made_for(chosen.toys)), (paper, paper_toys)):
        begin(progress, f"{test.name}, preparing")
        runner = TestRunner(test, pool, folder / test.name, progress=progress)
        found.append(judge_signals(runner, signals, rows, toys, chosen.experiments))
    kept = TestRunner(paper, pool, folder / paper.name)  # all of whose toys are there: nothing is prepared again
    null = kept.toys("null", paper_toys, NullToys()).statistics[0]
    made = [
        kept.toys(f"{s.label}-{s.events:g}", chosen.experiments, SignalToys(s.events, s.alone, r)).statistics[0]
        for s, r in zip(signals, rows, strict=True)
    ]
    return Comparison(tuple(reversed(found)), chosen.experiments), chi2_of(null, made, seed)


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
