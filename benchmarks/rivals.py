"""How much do other two-sample tests find where their own papers compared them? Power, level and time of each.

    python benchmarks/rivals.py --kept kept.json --higgs HIGGS.csv   # hours; goes on where it was stopped
    python benchmarks/rivals.py --repetitions 20 --write page.md     # a quick look

`search` as a user would call it, shape only, with relabelled toys. The tests of hyppo (`pip install hyppo`) see the
same samples where it is installed. Published powers are quoted. Seeds are fixed beforehand: pair i has seed i.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# One thread a process: the repetitions are the parallel part.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np

import lanner
from command_line import parse, study_parser
from internals import markdown_table, three_digits, write_atomically
from kept import Kept
from rival_samples import AZIMUTHS, PERIOD, Azimuths, Case, Floats, Mixture, Uniforms, rng_of

LEVEL = 0.05
LANNER, MMD, ENERGY = "lanner", "hyppo MMD", "hyppo energy"
SLOW = (MMD, ENERGY)
_FEW = 100  # pairs of samples
JOIN_AZIMUTHS = False  # switch on to give `search` periodic= for the azimuths
DEEP, AUTO = "deep-kernel MMD", "AutoTST, 1 min"
CASES = (
    Case(
        "Perturbed uniform, 1-D",
        Uniforms(1),
        (1000, 2000),
        {"MMD-FUSE": (0.43, 0.79), "MMDAgg": (0.47, 0.88), DEEP: (0.21, 0.45), AUTO: (0.15, 0.23)},
    ),
    Case(
        "Perturbed uniform, 2-D",
        Uniforms(2),
        (1000, 2000),
        {"MMD-FUSE": (0.43, 0.80), "MMDAgg": (0.33, 0.76), DEEP: (0.11, 0.17), AUTO: (0.09, 0.12)},
    ),
    Case(
        "Four Gaussians, one of them wider",
        Mixture(),
        (1000, 2000),
        {"MMD-FUSE": (0.38, 0.76), "MMDAgg": (0.38, 0.78), DEEP: (0.20, 0.48), AUTO: (0.21, 0.58)},
    ),
)  # fmt: skip
# A test that splits its sample has half of these to train and half to test.
HIGGS_SIZES, HIGGS_PUBLISHED = (2000, 4000, 10_000), {"AutoML, 1 min": (0.196, 0.482, 0.942)}
HIGGS_TITLE = "HIGGS, azimuths of four jets"


@dataclass(frozen=True)
class Job:
    """One pair of samples for one test."""

    title: str
    n: int
    different: bool
    test: str
    seed: int
    toys: int | str
    higgs: str | None

    @property
    def kind(self) -> str:
        """What repetitions have in common."""
        return f"{self.title} | {self.n} | {'power' if self.different else 'level'} | {self.test}"


def run(job: Job) -> tuple[str, float, float]:
    """The p-value and the CPU seconds of one test."""
    # Not of the test: all see the same samples.
    rng = rng_of(job.title, job.n, int(job.different), job.seed)
    first, second = _problem(job.title, job.higgs).draw(job.n, rng, different=job.different)
    p, seconds = TESTS[job.test](first, second, job)
    return job.kind, p, seconds


@cache
def _problem(title: str, higgs: str | None) -> Any:
    if title == HIGGS_TITLE:
        assert higgs is not None
        return Azimuths.read(Path(higgs))
    return next(case.problem for case in CASES if case.title == title)


def _lanner(first: Floats, second: Floats, job: Job) -> tuple[float, float]:
    names = AZIMUTHS if job.title == HIGGS_TITLE else tuple(f"x{k}" for k in range(first.shape[1]))
    settings: dict[str, Any] = {}
    if JOIN_AZIMUTHS and job.title == HIGGS_TITLE:
        settings = {"periodic": [f"{name}={PERIOD:.6g}" for name in AZIMUTHS]}
    start = time.process_time()
    found = lanner.search(
        lanner.Sample.of(first, names=names), lanner.Sample.of(second, names=names), expected=None, null="permutation",
        toys=job.toys, seed=job.seed, memory="1 GB", **settings,
    )  # fmt: skip
    return found.p_value, time.process_time() - start


def _hyppo(name: str) -> Callable[[Floats, Floats, Job], tuple[float, float]]:
    def test(first: Floats, second: Floats, job: Job) -> tuple[float, float]:
        judge = _compiled(name)
        start = time.process_time()
        p = judge(first, second, job.seed)
        return p, time.process_time() - start

    return test


@cache
def _compiled(name: str) -> Callable[[Floats, Floats, int], float]:
    """A test of hyppo as it is by default, after a first call for which it is compiled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ksample = import_module("hyppo.ksample")

    def judge(first: Floats, second: Floats, seed: int) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(getattr(ksample, name)().test(first, second, random_state=seed)[1])

    rng = rng_of(name)
    judge(rng.normal(size=(50, 1)), rng.normal(size=(50, 1)), 0)
    return judge


