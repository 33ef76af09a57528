"""What a Dask worker keeps and does: features built once, batches of toys by their numbers.

Imported where `distributed` is installed; nothing here is run by the process that asks for toys.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any

import psutil
from distributed import Worker, WorkerPlugin, get_worker
from distributed.protocol.pickle import dumps
from threadpoolctl import threadpool_limits

from lanner._util.machine import megabytes, memory_budget
from lanner.errors import LannerError, MemoryBudgetError
from lanner.run.execution.delivery import Delivery
from lanner.run.execution.local import Preparable, Task, make_batch
from lanner.run.fingerprint import Maker
from lanner.run.toy_store import Batch

# Of a worker's memory limit, what it may come to use: Dask pauses a worker at 80 % of it and ends it at 95 %.
_SHARE = 0.7
_TELL = 0.5  # seconds between messages about progress
_AMPLE = 10**9  # bytes of a worker, of which it may keep some tens of millions that it does not need just now
# glibc's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, and the values that it arrives at by itself where nobody interferes.
_MALLOC = {-3: 2**25, -1: 2**26}


class Bench(WorkerPlugin):
    """A worker's workbench: the recipe that every worker gets when it joins, and what it has made of it."""

    def __init__(
        self, name: str, recipe: Preparable, memory: int | None, threads: int | None, maker: Maker | None = None
    ) -> None:
        self.name = name
        # The code of who asks for toys; None: any. As a plain value, which any earlier version can be sent.
        self._asked_of = None if maker is None else maker.to_dict()
        self._recipe, self._memory, self._threads = recipe, memory, threads
        self._prepared: Any = None

    def setup(self, worker: Worker) -> None:
        """Called once in each worker, before any task."""
        self._worker = worker
        self._turn = Lock()  # a batch uses all the worker's threads, so there is one at a time
        limit = worker.memory_manager.memory_limit
        if limit is None or limit >= _AMPLE:
            keep_freed_memory()

    @property
    def address(self) -> str:
        """The address of the worker."""
        return str(self._worker.address)

    @property
    def is_ours(self) -> bool:
        """Whether the code here is that of who asks for toys: others might make other numbers."""
        return self._asked_of in (None, Maker.here().to_dict())

    def teardown(self, worker: Worker) -> None:
        """Called when the search has ended: the features go."""
        self._prepared = None

    def prepare(self) -> float:
        """Build the features, unless they are there; the seconds it took."""
        with self._turn, self._blas():
            start = time.perf_counter()
            self._ready()
            return time.perf_counter() - start

    def batch(self, task: Task, first: int, size: int) -> Batch:
        """Toys `first` and following."""
        with self._turn, self._blas():
            return make_batch(task, self._ready(), first, size, _Messages(self._worker, self.name, first))

    def _ready(self) -> Any:
        if self._prepared is None:
            memory, limit = self._budget()
            try:
                self._prepared = self._recipe.prepare(memory)
            except MemoryBudgetError as error:
                raise MemoryBudgetError(
                    f"worker {self.address}{limit}: {error}; or give the workers more memory"
                ) from None
        return self._prepared

    def _budget(self) -> tuple[int, str]:
        """Bytes that this worker may use, and why so few."""
        limit = self._worker.memory_manager.memory_limit
        memory = memory_budget(None) if self._memory is None else self._memory
        if limit is None:
            return memory, ""
        used = psutil.Process().memory_info().rss  # Python and its libraries
        left = max(int(_SHARE * limit) - used, 0)
        return (
            (left, f" (memory limit {megabytes(limit)}, {megabytes(used)} in use)") if left < memory else (memory, "")
        )

    def _blas(self) -> Any:
        """Libraries with the worker's number of threads, and not with one for each core of the node."""
        return threadpool_limits(limits=self._threads or self._worker.state.nthreads)


def portable(bench: Bench) -> WorkerPlugin:
    """A bench that any worker can be sent.

    A worker that cannot read a plugin does not start, is started again by its nanny, and so on for ever. This one is
    sent as it stands, and not by name; the bench is unpacked where there is the Lanner for it. Elsewhere the first task
    fails, and the worker is refused by its address.
    """

    class Portable(WorkerPlugin):
        def __init__(self, name: str, packed: bytes) -> None:
            self.name, self.packed = name, packed
            self.bench: Any = None

        def setup(self, worker: Worker) -> None:
            from distributed.protocol.pickle import loads

            try:
                self.bench = loads(self.packed)  # type: ignore[no-untyped-call]
            except Exception:
                return
            self.packed = b""
            self.bench.setup(worker)

        def teardown(self, worker: Worker) -> None:
            if self.bench is not None:
                self.bench.teardown(worker)

    return Portable(bench.name, _packed(bench))


def portable_task(function: Callable[..., Any], *arguments: Any) -> tuple[Callable[[str, bytes], Any], bytes]:
    """A task at a bench that any worker can be sent: a worker that cannot read a task ends, and is waited for.

    It takes the name of the bench and what comes second here, and returns None where there is no bench.
    """

    def at_bench(name: str, packed: bytes) -> Any:
        from distributed import get_worker
        from distributed.protocol.pickle import loads

        if getattr(get_worker().plugins[name], "bench", None) is None:
            return None
        called, given = loads(packed)  # type: ignore[no-untyped-call]
        return called(name, *given)

    return at_bench, _packed((function, arguments))


def _packed(what: Any) -> bytes:
    return bytes(dumps(what))  # type: ignore[no-untyped-call]


def keep_freed_memory() -> None:
    """Let malloc keep some tens of megabytes for the next array.

    Dask starts its workers with a malloc that returns what is freed at once. The kernel would then clear the pages of
    every array of every block anew, which makes fits four times slower (measured).
    """
    with suppress(OSError, AttributeError):  # not glibc
        mallopt = ctypes.CDLL(None).mallopt
        for setting, value in _MALLOC.items():
            mallopt(setting, value)


class _Messages:
    """Tells the client how many toys of a batch have ended, now and then."""

    def __init__(self, worker: Worker, topic: str, first: int) -> None:
        self._worker, self._topic, self._first = worker, topic, first
        self._number, self._last = 0, time.monotonic()

    def __call__(self, number: int) -> None:
        self._number += number
        if time.monotonic() - self._last > _TELL:
            self._worker.log_event(self._topic, {"first": self._first, "toys": self._number})
            self._number, self._last = 0, time.monotonic()


def prepare(name: str) -> float:
    """As a task: build the features of this worker's bench."""
    bench = _bench(name)
    return bench.prepare() if bench.is_ours else 0.0


def batch(name: str, task: Task, first: int, size: int) -> Delivery:
    """As a task: toys at this worker's bench, or why there are none.

    Errors that Lanner raises on purpose come back as values: raised, Dask would bring some of them under another name.
    """
    bench = _bench(name)
    found: Batch | LannerError | None = None
    try:
        if bench.is_ours:
            found = bench.batch(task, first, size)
    except LannerError as error:
        found = type(error)(str(error))
    except MemoryError:
        found = MemoryBudgetError(f"worker {bench.address} ran out of memory: give the workers more, or fewer centres")
    return Delivery(bench.address, Maker.here(), found)


def _bench(name: str) -> Bench:
    plugin: Any = get_worker().plugins[name]
    assert isinstance(plugin.bench, Bench)
    return plugin.bench
