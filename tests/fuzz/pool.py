"""Processes that try cases one after the other; one that hangs, dies or takes too much memory is replaced."""

from __future__ import annotations

import multiprocessing as mp
import resource
import shutil
import signal
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path

from tests.fuzz.case import Case
from tests.fuzz.check import Outcome, check
from tests.fuzz.files import KINDS, make
from tests.fuzz.texts import config, flags

SECONDS = 20.0  # that a case may take, unless told otherwise: on a busy machine all of them take longer
_ROOM = 4 * 2**30  # bytes of addresses beyond those of a process that has tried nothing: an end to runaways
Task = Case | tuple[int, int]  # a case, or the seed and the number that make it
_MIX = (*KINDS, "csv", "config", "config", "config", "flags")


def kind_of(number: int) -> str:
    """Formats, configurations and flags in turn."""
    return _MIX[number % len(_MIX)]


def case_of(seed: int, number: int) -> Case:
    """The case of this number."""
    kind = kind_of(number)
    makers = {"config": config, "flags": flags}
    return makers[kind](seed, number) if kind in makers else make(seed, number, kind)


class _Worker:
    def __init__(self) -> None:
        # Forked from a process that has imported everything and used none of it: threads do not survive a fork.
        context = mp.get_context("forkserver")
        context.set_forkserver_preload(["tests.fuzz.check", "tests.fuzz.pool"])
        ours, theirs = context.Pipe()
        self.connection: Connection = ours
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.case: Task | None = None
        self.since = 0.0

    def give(self, case: Task) -> None:
        self.case, self.since = case, time.monotonic()
        self.connection.send(case)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def run(tasks: Iterable[Task], *, processes: int = 2, seconds: float = SECONDS) -> Iterator[tuple[Task, Outcome]]:
    """Try every case, and yield it with what became of it, as it comes."""
    waiting, workers = deque(tasks), [_Worker() for _ in range(processes)]
    try:
        while waiting or any(worker.case for worker in workers):
            for worker in workers:
                if worker.case is None and waiting:
                    worker.give(waiting.popleft())
            ready = wait([worker.connection for worker in workers if worker.case], timeout=1.0)
            for i, worker in enumerate(workers):
                case = worker.case
                if case is None:
                    continue
                late = time.monotonic() - worker.since > seconds
                if worker.connection not in ready and not late:
                    continue
                try:
                    outcome = Outcome("hang", f"more than {seconds:g} s") if late else worker.connection.recv()
                except EOFError:
                    worker.process.join()
                    code = worker.process.exitcode or 0
                    outcome = Outcome("crash", signal.Signals(-code).name if code < 0 else f"exit code {code}")
                if outcome.status in ("hang", "crash"):
                    worker.end()
                    workers[i] = _Worker()
                worker.case = None
                yield case, outcome
    finally:
        for worker in workers:
            worker.end()


def _work(connection: Connection) -> None:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _ROOM, used + _ROOM))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            case = connection.recv()
        except EOFError:
            return
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        try:
            connection.send(check(case if isinstance(case, Case) else case_of(*case), folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
