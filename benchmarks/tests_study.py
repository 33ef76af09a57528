"""Are the p-values of all tests uniform? Independent null data sets, each with its own reference and toys.

    python benchmarks/tests_study.py                          # 300 data sets each, 100 of the network
    python benchmarks/tests_study.py --only ks --data-sets 40

Seeds are fixed beforehand: data set i has seed i. Writes docs/figures/calibration_tests.{png,json}.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

# One thread a process: the data sets are the parallel part.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import lanner
from calibration_study import hash_of, make_events
from lanner.baselines import NAMES, Network, classifier_test
from lanner.baselines.classifier import NULLS, STATISTICS
from scales_study import draw, judge

CASE = "5-D"
EXPECTED, REFERENCE, TOYS = 100, 1000, 99
TESTS = [name for name in NAMES if name != "supervised"]
ALONE = [f"classifier {statistic}, {null}" for statistic in STATISTICS for null in NULLS]
FEWER = {"network": 100}


def one(job: tuple[str, int]) -> tuple[float, float]:
    """The p-value of one null data set, and the same spread over its step."""
    name, seed = job
    rng = np.random.default_rng([hash_of(name), seed])
    reference, data = make_events(CASE, REFERENCE, rng), make_events(CASE, int(rng.poisson(EXPECTED)), rng)
    if name in ALONE:
        statistic, null = name.removeprefix("classifier ").split(", ")
        found = classifier_test(reference, data, statistic=statistic, null=null, replicates=TOYS, rng=rng)
        step = 0.0 if null == "asymptotic" else 1 / (1 + TOYS)
        return found.p_value, float(found.p_value - rng.uniform(0, step))
    test: Any = Network((3,), clip=3.0, epochs=100) if name == "network" else name
    row = lanner.compare(reference, data=data, expected=EXPECTED, tests=[test], toys=TOYS, seed=seed).rows[0]
    assert row.p_value is not None
    return row.p_value, float(row.p_value - rng.uniform(0, 1 / (row.toys + 1)))


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=300)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--output", type=Path, default=Path("docs/figures"))
    parser.add_argument("--only", action="append", choices=TESTS + ALONE, help="Some tests only; several times.")
    arguments = parser.parse_args()
    results: dict[str, Any] = {}
    with ProcessPoolExecutor(arguments.processes) as pool:
        for name in arguments.only or TESTS + ALONE:
            number = min(arguments.data_sets, FEWER.get(name, arguments.data_sets))
            pairs = np.array(list(pool.map(one, [(name, i) for i in range(number)], chunksize=5)))
            found = judge(pairs)
            print(f"{name}: {json.dumps(found)}", flush=True)
            results[name] = found | {"p": pairs[:, 1].tolist()}
    arguments.output.mkdir(parents=True, exist_ok=True)
    panels = {
        title: [n for n in names if n in results] for title, names in (("toys", TESTS), ("held-out events", ALONE))
    }
    draw({k: v for k, v in panels.items() if v}, results, arguments.output / "calibration_tests.png")
    (arguments.output / "calibration_tests.json").write_text(
        json.dumps({k: {n: x for n, x in v.items() if n != "p"} for k, v in results.items()}, indent=1)
    )
    sys.exit(0 if all(v["passed"] for v in results.values()) else 1)


if __name__ == "__main__":
    main()