TESTS: dict[str, Callable[[Floats, Floats, Job], tuple[float, float]]] = {
    LANNER: _lanner,
    MMD: _hyppo("MMD"),
    ENERGY: _hyppo("Energy"),
}


def jobs(
    cases: Sequence[Case],
    tests: Sequence[str],
    repetitions: dict[str, int],
    toys: int | str,
    higgs: Path | None,
    level_repetitions: int,
) -> Iterator[Job]:
    """All pairs of samples: the cheap ones of all problems first."""
    for test in tests:
        for different in (True, False):
            for case in cases:
                for n in case.sizes:
                    for seed in range(repetitions[test] if different else min(level_repetitions, repetitions[test])):
                        yield Job(case.title, n, different, test, seed, toys, None if higgs is None else str(higgs))


@dataclass(frozen=True)
class Share:
    """How many of some p-values are at or below the level, and the CPU seconds of each."""

    found: int
    number: int
    seconds: float

    @classmethod
    def of(cls, results: Sequence[Sequence[float]]) -> Share:
        """Count."""
        p, seconds = np.array(results, dtype=float).reshape(-1, 2).T
        return cls(int(np.count_nonzero(p <= LEVEL)), len(p), float(seconds.mean()) if len(p) else float("nan"))

    @property
    def value(self) -> float:
        return self.found / self.number

    @property
    def error(self) -> float:
        """Binomial, with one success and one failure more, or it would be 0 where all are found."""
        q = (self.found + 1) / (self.number + 2)
        return float((q * (1 - q) / (self.number + 2)) ** 0.5)

    def __str__(self) -> str:
        return "" if not self.number else f"{self.value:.2f} ± {self.error:.2f}"


def page(
    cases: Sequence[Case],
    found: dict[str, list[list[float]]],
    tests: Sequence[str],
    toys: int | str,
    notes: Sequence[str],
) -> str:
    """The page for the docs."""

    def share(case: Case, n: int, what: str, test: str) -> Share:
        return Share.of(found.get(f"{case.title} | {n} | {what} | {test}", []))

    power, level = [], []
    for case in cases:
        header = [case.title, *(f"{n} + {n}" for n in case.sizes)]
        rows = [[_bold(t), *(_cell(share(case, n, "power", t)) for n in case.sizes)] for t in TESTS if t in tests]
        rows += [[t, *("not installed" for _ in case.sizes)] for t in TESTS if t not in tests]
        for name, values in case.published.items():
            rows.append([f"{name}, published", *(f"{v:.2f}" for v in values)])
        power.append(markdown_table([header, *rows]))
        for n in case.sizes:
            row = [share(case, n, "level", t) for t in tests]
            times = [share(case, n, "power", t).seconds for t in tests]
            level.append([f"{case.title}, {n} + {n}", *map(_cell, row), *map(_time, times)])
    header = ["samples", *(f"{t}: level" for t in tests), *(f"{t}: CPU seconds" for t in tests)]
    repeated = ", ".join(
        f"{most} of {t}"
        for t in tests
        if (most := max((len(v) for k, v in found.items() if k.endswith(f"| {t}")), default=0))
    )
    joined = ", with `periodic=` for the azimuths and" if JOIN_AZIMUTHS else " with"
    smallest = min((len(results) for kind, results in found.items() if kind.endswith(f"| {LANNER}")), default=0)
    few = f" A quick look: {_FEW} pairs or more are needed to conclude anything." if smallest < _FEW else ""
    return "\n\n".join(
        [
            "# Beside published tests",
            f"Made by `python benchmarks/rivals.py` with Lanner {lanner.__version__}. Power at a level of "
            f"{_percent(LEVEL)} on the problems of other papers (arXiv:2110.15073, 2306.08777, 2206.08843; definitions "
            "in `benchmarks/rival_samples.py`), with as many events in one sample as in the other. Lanner is "
            f'`lanner.search(first, second, expected=None, null="permutation", toys={toys})`{joined} nothing else '
            "chosen for a problem. The tests of hyppo are as they are by default, with p-values by a chi2 "
            "approximation, on the same samples. Published powers are quoted: their samples are others of the same "
            "kind, and their errors, which are not known here, are not counted below.",
            f"Pairs of samples: up to {repeated}; in brackets, how many. Errors are binomial.{few}",
            "## Power",
            *power,
            "## Where Lanner finds more, and where less",
            "\n".join(f"- {line}" for line in _comparison(cases, share)),
            "## Level and time",
            f"Samples without a difference, of which {_percent(LEVEL)} should be below {LEVEL:g}, and the CPU time "
            "of one test on one core.",
            markdown_table([header, *level]),
            *notes,
        ]
    ) + "\n"  # fmt: skip


