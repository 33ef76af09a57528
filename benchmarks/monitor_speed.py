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
from functools import partial
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
FEW = 5  # permutations of hyppo, whose time is that of so many, taken as often as it needs to be
CASES = ((5, 40_000), (5, 200_000), (11, 40_000), (11, 200_000))
SMOKE = ((2, 12_000),)
ROUND = 10  # batches
RULES: dict[str, Any] = {"toys": 2000, "streams": 20, "length": 50}


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


def of_monitor(features: int, size: int, repeats: int) -> dict[str, float]:
    """Batches a second, without and with details, and the seconds of the calibration."""
    rng = np.random.default_rng([features, size])
    reference = lanner.Sample.of(events(size, features, rng))
    batches = [events(BATCH, features, rng) for _ in range(ROUND)]
    start = time.process_time()
    judge = Judge(MonitorCalibration.make(reference, Rules(batch=BATCH, **RULES), FitSettings()))
    found = {"calibration": time.process_time() - start}
    for name in ("p", "details"):
        found[name] = ROUND / best(partial(judged, judge, batches, name == "details"), repeats)
    return found


def of_others(features: int) -> dict[str, float]:
    """Permutation tests a second."""
    rng = np.random.default_rng(features)
    few, batch = events(COMPARED, features, rng), events(BATCH, features, rng)
    search = partial(lanner.search, few, batch, expected=None, null="permutation", toys=PERMUTATIONS)
    found = {"search": 1 / best(search, 2)}
    if find_spec("hyppo"):
        from hyppo.ksample import MMD

        mmd = MMD(compute_kernel="rbf")
        seconds = best(partial(mmd.test, few, batch, reps=FEW, auto=False), 1)
        found["hyppo"] = FEW / PERMUTATIONS / seconds
    return found


def main() -> None:
    """Measure and write the page."""
    parser = study_parser(__doc__, writes="docs/monitor-speed.md", flag="--write")
    parser.add_argument("--repeats", type=int, default=10, help="Rounds of which the best counts.")
    arguments = parse(parser)
    header = ["features", "reference", "calibration (s)", "p alone (1/s)", "with details (1/s)"]
    lines = [[*header, "permutation by search (1/s)", "ratio", "hyppo's MMD (1/s)", "ratio"]]
    cases, repeats = (SMOKE, 1) if arguments.smoke else (CASES, arguments.repeats)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        others = {features: of_others(features) for features, _ in cases}
        for features, size in cases:
            found = of_monitor(features, size, repeats)
            line = [f"{features}", f"{size}", *(f"{found[what]:.0f}" for what in ("calibration", "p", "details"))]
            for what in ("search", "hyppo"):
                rate = others[features].get(what)
                line += ["-", "-"] if rate is None else [f"{rate:.2g}", f"{found['p'] / rate:.0f}"]
            lines.append(line)
            print(*line, sep=" | ", flush=True)
    about = (
        "# How fast is a monitor?\n\nMade by `python benchmarks/monitor_speed.py`: batches of "
        f"{BATCH} events a second on one core, of a monitor with windows of 2, 4 and 8 batches; details are the size "
        "of the departure, its features and its place. The permutation tests compare each batch with "
        f"{COMPARED} events of the reference by {PERMUTATIONS} toys (hyppo made {FEW}, and its time is multiplied). "
        "The calibration has a tenth of the toys that a monitor has by default, on which the speed of judging does not "
        "depend.\n\n"
    )
    arguments.output.write_text(about + markdown_table(lines) + "\n")


if __name__ == "__main__":
    main()
