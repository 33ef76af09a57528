"""How far out do the chi2 and the analytic null hold? Enough toys to see for oneself, and what they cost.

    python benchmarks/deep_nulls.py                        # all three, two hours on two cores
    python benchmarks/deep_nulls.py --only "1-D score" --toys 100000

For each case the law's own 2, 3, 4 and 5 sigma are marked on the toys: beyond them lie as many as the law says, or
more, and then a Z quoted from the law is too high. The chi2 is fitted to the first 300 toys, as in the paper, and to
all of them. Writes a table to docs/deep-nulls.md.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import lanner
from command_line import parse, study_parser
from internals import analytic_quantile, fit_chi2, markdown_table, room_for_data, z_of_log_p
from synthetic import SHAPES, Shape, events

LEVELS = (2.0, 3.0, 4.0, 5.0)
PAPER_TOYS = 300
SMOKE_TOYS = 400
LEAST = 10  # toys beyond a level, for a statement about it


@dataclass(frozen=True)
class Deep:
    """A case: the shape of the events, how many toys, and options of `calibrate`."""

    shape: str
    toys: int
    options: dict[str, Any]


CASES = {
    "1-D score": Deep("1-D", 4_000_000, {"statistic": "score", "width": 0.3, "penalty": 5e-6, "scaling": None}),
    "1-D likelihood ratio": Deep(
        "1-D", 100_000, {"statistic": "likelihood-ratio", "width": 0.3, "penalty": 5e-7, "scaling": None}
    ),
    "8-D score": Deep("8-D", 100_000, {"statistic": "score", "width": 4.5, "penalty": 1e-6, "centers": 10_000}),
}


def measure(case: Deep, shape: Shape, toys: int, folder: Path) -> list[list[str]]:
    """Make the toys; a row of the table for each law."""
    room = room_for_data(shape.expected, None)
    reference = events(shape.dimensions, shape.reference + room, np.random.default_rng(1))
    start = time.perf_counter()
    made = lanner.calibrate(
        reference,
        expected=shape.expected,
        output=folder,
        toys=toys,
        seed=1,
        reference_size=shape.reference,
        **(case.options | ({"centers": shape.centers} if "centers" in case.options else {})),
    )
    minutes = (time.perf_counter() - start) / 60
    t = made.toys.statistics[0]
    laws: dict[str, Callable[[float], float]] = {"analytic null": analytic_quantile(made)}
    for name, part in ((f"chi2 of {PAPER_TOYS} toys", t[:PAPER_TOYS]), ("chi2 of all toys", t)):
        fitted = fit_chi2(part, rng=np.random.default_rng(2))
        if fitted is None:  # a toy is not positive, and no chi2 describes them
            continue
        laws[f"{name} ({fitted.dof:.1f} dof)"] = lambda p, dof=fitted.dof: float(stats.chi2.isf(p, dof))  # type: ignore[misc]
    rows = []
    for name, threshold in laws.items():
        cells = [f"{len(t)} toys in {minutes:.1f} min", name]
        for level in LEVELS:
            beyond = int(np.count_nonzero(t >= threshold(float(stats.norm.sf(level)))))
            cells.append(f"{z_of_log_p(np.log(beyond / len(t))):.2f} ({beyond})" if beyond >= LEAST else "")
        rows.append(cells)
    return rows


def main() -> None:
    """Run the cases and write the table."""
    parser = study_parser(__doc__, writes="docs/deep-nulls.md", flag="--write")
    parser.add_argument("--only", action="append", choices=list(CASES))
    parser.add_argument("--toys", type=int, help="Fewer toys.")
    arguments = parse(parser)
    header = ["case", "toys", "law", *(f"{level:g} sigma of the law" for level in LEVELS)]
    lines = [header]
    for name in arguments.only or CASES:
        case, shape = CASES[name], SHAPES[CASES[name].shape]
        toys = arguments.toys or case.toys
        if arguments.smoke:
            shape, toys = shape.smallest(), SMOKE_TOYS
        with tempfile.TemporaryDirectory() as folder:
            for row in measure(case, shape, toys, Path(folder)):
                lines.append([name, *row])
                print(*lines[-1], sep=" | ", flush=True)
    about = (
        "# Deep nulls: how far out do the laws hold?\n\n"
        f"Made by `python benchmarks/deep_nulls.py` on {os.cpu_count()} cores of {platform.machine()}. Each cell: "
        "the Z that the toys give to the point which the law calls 2, 3, 4 or 5 sigma, and how many toys lie beyond it "
        f"(blank below {LEAST}). A smaller Z than the law's means that the law promises too much.\n\n"
    )
    arguments.output.write_text(about + markdown_table(lines) + "\n")


if __name__ == "__main__":
    main()
