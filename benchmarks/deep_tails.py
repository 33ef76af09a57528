"""How small a p-value does a reference support? Null data sets far in the tail, for references of several sizes.

    python benchmarks/deep_tails.py --kept kept.json       # an hour on two cores; goes on where it was stopped

Toys take their data from the reference, so what the reference lacks or has too much of, no toy shows. Averaged over
references p-values stay right in the bulk; far out in the tail they become too small. Here each of many references has
its own null toys, and many new data sets that follow the same law; the table has the share of these whose p-value is
below that of 3 and 4 standard deviations, over what it should be. Writes docs/deep-tails.md.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread a process: the references are the parallel part
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import stats

from command_line import parse, study_parser
from fresh_data import FreshData
from internals import markdown_table
from kept import Kept

EXPECTED = 200
RATIOS = (20, 100, 1000)
SIGMAS = (2.0, 3.0, 4.0)
TOYS, FRESH, REFERENCES = 102_000, 20_000, 24


def one(job: tuple[int, int, int, int]) -> list[int]:
    """How many new data sets of one reference have a p-value below each level."""
    ratio, seed, toys, fresh = job
    rng = np.random.default_rng([ratio, seed])
    reference = rng.exponential(size=(ratio * EXPECTED, 1))
    sizes = np.sort(rng.poisson(EXPECTED, fresh))  # data sets of one size are summed together
    p = FreshData(reference, EXPECTED, seed).p_values(rng.exponential(size=(sizes.sum(), 1)), sizes, toys)
    return [int(np.count_nonzero(p <= stats.norm.sf(z))) for z in SIGMAS]


def main() -> None:
    """Run the study and write its table."""
    parser = study_parser(__doc__, writes="docs/deep-tails.md", flag="--write", keeps=True)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parse(parser)
    kept = Kept.at(arguments.kept)
    done: dict[str, list[list[int]]] = kept.found
    toys, fresh, references = (300, 50, 2) if arguments.smoke else (TOYS, FRESH, REFERENCES)
    rows = [["reference over data", "data sets", *(f"at {z:g} sigma" for z in SIGMAS)]]
    with ProcessPoolExecutor(arguments.processes) as pool:
        for ratio in RATIOS[: 1 if arguments.smoke else None]:
            found = done.setdefault(str(ratio), [])
            jobs = [(ratio, i, toys, fresh) for i in range(len(found), references)]
            for counts in pool.map(one, jobs):
                found.append(counts)
                kept.save()
            counts, number = np.array(found).sum(axis=0), fresh * len(found)
            # Data sets of one reference are alike, so the error is that of the references' mean.
            errors = np.array(found).std(axis=0, ddof=1) * len(found) ** 0.5
            wanted = [number * stats.norm.sf(z) for z in SIGMAS]
            cells = [f"{c / w:.2f} ± {e / w:.2f}" for c, e, w in zip(counts, errors, wanted, strict=True)]
            rows.append([str(ratio), str(number), *cells])
            print(*rows[-1], sep=" | ", flush=True)
    arguments.output.write_text(
        "# How small a p-value does a reference support?\n\nMade by `python benchmarks/deep_tails.py`: the share of "
        f"null data sets (1-D, {EXPECTED} expected) with a p-value below that of so many standard deviations, over "
        "what it should be. Each reference has its own toys.\n\n" + markdown_table(rows) + "\n"
    )


if __name__ == "__main__":
    main()
