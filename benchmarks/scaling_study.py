"""How time and memory grow: with events, centres, features, toys, workers, and on which arrays.

    python benchmarks/scaling_study.py                       # all of it, two hours on two cores; docs/scaling.md
    python benchmarks/scaling_study.py --only events         # one axis
    python benchmarks/scaling_study.py --only events --largest 1000000
    python benchmarks/scaling_study.py --kept points.json    # goes on from points measured before

Each point runs in a process of its own, so that its peak memory is its own, and reads its events from a Parquet file in
chunks, as a user's would be. Between one point and the next stands the measured power of what grows, beside the
expected one.
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
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import lanner
from command_line import parse, study_parser
from internals import Fits, markdown_table, memory_budget, three_digits
from synthetic import events

WIDTHS = {1: 0.3, 2: 1.5, 5: 3.0, 8: 4.5, 21: 7.0}
ROWS = 500_000  # written together


@dataclass(frozen=True)
class Point:
    """One measurement."""

    events: int
    features: int = 8
    centers: int = 3000
    toys: int = 100
    statistic: str = "likelihood-ratio"
    device: str = "cpu"
    memory: str = "6 GB"
    workers: int = 0  # 0: this process


BASE = Point(200_000)
LARGE = Point(100_000, centers=10_000, toys=8)
# The paper's 8-D shape: N(0) = 1e5, N0 = 5e5.
SHARED = Point(600_000, centers=10_000, toys=300, memory="16 GB")
AXES: dict[str, tuple[str, list[Point], str]] = {
    "events": ("events", [replace(LARGE, events=n) for n in (100_000, 1_000_000, 10_000_000)], "1"),
    "centres": ("centers", [replace(BASE, centers=m) for m in (1000, 3000, 10_000)], "below 1: the rank saturates"),
    "features": ("features", [replace(BASE, features=d) for d in (1, 2, 5, 8, 21)], "none: it goes with the rank"),
    "toys": ("toys", [replace(BASE, features=1, toys=b) for b in (10, 100, 1000)], "1"),
    "score toys": ("toys", [replace(BASE, statistic="score", toys=b) for b in (100, 1000, 10_000)], "1"),
    "device": ("device", [replace(BASE, device=x) for x in ("cpu", "torch")], ""),
    "workers": ("workers", [replace(SHARED, workers=w) for w in (1, 2)], "-1"),
}
TINY = Point(3000, features=1, centers=100, toys=8, memory="1 GB")
SMOKE: dict[str, tuple[str, list[Point], str]] = {
    "events": ("events", [TINY, replace(TINY, events=6000)], "1"),
    "device": ("device", [replace(TINY, device="torch")], ""),
    "workers": ("workers", [replace(TINY, workers=1)], "-1"),
}

# How an axis differs from the base.
APART = {
    "events": "10 000 centres, a batch of 8 toys.",
    "toys": "One feature.",
    "score toys": "The score statistic.",
    "workers": "The paper's 8-D shape: 600 000 events, 10 000 centres, 300 toys. Each worker has one thread and builds "
    "its own features, while this process builds its own: that is the time to prepare. Memory is that of the largest "
    "process; a worker may use half of this machine's, one as well as two.",
}


def write_events(path: Path, point: Point) -> None:
    """A file of events, made piece by piece."""
    names = [f"x{j}" for j in range(point.features)]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, point.events, ROWS):
            rng = np.random.default_rng([1, first])
            some = events(point.features, min(ROWS, point.events - first), rng)
            writer.write_table(pa.table(dict(zip(names, some.T, strict=True)), schema=schema))


def measure(path: Path, point: Point) -> dict[str, Any]:
    """Read, prepare, fit; seconds of each, and the most memory that was used."""
    budget = memory_budget(point.memory)
    start = time.perf_counter()
    reference = lanner.read_sample(str(path), memory=budget).sample
    read = time.perf_counter() - start
    fits = Fits.plan(
        reference,
        expected=point.events / 6 if point.workers else point.events / 50,
        statistic=point.statistic,
        width=WIDTHS[point.features],
        penalty=1e-6,
        centers=point.centers,
        device=point.device,
        memory=budget,
    )
    planned = time.perf_counter() - start - read
    if point.workers:
        found = fits.run_on_workers(point.toys, point.workers)
        return found | {"read": 0.0, "peak": max(_peak(resource.RUSAGE_SELF), _peak(resource.RUSAGE_CHILDREN))}
    found = fits.run(point.toys)
    return found | {"read": read, "prepare": planned + found["prepare"], "peak": _peak(resource.RUSAGE_SELF)}


def _peak(who: int) -> int:
    return resource.getrusage(who).ru_maxrss * 1024


def run(point: Point, folder: Path) -> dict[str, Any]:
    """Measure a point in a process of its own."""
    path = folder / f"events-{point.events}-{point.features}.parquet"
    if not path.exists():
        write_events(path, point)
    command = [sys.executable, __file__, "--point", json.dumps(asdict(point)), "--events-file", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{point}\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


class Kept:
    """Points that have been measured, in a file if there is one: a study of hours is not lost half way."""

    def __init__(self, path: Path | None, folder: Path) -> None:
        self._path, self._folder = path, folder
        self._found: dict[str, Any] = json.loads(path.read_text()) if path is not None and path.exists() else {}

    def of(self, point: Point) -> dict[str, Any]:
        """What a point needs, measured now if it is not known."""
        key = json.dumps(asdict(point))
        if key not in self._found:
            self._found[key] = run(point, self._folder)
            if self._path is not None:
                self._path.write_text(json.dumps(self._found, indent=1))
        return dict(self._found[key])


def section(axis: str, axes: dict[str, tuple[str, list[Point], str]], kept: Kept, largest: int) -> str:
    """An axis: its table, and what it says."""
    points = axes[axis][1]
    apart = f"{APART[axis]}\n\n" if axis in APART else ""
    text = f"## {axis.capitalize()}\n\n{apart}" + markdown_table(rows_of(axis, *axes[axis], kept, largest))
    if axis == "events":
        few, many = points[-2:]
        if many.events <= largest:
            large, small = kept.of(many), kept.of(few)
            ratio = large["fit"] / small["fit"] * few.events / many.events
            a_pass = ratio * small["passes"] / large["passes"]
            text += (
                f"\n\nTime per event at {many.events:,}: {ratio:.2f} of that at {few.events:,}; of each of their "
                f"{large['passes']} and {small['passes']} passes {a_pass:.2f}. Where features are stored a pass reads "
                "them, where they are streamed it computes them anew. The once-only part is made from 2^20 events at "
                "most."
            )
    if axis == "workers" and len(points) == 2:
        one, two = (kept.of(p)["fit"] for p in points)
        text += f"\n\nThe toys take two workers {two / one:.2f} of the time of one, the features apart."
    return text


def rows_of(axis: str, what: str, points: list[Point], expected: str, kept: Kept, largest: int) -> list[list[str]]:
    """The table of an axis."""
    table = [[what, "rank", "feature rows", "read", "prepare", "fit", "per toy", "power of the fit", "peak memory"]]
    before: tuple[float, float] | None = None
    for point in points:
        if point.events > largest:
            continue
        found = kept.of(point)
        value, power = getattr(point, what), ""
        if before is not None and not isinstance(value, str):
            power = f"{np.log(found['fit'] / before[1]) / np.log(value / before[0]):.2f}"
        before = None if isinstance(value, str) else (float(value), found["fit"])
        table.append(
            [
                f"{value:,}" if isinstance(value, int) else value,
                str(found["rank"]),
                found["storage"],
                f"{found['read']:.1f} s",
                f"{found['prepare']:.1f} s",
                f"{found['fit']:.1f} s",
                f"{three_digits(1e3 * found['fit'] / point.toys)} ms",
                power,
                f"{found['peak'] / 1e9:.2f} GB",
            ]
        )
        print(axis, *table[-1], sep=" | ", flush=True)
    return [*table, [f"expected: {expected}", *[""] * 8]] if expected else table


def main() -> None:
    """Run the axes asked for and write the tables."""
    parser = study_parser(__doc__, writes="docs/scaling.md", flag="--write")
    parser.add_argument("--only", action="append", choices=list(AXES))
    parser.add_argument("--largest", type=int, default=10**9, help="Leave out points of more events.")
    parser.add_argument("--kept", type=Path, metavar="FILE", help="Points measured before, and where to keep them.")
    parser.add_argument("--point", help=argparse.SUPPRESS)
    parser.add_argument("--events-file", type=Path, help=argparse.SUPPRESS)
    arguments = parse(parser)
    if arguments.point:
        print(json.dumps(measure(arguments.events_file, Point(**json.loads(arguments.point)))))
        return
    with tempfile.TemporaryDirectory() as folder:
        kept = Kept(arguments.kept, Path(folder))
        axes = SMOKE if arguments.smoke else AXES
        parts = [section(axis, axes, kept, arguments.largest) for axis in arguments.only or axes]
    about = (
        "# How time and memory grow\n\n"
        f"Made by `python benchmarks/scaling_study.py` on {os.cpu_count()} cores of {platform.machine()}; times are of "
        "this machine, powers and ratios are what to take from them. Each point is a process of its own, which reads "
        "its events from Parquet in chunks; unless the table says otherwise, 200 000 events of 8 features, 3000 "
        "centres, 100 toys of the likelihood ratio, and a memory budget of 6 GB.\n\n"
    )
    arguments.output.write_text(about + "\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
