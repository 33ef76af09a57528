"""Are the global p-value of several regions and that of each region uniform, and what does looking at several cost?

    python benchmarks/regions_study.py --kept kept.json       # an hour on one core; goes on where it was stopped
    python benchmarks/regions_study.py --only "a number"

Every null data set has its own new reference, 100 times as large as what is expected, or as large (then toys relabel
the two). Three regions share events: each of them has some with another. Signals lie in one region alone, or where two
overlap; their Z is that of the global p-value, of each region, and of an ordinary search of all events. Seeds are fixed
beforehand: data set i has seed i. A p-value of toys stands for a step; it is spread evenly over it. Writes a page to
docs/regions-study.md.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

# One thread a process: the data sets are the parallel part.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, stats

import lanner
from command_line import parse, study_parser
from internals import markdown_table
from kept import Kept
from null_study import by_weights, negative_share
from uniform import LEVELS, Uniform

EXPECTED = 100
TOYS, SIGNAL_TOYS = 450, 2400
SIGNAL_SETS = 40
REGIONS = {"central": "abs(x1) < 1", "high": "x0 > 1", "forward": "abs(x1) > 0.6"}
GLOBAL = "all of them"  # the name of the global p-value among those of the regions
Events = NDArray[np.float64]


def background(n: int, rng: np.random.Generator) -> Events:
    """A momentum and a direction."""
    return np.column_stack([rng.exponential(size=n), rng.standard_normal(n)])


@dataclass(frozen=True)
class Null:
    """Data, a reference of so many times the events, and how many are expected."""

    expected: float | str | None
    ratio: int = 100
    data_sets: int = 300
    data: Callable[[int, np.random.Generator], Events] = background
    reference: Callable[[int, np.random.Generator], Any] = background


def weighted(n: int, rng: np.random.Generator) -> lanner.Sample:
    """A Poisson number of generated events, whose weights of either sign add up to what is expected, on average."""
    mean = 1 - 2 * float(integrate.quad(lambda x: np.exp(-x) * negative_share(x), 0, 30)[0])
    x = background(int(rng.poisson(n / mean**2)), rng)
    sign = np.where(rng.random(len(x)) < negative_share(x[:, 0]), -1.0, 1.0)
    return lanner.Sample.of(x, weights=sign * EXPECTED * mean / n)


NULLS = {
    "a number expected": Null(float(EXPECTED), data_sets=500),
    "the total fixed": Null(None),
    "weights of either sign, their sum": Null("weights", data=by_weights, reference=weighted),
    "relabelled": Null(None, ratio=1),
}


def high_alone(n: int, rng: np.random.Generator) -> Events:
    """A bump at a high momentum, in every direction."""
    return np.column_stack([rng.normal(3.2, 0.2, n), rng.standard_normal(n)])


def shared(n: int, rng: np.random.Generator) -> Events:
    """A bump where two regions overlap."""
    return np.column_stack([rng.normal(1.8, 0.2, n), rng.normal(0.3, 0.2, n)])


def broad(n: int, rng: np.random.Generator) -> Events:
    """The law of the background, but for more central directions."""
    return np.column_stack([rng.exponential(size=n), rng.normal(0.0, 0.4, n)])


SIGNALS = {
    "8 events, high momentum": (high_alone, 8),
    "14 events, central and high": (shared, 14),
    "30 events, central, broad": (broad, 30),
}


def null(job: tuple[str, int, int]) -> list[float]:
    """The p-values of one null data set, spread over their steps: the global one, then each region's."""
    name, seed, toys = job
    case = NULLS[name]
    rng = np.random.default_rng([list(NULLS).index(name), seed])
    data = case.data(int(rng.poisson(EXPECTED)), rng)
    reference = case.reference(case.ratio * EXPECTED, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lanner.errors.LannerWarning)
        found = lanner.search_regions(
            reference, data, regions=REGIONS, expected=case.expected, toys=toys, seed=seed, memory="1 GB"
        )
    every = [found.empirical, *(one.result.empirical for one in found.regions.values())]
    return [float(rng.uniform(p.exceedances / (p.toys + 1), p.p_value)) for p in every]


