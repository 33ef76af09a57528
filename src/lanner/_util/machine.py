"""What the machine offers: memory to plan with, cores to work on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import ceil
from pathlib import Path
from threading import Lock
from typing import Any

import psutil
from threadpoolctl import ThreadpoolController, threadpool_limits

from lanner._util.text import shown
from lanner.errors import InputError, MemoryBudgetError

_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}
_SMALL_RANK = 400  # up to which products and eigenvalue problems take less time than threads take to agree
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([kmgt]i?)?b?\s*", re.IGNORECASE)


def memory_budget(memory: float | str | None = None) -> int:
    """Return the bytes that a run may use: a number, a text such as "4 GB", or half of what is free.

    >>> memory_budget("1.5 GB"), memory_budget("2GiB"), memory_budget(4096)
    (1500000000, 2147483648, 4096)
    """
    if memory is None:
        return _free_memory() // 2
    if isinstance(memory, str):
        match = _SIZE.fullmatch(memory)
        if match is None:
            raise InputError(f"memory={shown(memory)} is not a size; write bytes as a number, or a text such as '4 GB'")
        memory = float(match[1]) * _UNITS[(match[2] or "").lower()]
    if not isinstance(memory, int | float) or not 0 < memory < float("inf"):
        raise InputError(f"memory={shown(memory)} is not a size; it must be a positive number of bytes")
    return int(memory)


def require_memory(needed: float, budget: float, what: str) -> None:
    """Raise `MemoryBudgetError` where `what` needs more bytes than the budget has."""
    if needed > budget:
        raise MemoryBudgetError(
            f"{what} needs {megabytes(needed)}, but the memory budget is {megabytes(budget)}; "
            f"give memory='{ceil(1.2 * needed / 1e6)} MB' or more, or fewer centres"
        )


def megabytes(size: float) -> str:
    """Return a size for people: in megabytes below a gigabyte, in gigabytes above."""
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def _free_memory() -> int:
    free = int(psutil.virtual_memory().available)
    # A batch job sees the whole node's memory but may use only its cgroup's share.
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            free = min(free, int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):
            continue
    return int(max(min(free, _address_space()), 2**26))


def _address_space() -> float:
    """Bytes that this process may still map, where somebody has set a limit (`ulimit -v`, a batch system)."""
    try:
        import resource
    except ImportError:  # Windows
        return float("inf")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return float("inf") if limit == resource.RLIM_INFINITY else limit - psutil.Process().memory_info().vms


class _Blas:
    """The number of threads that BLAS uses: a setting of the whole process, held at one while anybody needs that.

    Fits may run in several threads of a program at once. Whoever comes first lowers the number, whoever leaves last
    restores it; each doing both by itself would leave it lowered for good.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._threads = 1
        self._limit: Any = None

    def acquire(self) -> int:
        with self._lock:
            if self._users == 0:
                controller = _controller()
                blas = [library["num_threads"] for library in controller.info() if library["user_api"] == "blas"]
                self._threads = max(blas, default=1)
                self._limit = controller.limit(limits=1, user_api="blas")
            self._users += 1
            return self._threads

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    """Return the thread pools of the process, looked up once: that takes milliseconds, as long as a small fit."""
    return ThreadpoolController()


_blas = _Blas()


@contextmanager
def worker_threads() -> Iterator[int]:
    """Yield how many threads of our own to use, while BLAS calls inside use one thread each.

    The number is the one BLAS would use itself, so OMP_NUM_THREADS and batch limits are obeyed.
    """
    workers = _blas.acquire()
    try:
        yield workers
    finally:
        _blas.release()


@contextmanager
def blas_threads_for(rank: int) -> Iterator[None]:
    """One thread for BLAS where matrices are small: beside other work, several wait for each other far too long."""
    if rank > _SMALL_RANK:
        yield
        return
    with worker_threads():
        yield


@contextmanager
def threads_if(worth_it: bool) -> Iterator[None]:
    """One thread for OpenMP (scikit-learn, torch) where there is little to do: several would wait for each other."""
    if worth_it:
        yield
        return
    with threadpool_limits(1, user_api="openmp"):
        yield