def _comparison(cases: Sequence[Case], share: Callable[[Case, int, str, str], Share]) -> Iterator[str]:
    """Lanner beside the best of the others, in a sentence for each size."""
    for case in cases:
        for k, n in enumerate(case.sizes):
            ours = share(case, n, "power", LANNER)
            if not ours.number:
                continue
            others = {f"{name} (published)": (values[k], 0.0) for name, values in case.published.items()}
            for test in SLOW:
                theirs = share(case, n, "power", test)
                if theirs.number:
                    others[test] = (theirs.value, theirs.error)
            best = max(others, key=lambda name: others[name][0])
            value, error = others[best]
            apart = (ours.value - value) / float(np.hypot(ours.error, error))
            word = "more than" if apart > 2 else "less than" if apart < -2 else "not clearly more or less than"
            how_far = f"{apart:+.1f} standard deviations"
            if isinstance(case.problem, Azimuths) and case.problem.is_small_for(n):
                how_far = "of these rows: repetitions share most of them"
            yield (
                f"{case.title}, {n} + {n}: Lanner finds {_percent(ours.value)}, {word} the best of the others, {best}, "
                f"with {_percent(value)} ({how_far})."
            )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _bold(test: str) -> str:
    return f"**{test}**" if test == LANNER else f"{test}, measured"


def _cell(share: Share) -> str:
    return f"{share} ({share.number})" if share.number else "not measured"


def _time(seconds: float) -> str:
    return three_digits(seconds) or "not measured"


def main() -> None:
    """Run the study."""
    parser = study_parser(__doc__, writes="docs/rivals.md", flag="--write", keeps=True)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--level-repetitions", type=int, default=400, help="Of samples without a difference.")
    parser.add_argument("--slow-repetitions", type=int, default=100, help="Of the tests of hyppo.")
    parser.add_argument("--toys", default="auto", help="A number, or auto.")
    parser.add_argument("--higgs", type=Path, help="A CSV file with the UCI's columns and a label.")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parse(parser)
    cases, notes = list(CASES), []
    if arguments.smoke:
        arguments.repetitions = arguments.slow_repetitions = 1
        cases = [replace(case, sizes=(60,), published={k: v[:1] for k, v in case.published.items()}) for case in cases]
    if arguments.higgs is None:
        notes.append("The azimuths of HIGGS were left out, because no file was given (`--higgs`).")
    else:
        azimuths = Azimuths.read(arguments.higgs)
        wanted = (100,) if arguments.smoke else HIGGS_SIZES
        sizes = [n for n in wanted if azimuths.has(n)]
        published: dict[str, Sequence[float]] = {k: v[: len(sizes)] for k, v in HIGGS_PUBLISHED.items()}
        cases.append(Case(HIGGS_TITLE, azimuths, sizes, published))
        notes.append(
            f"HIGGS: samples are drawn from {len(azimuths.background)} background and {len(azimuths.signal)} signal "
            "rows of the UCI file. Where those are not many times the samples, repetitions share rows: the errors are "
            "then larger than binomial, and what is found is the difference of these rows, chance included. The "
            "published test splits its sample: half of these events train it, half test "
            "it. Samples without a difference are drawn from both classes mixed."
        )
        notes += [f"There are too few rows for {n} + {n}." for n in wanted if n not in sizes]
    tests = [t for t in TESTS if t == LANNER or find_spec("hyppo") is not None]
    if len(tests) == 1:
        notes.append("hyppo is not installed (`pip install hyppo`), so its tests were not run.")
    kept = Kept.at(arguments.kept, toys=arguments.toys, azimuths_joined=JOIN_AZIMUTHS)
    found: dict[str, list[list[float]]] = kept.found
    repetitions = {t: arguments.slow_repetitions if t in SLOW else arguments.repetitions for t in TESTS}
    # Repetitions are done in their order, so that the number of those kept says which are left.
    left = [
        job
        for job in jobs(cases, tests, repetitions, arguments.toys, arguments.higgs, arguments.level_repetitions)
        if job.seed >= len(found.get(job.kind, ()))
    ]
    with ProcessPoolExecutor(arguments.processes) as pool:
        last, saved = "", time.monotonic()
        for kind, p, seconds in pool.map(run, left):
            if kind != last and last:
                print(f"{last}: {Share.of(found[last])}", flush=True)
            last = kind
            found.setdefault(kind, []).append([p, seconds])
            if time.monotonic() - saved > 5:
                kept.save()
                saved = time.monotonic()
    kept.save()
    text = page(cases, found, tests, arguments.toys, notes)
    write_atomically(arguments.output, text)
    print(text)


if __name__ == "__main__":
    main()
