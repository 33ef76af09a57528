"""Are the p-values of the default search uniform, whatever the columns are like?

    python benchmarks/null_study.py --kept kept.json       # an hour on two cores; goes on where it was stopped
    python benchmarks/null_study.py --only "1-D" --data-sets 100

Every null data set has its own new reference, 100 times as large or as large as itself (then toys relabel the two);
and once more 20 times as large, the fewest for which toys come from the reference alone. The kinds of columns are
those that a test could stumble over: placeholders, flags, angles, heavy tails. Seeds are fixed beforehand: data set i
has seed i. A p-value of toys stands for a step; it is spread evenly over it. Writes a table to docs/nulls.md.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

# One thread a process: the data sets are the parallel part.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

import lanner
from command_line import parse, study_parser
from internals import markdown_table
from kept import Kept
from uniform import LEVELS, Uniform

EXPECTED = 100
TOYS = "auto"  # as many as it takes to know p, as the default search has it
MOST_AT_20 = (0.07, 0.02)  # shares below each level allowed where the reference is only 20 times as large
Maker = Callable[[int, np.random.Generator], NDArray[np.float64]]


def normal(dimensions: int) -> Maker:
    """Independent normal columns, a third of them exponential."""

    def make(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        x = rng.standard_normal((n, dimensions))
        x[:, ::3] = rng.exponential(size=x[:, ::3].shape)
        return x

    return make


def placeholders(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Two columns, one of which is -999 in a tenth of the rows."""
    x = rng.standard_normal((n, 2))
    x[rng.random(n) < 0.1, 1] = -999.0
    return x


def flags(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A continuous column, a charge, a count, and a flag that one event in a thousand has."""
    return np.column_stack(
        [rng.standard_normal(n), rng.choice([-1.0, 1.0], n), rng.poisson(2.0, n), rng.random(n) < 1e-3]
    )


def angles(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A momentum and an azimuth."""
    return np.column_stack([rng.exponential(size=n), rng.uniform(-np.pi, np.pi, n)])


def heavy_tails(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A Cauchy column and one with a power law."""
    return np.column_stack([rng.standard_cauchy(n), rng.pareto(1.5, n)])


def negative_share(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance of a negative weight of generated events: 19 % on average, and most of them around x = 1."""
    return np.asarray(0.1 + 0.2 * np.exp(-2 * (x - 1) ** 2))


def by_weights(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Events of the law for which the generated ones stand with their weights: a momentum and another column."""
    x = np.column_stack([rng.exponential(size=3 * n + 30), rng.standard_normal(3 * n + 30)])
    return x[rng.random(len(x)) < 1 - 2 * negative_share(x[:, 0])][:n]


def generated(n: int, rng: np.random.Generator) -> lanner.Sample:
    """Generated events, with weights of either sign, that are worth so many without."""
    x = np.column_stack([rng.exponential(size=4 * n), rng.standard_normal(4 * n)])
    w = np.where(rng.random(len(x)) < negative_share(x[:, 0]), -1.0, 1.0)
    worth = np.cumsum(w) ** 2 / np.arange(1, len(w) + 1)
    last = 1 + int(np.argmax(worth >= n))
    return lanner.Sample.of(x[:last], weights=w[:last])


@dataclass(frozen=True)
class Case:
    """Events, how many of them the reference has for each one expected, and settings of `search`."""

    make: Maker
    ratio: int = 100
    data_sets: int = 500
    settings: dict[str, Any] = field(default_factory=dict)
    make_reference: Callable[[int, np.random.Generator], Any] | None = None  # where it is made in another way


KINDS: dict[str, tuple[Maker, int, dict[str, Any]]] = {
    "1-D": (normal(1), 1000, {}),
    "5-D": (normal(5), 1000, {}),
    "10-D": (normal(10), 500, {}),
    "placeholders": (placeholders, 500, {}),
    "flags": (flags, 500, {}),
    "angles": (angles, 500, {"periodic": ["x1"]}),
    "heavy tails": (heavy_tails, 500, {}),
}
CASES = {
    f"{kind}, {how}": Case(make, ratio, number, settings)
    for kind, (make, number, settings) in KINDS.items()
    for how, ratio in (("100 times", 100), ("relabelled", 1), ("20 times", 20))
}
CASES |= {
    f"weights of either sign, {ratio} times": Case(by_weights, ratio, make_reference=generated) for ratio in (100, 20)
}


def one(job: tuple[str, int, int | str]) -> float:
    """The p-value of one null data set, spread over its step."""
    name, seed, toys = job
    case = CASES[name]
    rng = np.random.default_rng([list(CASES).index(name), seed])
    data = case.make(int(rng.poisson(EXPECTED)), rng)
    reference = (case.make_reference or case.make)(case.ratio * EXPECTED, rng)
    expected = EXPECTED if case.ratio > 1 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lanner.errors.LannerWarning)
        found = lanner.search(reference, data, expected=expected, toys=toys, seed=seed, memory="1 GB", **case.settings)
    p = found.empirical
    return float(rng.uniform(p.exceedances / (p.toys + 1), p.p_value))


def passed(name: str, found: Uniform) -> bool:
    """Whether the p-values will do."""
    if CASES[name].ratio != 20:
        return found.is_chance
    return all(share.value < most for share, most in zip(found.shares, MOST_AT_20, strict=True))


def main() -> None:
    """Run the study and write its table."""
    parser = study_parser(__doc__, writes="docs/nulls.md", flag="--write", keeps=True)
    parser.add_argument("--data-sets", type=int, help="The same number for each case.")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--only", action="append", choices=list(CASES), help="Some cases only; several times.")
    arguments = parse(parser)
    kept = Kept.at(arguments.kept)
    done: dict[str, list[float]] = kept.found
    lines = [["case", "data sets", "KS p", *(f"p ≤ {level:g} (%)" for level in LEVELS), "passed"]]
    results = {}
    with ProcessPoolExecutor(arguments.processes) as pool:
        for name in arguments.only or list(CASES)[: 2 if arguments.smoke else None]:
            number = 2 if arguments.smoke else arguments.data_sets or CASES[name].data_sets
            p = done.get(name, [])
            for first in range(len(p), number, 100):
                jobs = [(name, i, 60 if arguments.smoke else TOYS) for i in range(first, min(first + 100, number))]
                p = p + list(pool.map(one, jobs, chunksize=5))
                done[name] = p
                kept.save()
            found = Uniform.of(p[:number])
            results[name] = passed(name, found)
            ending = "yes" if results[name] else "NO"
            lines.append([name, str(number), f"{found.ks_p:.2g}", *map(str, found.shares), ending])
            print(*lines[-1], sep=" | ", flush=True)
    about = (
        "# Are the p-values uniform?\n\nMade by `python benchmarks/null_study.py`: the default search on data that "
        f"follow the reference, {EXPECTED} expected, each data set with its own new reference: 100 times as large, as "
        "large (relabelled), or 20 times as large. In brackets the 99.99 % interval of what chance allows. At 20 times "
        "the reference's own fluctuation shows; what is asked there is that no more than 7 % lie below 0.05 and 2 % "
        "below 0.01.\n\n"
    )
    arguments.output.write_text(about + markdown_table(lines) + "\n")
    sys.exit(0 if arguments.smoke or all(results.values()) else 1)


if __name__ == "__main__":
    main()
