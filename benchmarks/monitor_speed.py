"""How many batches a second a monitor judges, beside one permutation test per batch.

    python benchmarks/monitor_speed.py
    PYTHONPATH=/where/hyppo/is python benchmarks/monitor_speed.py --repeats 20    # hyppo's MMD as well

Batches of 500 events with 5 and with 11 features, references of 40 000 and of 200 000 events, on one core. What others
do for every batch is a permutation test against 2000 events of the reference with 100 toys: by `lanner.search`, and by
the MMD of hyppo (Gaussian kernel) where it is installed. Times are those of this process on its core, the best of
several rounds, all in one run, so that the ratios mean something elsewhere. Writes a page to docs/monitor-speed.md.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

import lanner
from command_line import parse, study_parser
from internals import FitSettings, Judge, MonitorCalibration, Rules, markdown_table

BATCH, COMPARED, PERMUTATIONS = 500, 2000, 100
CASES = ((5, 40_000), (5, 200_000), (11, 40_000), (11, 200_000))
SMOKE = ((2, 12_000),)
ROUND = 10  # batches
LEAST = {"p": 200.0, "details": 50.0, "times": 50.0}


def events(n: int, features: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Normal columns, a third of them exponential."""
    x = rng.standard_normal((n, features))
    x[:, ::3] = rng.exponential(size=x[:, ::3].shape)
    return x


def best(one: Callable[[], Any], repeats: int) -> float:
    """Seconds of this process for one call, in the best of several."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        one()
        found.append(time.process_time() - start)
    return min(found)


def judged(judge: Judge, batches: list[NDArray[np.float64]], details: bool) -> None:
    """A round of batches, as a monitor judges them."""
    state = judge.start()
    for batch in batches:
        state, _ = judge.after(state, judge.sums(batch), "", details=details)


def measure(features: int, size: int, repeats: int) -> dict[str, float]:
    """Batches a second of each way."""
    rng = np.random.default_rng([features, size])
    reference = events(size, features, rng)
    batches = [events(BATCH, features, rng) for _ in range(ROUND)]
    rules = Rules(batch=BATCH, toys=2000, streams=20, length=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        judge = Judge(MonitorCalibration.make(lanner.Sample.of(reference), rules, FitSettings()))
        found = {"calibration": time.process_time() - start}
        for details in (False, True):
            seconds = best(lambda details=details: judged(judge, batches, details), repeats)  # type: ignore[misc]
            found["details" if details else "p"] = ROUND / seconds
        few = reference[:COMPARED]
        found["search"] = 1 / best(
            lambda: lanner.search(few, batches[0], expected=None, null="permutation", toys=PERMUTATIONS), 2
        )
        if find_spec("hyppo"):
            from hyppo.ksample import MMD  # type: ignore[import-not-found]

            mmd = MMD(compute_kernel="rbf")
            found["hyppo"] = 1 / best(lambda: mmd.test(few, batches[0], reps=PERMUTATIONS, auto=False), 1)
    return found


def main() -> None:
    """Measure and write the page."""
    parser = study_parser(__doc__, writes="docs/monitor-speed.md", flag="--write")
    parser.add_argument("--repeats", type=int, default=10, help="Rounds of which the best counts.")
    arguments = parse(parser)
    header = ["features", "reference", "calibration (s)", "p alone (1/s)", "with details (1/s)"]
    lines = [[*header, "permutation by search (1/s)", "ratio", "hyppo's MMD (1/s)", "ratio"]]
    for features, size in SMOKE if arguments.smoke else CASES:
        found = measure(features, size, 1 if arguments.smoke else arguments.repeats)
        hyppo = found.get("hyppo")
        lines.append(
            [
                *(
                    f"{features}",
                    f"{size}",
                    f"{found['calibration']:.0f}",
                    f"{found['p']:.0f}",
                    f"{found['details']:.0f}",
                ),
                *(f"{found['search']:.2g}", f"{found['p'] / found['search']:.0f}"),
                *(("-", "-") if hyppo is None else (f"{hyppo:.2g}", f"{found['p'] / hyppo:.0f}")),
            ]
        )
        print(*lines[-1], sep=" | ", flush=True)
    about = (
        "# How fast is a monitor?\n\nMade by `python benchmarks/monitor_speed.py`: batches of "
        f"{BATCH} events a second on one core, of a monitor with windows of 2, 4 and 8 batches; details are the size "
        "of the departure, its features and its place. The permutation tests compare each batch with "
        f"{COMPARED} events of the reference by {PERMUTATIONS} toys. The calibration has a tenth of the toys that a "
        "monitor has by default, on which the speed of judging does not depend.\n\n"
    )
    arguments.output.write_text(about + markdown_table(lines) + "\n")


if __name__ == "__main__":
    main()
