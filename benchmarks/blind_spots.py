"""Does the default search see what it claims to see, and the same with every seed?

    python benchmarks/blind_spots.py --kept kept.json       # an hour; goes on where it was stopped
    python benchmarks/blind_spots.py --only far --repetitions 3

far: 30 and 10 data events at 15 to 1e6 standard deviations beside 400 of a normal law, in 1-D and 4-D, by the score
and by the likelihood ratio at several widths; the p-value must be the smallest that toys can give, or below 0.01.
placeholders: a shift of 0.3 with -999 or -9999 in 5 or 30 % of the rows, or one wild row; shares of placeholders that
agree or differ; a column that is constant in the reference alone. Power at p < 0.05.
seeds: the same data with 20 seeds, each of which shuffles the rows of both samples too: the spread of Z.
Writes docs/blind-spots.md.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
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

Array = NDArray[np.float64]
Pair = tuple[Array, Array]
EXPECTED = 400
SEED_TOYS = 20_000
STATISTICS = ("score", "likelihood-ratio")


def far(dimensions: int, number: int, distance: float, rng: np.random.Generator) -> Pair:
    """A normal law, and some data events far out in the first column."""
    reference = rng.standard_normal((20 * EXPECTED, dimensions))
    data = rng.standard_normal((int(rng.poisson(EXPECTED)) + number, dimensions))
    data[:number, 0] += distance
    return reference, data


def shifted(rng: np.random.Generator, shift: float = 0.3) -> Pair:
    """Two normal columns, the first of which is shifted in the data."""
    reference = rng.standard_normal((20 * EXPECTED, 2))
    data = rng.standard_normal((int(rng.poisson(EXPECTED)), 2))
    data[:, 0] += shift
    return reference, data


def with_placeholders(pair: Pair, value: float, shares: tuple[float, float], rng: np.random.Generator) -> Pair:
    """The same with a placeholder in some rows of the first column of reference and data."""
    for table, share in zip(pair, shares, strict=True):
        table[rng.random(len(table)) < share, 0] = value
    return pair


def placeholders(case: str, rng: np.random.Generator) -> Pair:
    """One of the cases of that study."""
    reference, data = shifted(rng, 0.0 if case.startswith(("no shift", "constant")) else 0.3)
    if case == "shift, one reference row at 1e4":
        reference[0, 0] = 1e4
    if case.startswith("constant"):
        reference[:, 1] = 3.0
        data[:, 1] = 3.0
        data[:20, 1] = 4.0
    if case == "shift, the remaining 70 % alone":
        return reference[rng.random(len(reference)) > 0.3], data[rng.random(len(data)) > 0.3]
    if case not in _SHARES:
        return reference, data
    value, *shares = _SHARES[case]
    return with_placeholders((reference, data), value, (shares[0], shares[1]), rng)


_SHARES = {
    "shift, -999 in 5 %": (-999.0, 0.05, 0.05),
    "shift, -9999 in 5 %": (-9999.0, 0.05, 0.05),
    "shift, -999 in 30 %": (-999.0, 0.3, 0.3),
    "no shift, -999 in 5 % of both": (-999.0, 0.05, 0.05),
    "no shift, -999 in 5 % and 12 %": (-999.0, 0.05, 0.12),
}
PLACEHOLDERS = (
    "shift, nothing else",
    *list(_SHARES)[:3],
    "shift, the remaining 70 % alone",
    "shift, one reference row at 1e4",
    *list(_SHARES)[3:],
    "constant in the reference, 20 data events differ",
)


def peak(ratio: int, rng: np.random.Generator) -> Pair:
    """13 events at 2.3 standard deviations."""
    data = np.vstack([rng.standard_normal((int(rng.poisson(EXPECTED)), 1)), rng.normal(2.3, 0.05, (13, 1))])
    return rng.standard_normal((ratio * EXPECTED, 1)), data


def rare_flag(ratio: int, rng: np.random.Generator) -> Pair:
    """A flag that two reference events have, and as many data events as give a Z of 2 to 3, or the next above."""
    reference, data = (np.column_stack([rng.standard_normal(n), np.zeros(n)]) for n in (ratio * EXPECTED, EXPECTED))
    reference[:2, 1] = data[: 3 if ratio < 50 else 2, 1] = 1.0
    return reference, data


def cluster(ratio: int, rng: np.random.Generator) -> Pair:
    """A cluster of 15 events in five dimensions."""
    data = np.vstack([rng.standard_normal((int(rng.poisson(EXPECTED)), 5)), rng.normal(1.0, 0.4, (15, 5))])
    return rng.standard_normal((ratio * EXPECTED, 5)), data


SEEDS: dict[str, Callable[[int, np.random.Generator], Pair]] = {
    "13 events at 2.3": peak,
    "a rare flag": rare_flag,
    "a cluster in 5-D": cluster,
}


def search(pair: Pair, expected: float = EXPECTED, **settings: Any) -> lanner.SearchResult:
    """The default search, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lanner.errors.LannerWarning)
        return lanner.search(*pair, expected=expected, memory="2 GB", **settings)


