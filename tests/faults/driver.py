"""Runs jobs in processes that can be killed at any write, or at any moment; the tests talk to it by JSON lines.

    python -m tests.faults.driver

It imports everything once and forks for every job, so that hundreds of deaths take minutes. All that disturbs a job is
put in place here, in the child: Lanner itself knows nothing of it.
"""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import resource
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

import lanner
from lanner.cli import main as command_line
from lanner.errors import LannerWarning

_WRITES = ("replace", "link", "unlink")  # after each of which the folder is another
FIT: dict[str, Any] = {"width": 0.5, "penalty": 1e-5, "centers": 40, "seed": 3, "memory": "1 GB"}
SCORE: dict[str, Any] = {"centers": 40, "seed": 3, "memory": "1 GB"}


def _events() -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    return rng.exponential(size=(2400, 1)), rng.exponential(size=(100, 1))


def search(folder: Path) -> None:
    """A search whose toys lie in several batches, which is then extended."""
    reference, data = _events()
    for toys in (16, 96):
        lanner.search(reference, data, expected=100, toys=toys, output=folder, **FIT).save(folder)


def scores(folder: Path) -> None:
    """The same of scores at several scales."""
    reference, data = _events()
    for toys in (66, 200):
        lanner.search(reference, data, expected=100, toys=toys, output=folder, **SCORE).save(folder)


def calibrate(folder: Path) -> None:
    """A calibration that is extended, and applied."""
    reference, data = _events()
    for toys in (66, 200):
        lanner.calibrate(reference, expected=100, toys=toys, output=folder, **SCORE)
    lanner.apply(folder, data, memory="1 GB").save(folder / "applied")


def read(folder: Path) -> None:
    """What `calibrate` left, read."""
    if not folder.exists():
        calibrate(folder)
    assert len(lanner.load_calibration(folder)) == 200
    lanner.load_result(folder / "applied")


def command(folder: Path) -> None:
    """`lanner search`, with its report."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder.parent / f"{name}.npz" for name in ("reference", "data")}
    for path, events in zip(files.values(), _events(), strict=True):
        if not path.exists():
            np.savez(path, x=events[:, 0])
    settings = [item for name, value in FIT.items() for item in (f"--{name}", str(value))]
    for toys in ("16", "96"):
        arguments = ["search", "--expected", "100", "--toys", toys, "--output", str(folder), "--quiet", *settings]
        for name, path in files.items():
            arguments += [f"--{name}", str(path)]
        command_line(arguments, standalone_mode=False)


JOBS: dict[str, Callable[[Path], None]] = {f.__name__: f for f in (search, scores, calibrate, read, command)}


def _count_writes(kill: int | None) -> list[int]:
    """Count what changes the folder, and die before one of them."""
    count = [0]

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            number, count[0] = count[0], count[0] + 1
            if number == kill:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)

        return call

    for name in _WRITES:
        setattr(os, name, watched(getattr(os, name)))
    return count


def _fail(name: str, module: Any, code: int, first: int = 0) -> None:
    """Have a function of the system fail, from its `first` call on."""
    real, calls = getattr(module, name), [0]

    def failing(*arguments: Any, **options: Any) -> Any:
        calls[0] += 1
        if calls[0] > first:
            raise OSError(code, os.strerror(code))
        return real(*arguments, **options)

    setattr(module, name, failing)


def _disturb(fault: dict[str, Any]) -> None:
    if "full_after" in fault:
        _fail("fsync", os, errno.ENOSPC, fault["full_after"])
    if "no_locks" in fault:
        _fail("flock", fcntl, fault["no_locks"])
    if "largest_file" in fault:
        resource.setrlimit(resource.RLIMIT_FSIZE, (fault["largest_file"], fault["largest_file"]))
    if "memory" in fault:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * os.sysconf("SC_PAGE_SIZE") + fault["memory"]
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    if "user" in fault:
        os.setgid(fault["user"])
        os.setuid(fault["user"])


def _child(order: dict[str, Any], out: int) -> int:
    said: list[warnings.WarningMessage] = []
    error, count = None, _count_writes(order.get("kill"))
    try:
        with warnings.catch_warnings(record=True) as heard:
            said = heard
            warnings.simplefilter("always", LannerWarning)
            _disturb(order.get("fault", {}))
            JOBS[order["job"]](Path(order["folder"]))
    except BaseException as raised:
        error = f"{type(raised).__name__}: {raised}"
    told = [str(warning.message) for warning in said]
    os.write(out, json.dumps({"writes": count[0], "error": error, "warnings": told}).encode())
    return 0


def _run(order: dict[str, Any]) -> dict[str, Any]:
    """Fork, let it run or kill it after some seconds, and say how it ended."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os._exit(_child(order, write))
    os.close(write)
    start = time.monotonic()
    if "seconds" in order:
        time.sleep(order["seconds"])
        os.kill(pid, signal.SIGKILL)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(pid, 0)
    found: dict[str, Any] = json.loads(text) if text else {"writes": None, "error": None, "warnings": []}
    return found | {"killed": os.WIFSIGNALED(status), "seconds": time.monotonic() - start}


def _warm_up(job: str) -> None:
    """Import all that a job does, by doing it here."""
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder, redirect_stdout(io.StringIO()):
        JOBS[job](Path(folder) / job)
    assert threading.active_count() == 1  # or a fork would lose the others


def main() -> None:
    """Answer every line with a line."""
    warm: set[str] = set()
    for line in sys.stdin:
        order = json.loads(line)
        if order["job"] not in warm:
            _warm_up(order["job"])
            warm.add(order["job"])
        sys.stdout.write(json.dumps(_run(order)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
