"""Are the p-values of all tests uniform? Independent null data sets, each with its own reference and toys.

    python benchmarks/tests_study.py                # 300 data sets each, 1000 of the default, 100 of the network
    python benchmarks/tests_study.py --only ks      # this one again, beside what is there

Seeds are fixed beforehand: data set i has seed i. Writes docs/figures/calibration_tests.{png,json} after each test.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

# One thread a process: the data sets are the parallel part.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import lanner
from calibration_study import hash_of, judge, make_events
from command_line import parse, study_parser
from internals import NAMES, NULLS, STATISTICS, Network, write_atomically
from scales_study import LEVELS, draw

CASE = "5-D"
EXPECTED, REFERENCE = 100, 1000
TOYS, TOYS_THAT_TRAIN_TREES, SMOKE_TOYS = 99, 19, 3
TESTS = [name for name in NAMES if name != "supervised"]
ALONE = [f"classifier {statistic}, {null}" for statistic in STATISTICS for null in NULLS]
DATA_SETS, OTHERWISE = 300, {"score": 1000, "network": 100}


def one(job: tuple[str, int, bool]) -> float:
    """The p-value of one null data set, spread over its step."""
    name, seed, smoke = job
    rng = np.random.default_rng([hash_of(name), seed])
    reference, data = make_events(CASE, REFERENCE, rng), make_events(CASE, int(rng.poisson(EXPECTED)), rng)
    if name in ALONE:
        statistic, null = name.removeprefix("classifier ").split(", ")
        found = lanner.classifier_test(reference, data, statistic=statistic, null=null, replicates=TOYS, rng=rng)
        step = 0.0 if null == "asymptotic" else 1 / (1 + TOYS)
        return float(found.p_value - rng.uniform(0, step))
    test: Any = Network((3,), clip=3.0, epochs=10 if smoke else 100) if name == "network" else name
    toys = TOYS_THAT_TRAIN_TREES if name.startswith("classifier") else TOYS
    toys = toys if not smoke else SMOKE_TOYS if name.startswith(("classifier", "network")) else TOYS
    row = lanner.compare(reference, data=data, expected=EXPECTED, tests=[test], toys=toys, seed=seed).rows[0]
    assert row.p_value is not None
    return float(row.p_value - rng.uniform(0, 1 / (row.toys + 1)))


def main() -> None:
    """Run the study."""
    parser = study_parser(__doc__, writes="docs/figures")
    parser.add_argument("--data-sets", type=int, help="Fewer, for a quick look.")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--only", action="append", choices=TESTS + ALONE, help="Some tests only; several times.")
    arguments = parse(parser)
    arguments.output.mkdir(parents=True, exist_ok=True)
    kept = arguments.output / "calibration_tests.json"
    results: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    with ProcessPoolExecutor(arguments.processes) as pool:
        for name in arguments.only or TESTS + ALONE:
            number = 1 if arguments.smoke else arguments.data_sets or OTHERWISE.get(name, DATA_SETS)
            p = list(pool.map(one, [(name, i, arguments.smoke) for i in range(number)], chunksize=5))
            found = judge(p, LEVELS)
            print(f"{name}: {json.dumps(found)}", flush=True)
            results[name] = found | {"p": np.round(p, 5).tolist()}
            write_atomically(kept, "\n".join(_lines(results)) + "\n")
    panels = {
        title: [n for n in names if n in results] for title, names in (("toys", TESTS), ("held-out events", ALONE))
    }
    draw({k: v for k, v in panels.items() if v}, results, arguments.output / "calibration_tests.png")
    sys.exit(0 if arguments.smoke or all(v["passed"] for v in results.values()) else 1)


def _lines(results: dict[str, Any]) -> list[str]:
    """JSON with a line for each test."""
    rows = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in results.items()]
    return ["{", ",\n".join(rows), "}"]


if __name__ == "__main__":
    main()