def signal(job: tuple[str, int, int]) -> list[float]:
    """Z of a data set with a signal: the global one, each region's, and that of an ordinary search."""
    name, seed, toys = job
    make, mean = SIGNALS[name]
    rng = np.random.default_rng([100 + list(SIGNALS).index(name), seed])
    data = np.vstack([background(int(rng.poisson(EXPECTED)), rng), make(int(rng.poisson(mean)), rng)])
    reference = background(100 * EXPECTED, rng)
    given: dict[str, Any] = {"expected": EXPECTED, "toys": toys, "seed": seed, "memory": "1 GB"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lanner.errors.LannerWarning)
        found = lanner.search_regions(reference, data, regions=REGIONS, **given)
        ordinary = lanner.search(reference, data, **given)
    return [found.z_score, *(one.z_score for one in found.regions.values()), ordinary.z_score]


def main() -> None:
    """Run the study and write its page."""
    parser = study_parser(__doc__, writes="docs/regions-study.md", flag="--write", keeps=True)
    parser.add_argument("--data-sets", type=int, help="The same number for each case without a signal.")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--only", action="append", choices=[*NULLS, *SIGNALS], help="Some cases; several times.")
    arguments = parse(parser)
    kept, smoke = Kept.at(arguments.kept), arguments.smoke
    wanted = arguments.only or ([*list(NULLS)[:1], *list(SIGNALS)[:1]] if smoke else [*NULLS, *SIGNALS])
    nulls = [["case", "p-value of", "data sets", "KS p", *(f"p ≤ {level:g} (%)" for level in LEVELS), "passed"]]
    powers = [["signal", "global Z", *(f"{region} alone" for region in REGIONS), "all events"]]
    results = []
    with ProcessPoolExecutor(arguments.processes) as pool:

        def done(one: Callable[[tuple[str, int, int]], list[float]], name: str, number: int, toys: int) -> Events:
            found = kept.found.get(name, [])
            for first in range(len(found), number, 20):
                jobs = [(name, i, toys) for i in range(first, min(first + 20, number))]
                found = found + list(pool.map(one, jobs))
                kept.found[name] = found
                kept.save()
            return np.array(found[:number])

        for name in (name for name in NULLS if name in wanted):
            p = done(null, name, 2 if smoke else arguments.data_sets or NULLS[name].data_sets, 60 if smoke else TOYS)
            for k, of in enumerate((GLOBAL, *REGIONS)):
                found = Uniform.of(p[:, k])
                results.append(found.is_chance)
                ending = "yes" if found.is_chance else "NO"
                nulls.append([name, of, str(len(p)), f"{found.ks_p:.2g}", *map(str, found.shares), ending])
                print(*nulls[-1], sep=" | ", flush=True)
        for name in (name for name in SIGNALS if name in wanted):
            z = done(signal, name, 2 if smoke else SIGNAL_SETS, 60 if smoke else SIGNAL_TOYS)
            powers.append([name, *(f"{x:.2f}" for x in np.median(z, axis=0))])
            print(*powers[-1], sep=" | ", flush=True)
    arguments.output.write_text(page(nulls, powers) + "\n")
    sys.exit(0 if smoke or all(results) else 1)


def page(nulls: list[list[str]], powers: list[list[str]]) -> str:
    """What is written to the documentation: of the cases that were asked for."""
    regions = ", ".join(f"{name} (`{formula}`)" for name, formula in REGIONS.items())
    price = float(stats.norm.isf(len(REGIONS) * stats.norm.sf(3.0)))
    parts = ["# Are the p-values of regions uniform?"]
    if len(nulls) > 1:
        parts += [
            "Made by `python benchmarks/regions_study.py`: data that follow the reference, "
            f"{EXPECTED} expected, each data set with its own new reference 100 times as large, or as large "
            f"(relabelled). The regions share events: {regions}. {TOYS} toys, a third of which make scales and regions "
            "comparable. In brackets the 99.99 % interval of what chance allows.",
            markdown_table(nulls),
        ]
    if len(powers) > 1:
        parts += [
            "## What looking at several regions costs",
            f"{EXPECTED} expected, a reference 100 times as large, {SIGNAL_TOYS} toys, {SIGNAL_SETS} data sets of each "
            "signal; the median Z. Three regions that share nothing would turn 3 sigma of one of them into "
            f"{price:.2f}.",
            markdown_table(powers),
        ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    main()
