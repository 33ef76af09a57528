"""What people run, first second to verdict: the default search and the paper's, with the report, at five shapes.

Four shapes are the paper's, in which both run; in the fifth the default alone.

    python benchmarks/bench_search.py --size quick          # a tenth of the events
    python benchmarks/bench_search.py --size full --write docs/bench-search.md

Each search runs in a process of its own through the command line, from Parquet files, so that time and peak memory are
a user's. A unit is the time of one single-precision product (n x 1000) (1000 x 1000), n events of reference and data,
measured in the same run: ratios mean something elsewhere, seconds are for orientation. Toys a second are those of the
step in which toys are made, without the preparation before it and the report after it, as the log of the search tells.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import lanner
from internals import markdown_table, three_digits, write_columns
from synthetic import SHAPES, Shape, events

TEN = Shape("10-D", 10, 500_000, 20_000, 0, 0.0, 0.0)
EVERY = {**SHAPES, TEN.name: TEN}
PAPER_TOYS, QUICK, SMOKE_TOYS = 20, 10, 60
_BLOCK = 20_000  # rows of the product that are done at a time


def unit(n: int) -> float:
    """Seconds of the product that is the unit, block by block so that it takes no memory."""
    rng = np.random.default_rng(0)
    a, b = (rng.random((rows, 1000), dtype=np.float32) for rows in (_BLOCK, 1000))
    a @ b
    start = time.perf_counter()
    for _ in range(5):
        a @ b
    return (time.perf_counter() - start) / 5 * n / _BLOCK


def watched(command: list[str]) -> tuple[str, float, float]:
    """What a search prints, the seconds that it takes, and those between the beginning and the end of its toys."""
    with tempfile.TemporaryFile("w+") as printed:
        start = time.perf_counter()
        began = ended = None
        with subprocess.Popen(command, stdout=printed, stderr=subprocess.PIPE, text=True) as search:
            assert search.stderr is not None
            said = []
            for line in search.stderr:
                now = time.perf_counter()
                said.append(line)
                if line.partition("] ")[2].startswith("toys"):
                    began, ended = began or now, None
                elif began is not None:
                    ended = ended or now
        seconds = time.perf_counter() - start
        if search.returncode:
            raise SystemExit(f"{' '.join(command)}\n{''.join(said)}")
        if began is None or ended is None:
            raise SystemExit(f"the log of the search says nothing of toys:\n{''.join(said)}")
        printed.seek(0)
        return printed.read(), seconds, ended - began


def one(name: str, size: str, paper: bool) -> dict[str, Any]:
    """A whole search: seconds, units, peak memory, what came out."""
    shape = EVERY[name]
    factor = {"full": 1, "quick": QUICK, "smoke": 400}[size]
    shape = replace(shape, reference=max(2000, shape.reference // factor), expected=max(90, shape.expected // factor))
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for label, n in (("reference", shape.reference), ("data", shape.expected)):
            columns = events(shape.dimensions, n, rng).T
            write_columns(folder / f"{label}.parquet", {f"x{k}": column for k, column in enumerate(columns)})
        command = [sys.executable, "-m", "lanner", "search", "--reference", str(folder / "reference.parquet")]
        command += ["--data", str(folder / "data.parquet"), "--expected", str(shape.expected), "--seed", "1", "--json"]
        command += ["--output", str(folder / "out")]
        if paper:
            command += ["--width", str(shape.width), "--penalty", str(shape.penalty)]
            command += ["--centers", str(min(shape.centers, shape.reference // 2)), "--toys", str(PAPER_TOYS)]
            command += [] if shape.newton_steps is None else ["--newton-steps", str(shape.newton_steps)]
            command += ["--null", "reference"]  # the paper's, however small the reference is beside the data
        elif size == "smoke":
            command += ["--toys", str(SMOKE_TOYS)]
        before = unit(shape.reference + shape.expected)
        printed, seconds, seconds_of_toys = watched(command)
        result = json.loads(printed)
        report = (folder / "out" / "report.html").stat().st_size
    units = min(before, unit(shape.reference + shape.expected))
    combined = result.get("combined") or {}
    toys = result["null"]["toys"] + combined.get("n_map_toys", 0)
    return {
        "shape": name,
        "events": f"{shape.reference}, {shape.expected}",
        "seconds": seconds,
        "units": seconds / units,
        "memory": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9,
        "toys": toys,
        "toys_a_second": toys / seconds_of_toys,
        "null": result["null"]["kind"],
        "p": result["p_value"],
        "report": report,
    }


def main() -> None:
    """Measure and print, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=("smoke", "quick", "full"), default="quick")
    parser.add_argument("--only", action="append", choices=list(EVERY), help="Some shapes only; several times.")
    parser.add_argument("--without-paper", action="store_true", help="The default search alone.")
    parser.add_argument("--write", type=Path, help="Where to write the table.")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(one(arguments.one[0], arguments.size, arguments.one[1] == "paper")))
        return
    header = ["search", "shape", "N0, N(0)", "toys from", "toys", "seconds", "units", "toys a second"]
    rows = [[*header, "peak memory (GB)"]]
    names = arguments.only or (["1-D"] if arguments.size == "smoke" else list(EVERY))
    for kind in ("default",) if arguments.without_paper else ("default", "paper"):
        for name in names:
            if kind == "paper" and name == TEN.name:
                continue
            command = [sys.executable, __file__, "--size", arguments.size, "--one", name, kind]
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
            if done.returncode:
                sys.exit(done.stderr)
            found = json.loads(done.stdout.splitlines()[-1])
            cells = [f"{found['seconds']:.1f}", f"{found['units']:.1f}", three_digits(found["toys_a_second"])]
            cells.append(f"{found['memory']:.2f}")
            rows.append([kind, name, found["events"], found["null"], str(found["toys"]), *cells])
            print(*rows[-1], sep=" | ", flush=True)
    if arguments.write:
        arguments.write.write_text(
            f"# From the first second to the verdict ({arguments.size} size)\n\n"
            f"Made by `python benchmarks/bench_search.py --size {arguments.size}` with Lanner {lanner.__version__} on "
            f"{os.cpu_count()} cores ({platform.machine()}): `lanner search` from Parquet files to the report, on "
            "synthetic events that follow the reference. A unit is one single-precision product (n x 1000) (1000 x "
            "1000) of the same run; toys a second are those of the step in which toys are made. The paper's mode has "
            f"one width and {PAPER_TOYS} toys, each of them a fit.\n\n" + markdown_table(rows) + "\n"
        )


if __name__ == "__main__":
    main()
