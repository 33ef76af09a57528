"""Are p-values valid where the reference has uncertainties, and what do the uncertainties cost?

    python benchmarks/uncertainty_study.py --kept kept.json      # hours on two cores; goes on where it was stopped
    python benchmarks/uncertainty_study.py --only "5 %, (0, 0)" --data-sets 100

An exponential of mean 1, 2000 events expected, references of 200 000; its scale and its normalisation are uncertain by
5 or 15 % each. Every null data set is made at true values nu* of the two, has an auxiliary measurement of its own,
a ~ Normal(nu*, 1), and is judged by toys of its own at the nu^ that fits it, as `search` does it. Beside stands what
the same data give where nobody tells of the uncertainties. 25 data sets share a reference. Seeds are fixed beforehand.
A p-value of toys stands for a step; it is spread evenly over it. Writes docs/uncertainty-study.md.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

# One thread a process: the data sets are the parallel part.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import stats

import lanner
from command_line import parse, study_parser
from internals import markdown_table
from kept import Kept
from uncertain_toys import EXPECTED, UncertainReference, exact, null_data
from uniform import LEVELS, Uniform

TOGETHER = 25  # data sets that share a reference
REFERENCE = 200_000
PLAIN_TOYS = 900  # where nobody tells of the uncertainties; they serve all data sets of a reference


@dataclass(frozen=True)
class Case:
    """The size of both uncertainties, where the truth is, and how many data sets are judged."""

    size: float
    truth: tuple[float, float]
    data_sets: int
    toys: int = 300  # of each data set; of several scales, a third of them make these comparable
    settings: dict[str, Any] = field(default_factory=dict)


FAR = ((0.0, 0.0), (2.0, 2.0), (-2.0, -2.0), (1.0, -1.0))
NEAR = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
CASES = {
    f"{100 * size:g} %, ({truth[0]:g}, {truth[1]:g})": Case(size, truth, number)
    for truths, number in ((FAR, 1000), (NEAR, 500))
    for truth in truths
    for size in (0.05, 0.15)
}
# As the paper has it: one width, the likelihood ratio.
ONE_WIDTH: dict[str, Any] = {"width": 0.6, "penalty": 1e-7, "centers": 1000}
CASES |= {f"likelihood ratio, 15 %, ({nu:g}, {nu:g})": Case(0.15, (nu, nu), 200, 99, ONE_WIDTH) for nu in (0.0, 2.0)}


def block(job: tuple[str, int, int, bool]) -> list[list[float]]:
    """Data sets that share a reference: p, p where nobody tells, the fitted nuisances and Delta of each."""
    name, first, last, smoke = job
    case, case_number = CASES[name], list(CASES).index(name)
    rng = np.random.default_rng([22, case_number, first])
    reference = rng.exponential(size=(REFERENCE // 10 if smoke else REFERENCE, 1))
    uncertain = UncertainReference.of(reference, exact(case.size), seed=first, **case.settings)
    toys, plain_toys = (60, 60) if smoke else (case.toys, 99 if case.settings else PLAIN_TOYS)
    found = []
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", lanner.errors.LannerWarning)
        plain = lanner.calibrate(
            reference, expected=EXPECTED, output=folder, toys=plain_toys, seed=first, **case.settings
        )
        for _ in range(first, last):
            data, auxiliary = null_data(case.size, case.truth, rng)
            own = uncertain.judged(data, auxiliary, toys)
            without = lanner.apply(plain, data).empirical
            p = (without.exceedances + rng.random()) / (without.toys + 1)
            found.append([own.p(rng), p, *own.profile.nu, own.profile.delta])
    return found


def main() -> None:
    """Run the study and write its table."""
    parser = study_parser(__doc__, writes="docs/uncertainty-study.md", flag="--write", keeps=True)
    parser.add_argument("--data-sets", type=int, help="The same number for each case.")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--only", action="append", choices=list(CASES), help="Some cases only; several times.")
    arguments = parse(parser)
    kept = Kept.at(arguments.kept)
    done: dict[str, list[list[float]]] = kept.found
    lines = [
        [
            "uncertainties, true nu",
            "data sets",
            "KS p",
            *(f"p ≤ {level:g} (%)" for level in LEVELS),
            *(f"p ≤ {level:g} untold (%)" for level in LEVELS),
            "Delta, KS p",
            "passed",
        ]
    ]
    results = {}
    with ProcessPoolExecutor(arguments.processes) as pool:
        for name in arguments.only or list(CASES)[: 1 if arguments.smoke else None]:
            number = 2 if arguments.smoke else arguments.data_sets or CASES[name].data_sets
            rows = done.get(name, [])
            edges = list(range(len(rows), number, TOGETHER))
            jobs = [(name, first, min(first + TOGETHER, number), arguments.smoke) for first in edges]
            for more in pool.map(block, jobs):
                rows = done[name] = rows + more
                kept.save()
            p, plain, _, _, delta = np.array(rows[:number]).T
            found, untold = Uniform.of(p), [f"{100 * np.mean(plain <= level):.1f}" for level in LEVELS]
            # At the central values Delta has a law too.
            law = None if any(CASES[name].truth) else float(stats.kstest(delta, stats.chi2(2).cdf).pvalue)
            results[name] = found.is_chance and (law is None or law > 1e-4)
            ending = ["" if law is None else f"{law:.2g}", "yes" if results[name] else "NO"]
            lines.append([name, str(number), f"{found.ks_p:.2g}", *map(str, found.shares), *untold, *ending])
            print(*lines[-1], sep=" | ", flush=True)
    about = (
        "# Are p-values valid where the reference has uncertainties?\n\n"
        "Made by `python benchmarks/uncertainty_study.py`: "
        f"an exponential of mean 1, {EXPECTED:g} events expected, {REFERENCE} reference events; its scale and its "
        "normalisation are uncertain by 5 or 15 % each, and the truth lies at nu. Every data set has its own auxiliary "
        "measurement and is judged by toys of its own at the nuisances that fit it: 300, or 99 of the likelihood ratio "
        'at one width. In brackets the 99.99 % interval of what chance allows. "Untold": the same data where the '
        "reference is taken as exact. Delta, twice "
        "the gain of log L by the nuisances, follows a chi2 of two degrees of freedom where the truth is 0.\n\n"
    )
    arguments.output.write_text(about + markdown_table(lines) + "\n")
    sys.exit(0 if arguments.smoke or all(results.values()) else 1)


if __name__ == "__main__":
    main()
