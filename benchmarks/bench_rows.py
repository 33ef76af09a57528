"""A reference that is left in its files: how much faster are two workers than one, and how much memory do they take?

    python benchmarks/bench_rows.py                       # 20 million events of 8 features: half an hour on two cores
    python benchmarks/bench_rows.py --events 1000000

The default search with 300 toys on Parquet files, by one worker and by two of one thread each, by two of which one is
killed on the way, and in memory. Writes a table to docs/bench-rows.md.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import lanner
from command_line import parse, study_parser
from internals import markdown_table, worker_cluster

EXPECTED, TOYS, FEATURES, FILES, SEED = 20_000, 300, 8, 4, 1
# Who reads, how many they are, and when one is killed, in parts of the time without.
WAYS = (("one worker", 1, None), ("two workers", 2, None), ("two workers, one killed on the way", 2, 0.5))


def events(n: int, rng: np.random.Generator) -> np.ndarray:
    """Independent columns, normal and exponential."""
    x = rng.standard_normal((n, FEATURES))
    x[:, ::3] = rng.exponential(size=x[:, ::3].shape)
    return x


def write_reference(folder: Path, number: int) -> None:
    """Parquet files with row groups of a twentieth of all events."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for k in range(FILES):
        x = events(number // FILES, np.random.default_rng([SEED, k]))
        table = pa.table({f"x{j}": x[:, j] for j in range(FEATURES)})
        pq.write_table(table, folder / f"{k}.parquet", row_group_size=max(1000, number // 20))


class Peak:
    """The largest resident memory of each of some processes, looked at four times a second."""

    def __init__(self, pids: list[int]) -> None:
        self.bytes = dict.fromkeys(pids, 0)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(0.25):
            for pid in self.bytes:
                try:
                    self.bytes[pid] = max(self.bytes[pid], psutil.Process(pid).memory_info().rss)
                except psutil.NoSuchProcess:
                    continue

    def end(self) -> float:
        """In gigabytes, of the largest process."""
        self._ended.set()
        self._thread.join()
        return max(self.bytes.values()) / 1e9


@contextmanager
def killing(pid: int | None, after: float) -> Iterator[None]:
    """A process ends suddenly after some seconds."""
    if pid is None:
        yield
        return
    timer = threading.Timer(after, os.kill, (pid, 9))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def by_workers(
    source: Any, data: np.ndarray, expected: int, workers: int, kill_after: float | None = None
) -> dict[str, Any]:
    """The search by some workers: p, seconds and memory."""
    with worker_cluster(workers) as client:
        pids = list(client.run(os.getpid).values())
        peak = Peak(pids)
        start = time.perf_counter()
        with killing(None if kill_after is None else pids[-1], kill_after or 0):
            found = lanner.search(
                source, data, expected=expected, toys=TOYS, seed=SEED, executor=lanner.Dask(client=client)
            )
        seconds = time.perf_counter() - start
        return {"p": found.p_value, "t": found.statistic, "seconds": seconds, "worker": peak.end()}


def main() -> None:
    """Run the searches and write the table."""
    parser = study_parser(__doc__, writes="docs/bench-rows.md", flag="--write")
    parser.add_argument("--events", type=int, default=20_000_000)
    arguments = parse(parser)
    number = 40_000 if arguments.smoke else arguments.events
    expected = min(EXPECTED, number // 100)
    data = events(expected, np.random.default_rng([SEED, 99]))
    made: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_reference(Path(folder), number)
        source = lanner.spread(Path(folder) / "*.parquet")
        for name, workers, kill in WAYS[: 1 if arguments.smoke else None]:
            after = None if kill is None else kill * made["two workers"]["seconds"]
            made[name] = by_workers(source, data, expected, workers, after)
            print(name, made[name], flush=True)
        peak, start = Peak([os.getpid()]), time.perf_counter()
        reference = lanner.read_sample(str(Path(folder) / "*.parquet"), label="reference").sample
        found = lanner.search(reference, data, expected=expected, toys=TOYS, seed=SEED)
        made["in memory, this process"] = {
            "p": found.p_value,
            "t": found.statistic,
            "seconds": time.perf_counter() - start,
            "worker": peak.end(),
        }
    alone = made["one worker"]["seconds"]
    rows = [["who reads and sums", "p", "statistic", "time, one worker = 1", "largest process (GB)"]]
    for name, one in made.items():
        rows.append(
            [name, f"{one['p']:.4g}", f"{one['t']:.6f}", f"{one['seconds'] / alone:.2f}", f"{one['worker']:.2f}"]
        )
    print(*("  ".join(row) for row in rows), sep="\n")
    arguments.output.write_text(
        "# A reference that is left in its files\n\nMade by `python benchmarks/bench_rows.py`: "
        f"{number:.3g} events of {FEATURES} features in Parquet, {expected} expected, the default search with {TOYS} "
        "toys; workers have one thread each.\n\n" + markdown_table(rows) + "\n"
    )


if __name__ == "__main__":
    main()