def one(job: tuple[str, str, int, bool]) -> list[float]:
    """One search of a study: what is kept of it."""
    study, case, seed, smoke = job
    if study == "far":
        statistic, dimensions, number, distance = case.split()
        rng = np.random.default_rng([1, int(dimensions), int(float(distance)), seed])
        found = search(
            far(int(dimensions), int(number), float(distance), rng), statistic=statistic, seed=seed, toys=300
        )
        named = 0 if found.out_of_reach is None else sum(row < int(number) for row in found.out_of_reach.rows)
        return [found.p_value, float(found.empirical.is_bound), float(named)]
    if study == "placeholders":
        rng = np.random.default_rng([2, PLACEHOLDERS.index(case), seed])
        expected = (0.7 if "70 %" in case else 1.0) * EXPECTED
        return [search(placeholders(case, rng), expected, seed=seed, toys=60 if smoke else 400).p_value]
    name, ratio = case.rsplit(", ", 1)
    reference, data = SEEDS[name](int(ratio), np.random.default_rng([3, list(SEEDS).index(name)]))
    rng = np.random.default_rng(seed)
    shuffled = reference[rng.permutation(len(reference))], data[rng.permutation(len(data))]
    found = search(shuffled, seed=seed, toys=300 if smoke else SEED_TOYS)
    return [found.z_score, -1.0 if found.spread is None else found.spread.total]


def cases_of(study: str) -> list[str]:
    """The cases of a study."""
    if study == "far":
        return [
            f"{s} {d} {n} {distance}"
            for s in STATISTICS
            for d in (1, 4)
            for n in (30, 10)
            for distance in ("15", "20", "50", "1e6")
        ]
    return (
        list(PLACEHOLDERS) if study == "placeholders" else [f"{name}, {ratio}" for name in SEEDS for ratio in (20, 100)]
    )


REPETITIONS = {"far": 10, "placeholders": 200, "seeds": 20}


def table(study: str, done: dict[str, list[list[float]]]) -> list[list[str]]:
    """What was found in each case."""
    if study == "far":
        rows = [["statistic", "dimensions", "events", "at (sd)", "seeds", "beyond all toys", "largest p", "named"]]
        for case, found in done.items():
            p, bound, named = np.array(found).T
            rows.append([*case.split(), str(len(p)), f"{int(bound.sum())}", f"{p.max():.3g}", f"{named.min():.0f}"])
    elif study == "placeholders":
        rows = [["case", "data sets", "p < 0.05 (%)", "median p"]]
        for case, found in done.items():
            p = np.array(found)[:, 0]
            share = float(np.mean(p < 0.05))
            error = 100 * (share * (1 - share) / len(p)) ** 0.5
            rows.append([case, str(len(p)), f"{100 * share:.1f} ± {error:.1f}", f"{np.median(p):.3g}"])
    else:
        rows = [["data, reference over data", "seeds", "median Z", "spread of Z", "lowest", "highest", "own estimate"]]
        for case, found in done.items():
            z, own = np.array(found).T
            known = own[own >= 0]
            estimate = f"{known.mean():.2f}" if len(known) else "a bound"
            spread = z.std(ddof=1) if len(z) > 1 else 0.0
            rows.append([case, str(len(z)), *(f"{x:.2f}" for x in (np.median(z), spread, z.min(), z.max())), estimate])
    return rows


def main() -> None:
    """Run the studies and write their tables."""
    parser = study_parser(__doc__, writes="docs/blind-spots.md", flag="--write", keeps=True)
    parser.add_argument("--only", action="append", choices=list(REPETITIONS), help="Some studies; several times.")
    parser.add_argument("--repetitions", type=int, help="The same number for each study.")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parse(parser)
    kept = Kept.at(arguments.kept)
    done: dict[str, dict[str, list[list[float]]]] = kept.found
    parts = [
        "# Blind spots that the default search had\n\nMade by `python benchmarks/blind_spots.py`: 400 expected events."
    ]
    with ProcessPoolExecutor(arguments.processes) as pool:
        for study in arguments.only or REPETITIONS:
            number = 2 if arguments.smoke else arguments.repetitions or REPETITIONS[study]
            of_study = done.setdefault(study, {})
            for case in cases_of(study)[: 1 if arguments.smoke else None]:
                found = of_study.get(case, [])
                jobs = [(study, case, i, arguments.smoke) for i in range(1 + len(found), 1 + number)]
                of_study[case] = found + list(pool.map(one, jobs))
                kept.save()
            rows = table(study, of_study)
            print(*("  ".join(row) for row in rows), sep="\n", flush=True)
            parts.append(f"## {study}\n\n{markdown_table(rows)}")
    arguments.output.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
