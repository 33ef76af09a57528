"""Try many cases: `python -m tests.fuzz --cases 5000 --seed 1`; exit code 1 if one fails."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.case import Case
from tests.fuzz.pool import SECONDS, case_of, kind_of, run


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    arguments.add_argument("--cases", type=int, default=5000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--processes", type=int, default=2)
    arguments.add_argument("--seconds", type=float, default=SECONDS, help="a case that takes longer hangs")
    arguments.add_argument("--output", type=Path, default=Path("fuzz-failures"), help="where failing cases are kept")
    arguments.add_argument("--replay", type=Path, help="the folder of a case that was kept")
    given = arguments.parse_args()
    if given.replay is not None:
        ((_, outcome),) = run([Case.kept(given.replay)], processes=1, seconds=given.seconds)
        sys.stdout.write(f"{outcome.status}\n{outcome.detail}\n")
        return 0 if outcome.fine else 1
    began, counts, failed = time.monotonic(), Counter[tuple[str, str]](), 0
    tasks = [(given.seed, number) for number in range(given.cases)]
    for task, outcome in run(tasks, processes=given.processes, seconds=given.seconds):
        assert isinstance(task, tuple)
        seed, number = task
        counts[kind_of(number), outcome.status] += 1
        if not outcome.fine:
            case = case_of(seed, number)
            failed += 1
            kept = case.keep(given.output, f"{outcome.status}: {outcome.detail}")
            last = (outcome.detail.strip().splitlines() or [""])[-1]
            sys.stdout.write(f"{outcome.status}: {kept}: {last[:300]}\n")
    lines = [f"{given.cases} cases of seed {given.seed} in {time.monotonic() - began:.0f} s"]
    for kind in sorted({kind for kind, _ in counts}):
        found = [f"{number} {status}" for (k, status), number in sorted(counts.items()) if k == kind]
        lines.append(f"  {kind:<8} {', '.join(found)}")
    refused, accepted = (sum(n for (_, s), n in counts.items() if s == status) for status in ("refused", "accepted"))
    lines.append(f"refused {refused}, accepted {accepted}, failures {failed}")
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
