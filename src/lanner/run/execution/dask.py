"""`Dask`: toys made by the workers of a Dask cluster, on this machine or anywhere.

The samples and the plan go to each worker once, when it joins; it builds the features and keeps them. After that only
the numbers of toys go out, and their statistics come back. This process alone writes the store.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from lanner._util.machine import megabytes
from lanner._util.progress import waiting
from lanner.errors import ClusterError, InputError
from lanner.events.spread import RowMapper
from lanner.run.execution.dask_cluster import CONNECT, connected, cores_here, local_cluster, lost, result_of
from lanner.run.execution.dask_rows import DaskRows
from lanner.run.execution.delivery import check_workers, taken
from lanner.run.execution.encryption import warn_if_open
from lanner.run.execution.local import Preparable, Task, Told, Workers
from lanner.run.fingerprint import Maker
from lanner.run.toy_store import Batch
from lanner.typing import Progress

_AHEAD = 2  # batches handed out for each worker: one that it works on and one that waits
_LOOK = 2.0  # seconds between looks at whether there are still workers
_PAUSED = 10.0  # seconds after which workers that are paused for lack of memory are given up


@dataclass(frozen=True)
class Dask:
    """A Dask cluster to make toys on.

    Parameters
    ----------
    scheduler : str, optional
        The address of a running scheduler, such as "tls://login1:8786". Default: a cluster of processes on this
        machine, which listens on the loopback alone, encrypted, and ends with the search.
    workers : int, optional
        The number of those processes. Default: one for each core.
    threads : int, optional
        Threads that each worker uses. Default: as many as Dask gave it, or, of a cluster of our own, its share of the
        cores.
    tls_ca : str, optional
        PEM file of the authority that signed the scheduler's key. Default: that of Dask's own configuration, if any.
    tls_cert : str, optional
        PEM file of your certificate. Default: as above.
    tls_key : str, optional
        PEM file of your key. Default: as above.
    client : distributed.Client, optional
        A client that is connected already, instead of all that.

    Raises
    ------
    InputError
        If a number is below 1, a file is missing, or settings contradict each other.

    Examples
    --------
    >>> import lanner
    >>> lanner.Dask(workers=2)
    Dask(scheduler=None, workers=2, threads=None, tls_ca=None, tls_cert=None, tls_key=None, client=None)
    """

    scheduler: str | None = None
    workers: int | None = None
    threads: int | None = None
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    client: Any = None

    def __post_init__(self) -> None:
        for name in ("workers", "threads"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise InputError(f"{name}={value!r}: give a number of {name}, such as 2")
        files = {"tls_ca": self.tls_ca, "tls_cert": self.tls_cert, "tls_key": self.tls_key}
        if self.scheduler is None and any(files.values()):
            raise InputError("the TLS files are for a scheduler: give its address too, such as tls://host:8786")
        if self.workers is not None and (self.scheduler is not None or self.client is not None):
            raise InputError(f"workers={self.workers}: a running cluster has its own; leave it out")
        for name, path in files.items():
            if path is not None and not os.path.isfile(path):
                raise InputError(f"{name}={path!r} is not a file; give the PEM file that the scheduler asks for")

    @contextmanager
    def start(self, recipe: Preparable, *, memory: int, progress: Progress | None = None) -> Iterator[Workers]:
        """Connect, and have the workers begin with the features while this process builds its own.

        Parameters
        ----------
        recipe : Preparable
            What every worker prepares once: samples and plans.
        memory : int
            Bytes that the processes of a cluster of our own may use together; a running cluster has limits of its own.
        progress : callable, optional
            Called with what is being prepared here, how much of it is done and how much there is.

        Yields
        ------
        Workers
            Whoever makes the toys, until the block ends.

        Raises
        ------
        ClusterError
            If no scheduler answers.
        InputError
            If the package `distributed` is not installed.
        """
        budget, threads = None, self.threads  # of each worker: of a running cluster its own
        if self._is_own:
            cores = cores_here()
            number = self.workers or cores
            budget = memory = memory // (number + 1)  # for each worker, and for this process
            threads = self.threads or max(1, cores // number)
        with self._checked() as client, _benches(client, recipe, budget, threads) as name:
            yield _DaskWorkers(client, name, recipe.prepare(memory, progress))

    @contextmanager
    def rows(self) -> Iterator[RowMapper]:
        """Connect, to have the workers read a reference that is left in its files.

        Yields
        ------
        RowMapper
            Whoever reads the parts, until the block ends.

        Raises
        ------
        ClusterError
            If no scheduler answers.
        InputError
            If the package `distributed` is not installed.
        """
        with self._checked() as client:
            yield DaskRows(client, wait=partial(_next, client), threads=lambda: max(1, _threads(client)))

    @property
    def _is_own(self) -> bool:
        """Whether the cluster is made for the occasion."""
        return self.client is None and self.scheduler is None

    @contextmanager
    def _checked(self) -> Iterator[Any]:
        """A client of workers that run the code of this process; those who join later are known by what they send."""
        with self._connected() as client:
            warn_if_open([client.scheduler.address, *_workers(client)])
            with waiting(f"the workers of the Dask scheduler at {_address(client)} to say what they run"):
                check_workers(client)
            yield client

    def _connected(self) -> AbstractContextManager[Any]:
        if self._is_own:
            return local_cluster(self.workers or cores_here())
        if self.client is not None:
            return nullcontext(self.client)
        assert self.scheduler is not None
        return connected(self.scheduler, tls=(self.tls_ca, self.tls_cert, self.tls_key))


@contextmanager
def _benches(client: Any, recipe: Preparable, memory: int | None, threads: int | None) -> Iterator[str]:
    """A bench in every worker that is there or joins later; its name."""
    from lanner.run.execution.dask_worker import Bench, portable, portable_task, prepare

    name = f"lanner-{uuid.uuid4().hex[:12]}"
    with waiting(f"the workers of the Dask scheduler at {_address(client)} to take the samples"):
        client.register_plugin(portable(Bench(name, recipe, memory, threads, Maker.here())), name=name)
    try:
        # Those who are there begin with the features at once; what goes wrong is told by the toys.
        features, packed = portable_task(prepare)
        begun = [
            client.submit(features, name, packed, workers=[worker], pure=False, key=f"{name}-features-{worker}")
            for worker in _workers(client)
        ]
        yield name
        del begun  # until here: Dask forgets a task that nobody waits for
    finally:
        if client.status == "running":  # otherwise nobody would answer
            with suppress(Exception), waiting("the Dask workers to clear their benches"):
                client.unregister_worker_plugin(name)


class _DaskWorkers:
    """The workers of a cluster, seen from the process that asks for toys."""

    def __init__(self, client: Any, name: str, prepared: Any) -> None:
        self._client, self._name = client, name
        self.prepared = prepared

    @property
    def number(self) -> int:
        """How many workers there are now, or one that is still to come."""
        return max(1, len(_workers(self._client)))

    def batches(self, task: Task, firsts: Iterator[int], size: int, told: Told) -> Iterator[Batch]:
        """The batches, as they are finished. Of a worker that dies, Dask gives the batch to another."""
        from lanner.run.execution.dask_worker import batch, portable_task

        client, done = self._client, SimpleQueue[Any]()
        pending: dict[Any, int] = {}
        client.subscribe_topic(self._name, lambda event: _progress(event, told))
        try:
            more = True
            while more or pending:
                while more and len(pending) < _AHEAD * self.number:
                    first = next(firsts, None)
                    if first is None:
                        more = False
                        break
                    toys, packed = portable_task(batch, task, first, size)
                    key = f"{self._name}-toys-{uuid.uuid4().hex}"
                    future = client.submit(toys, self._name, packed, pure=False, key=key)
                    pending[future] = first
                    future.add_done_callback(done.put)
                if pending:
                    finished = _next(client, done)
                    pending.pop(finished)
                    yield self._result(finished)
        finally:
            if client.status == "running":
                with suppress(Exception):
                    client.cancel(list(pending))
                    client.unsubscribe_topic(self._name)

    def _result(self, future: Any) -> Batch:
        found = result_of(
            future,
            over="batch of toys",
            remedy="or use fewer centres; toys that were stored are safe, and the same command goes on from them",
            timeout=CONNECT,
        )
        return taken(found, self._client, future)


def _next(client: Any, done: SimpleQueue[Any]) -> Any:
    """The next finished future."""
    paused_since, had_workers = None, True
    with ExitStack() as alone:
        while True:
            try:
                return done.get(timeout=_LOOK)
            except Empty:
                workers = _workers(client)
            if workers:
                alone.close()
            elif had_workers:
                alone.enter_context(waiting(f"workers to join the Dask scheduler at {_address(client)}", after=0))
            had_workers = bool(workers)
            if not (workers and all(map(_paused, workers.values()))):
                paused_since = None
                continue
            paused_since = paused_since or time.monotonic()
            if time.monotonic() - paused_since >= _PAUSED:
                limits = sorted({megabytes(w["memory_limit"]) for w in workers.values()})
                raise ClusterError(
                    f"all {len(workers)} workers are paused, because they use more than Dask lets them of their memory "
                    f"limit ({', '.join(limits)}): give each of them more (dask worker --memory-limit); toys that were "
                    "stored are safe, and the same command goes on from them"
                )


def _address(client: Any) -> str:
    return str(client.scheduler.address) if client.scheduler is not None else "an unknown address"


def _threads(client: Any) -> int:
    """How many tasks the workers do at the same time."""
    return sum(int(worker["nthreads"]) for worker in _workers(client).values())


def _workers(client: Any) -> dict[str, Any]:
    """What the scheduler knows of its workers, by address."""
    try:
        with waiting(f"the Dask scheduler at {_address(client)} to answer"):
            return dict(client.scheduler_info(n_workers=-1)["workers"])
    except (KeyError, OSError, RuntimeError) as error:
        raise lost() from error


def _progress(event: tuple[Any, dict[str, Any]], told: Told) -> None:
    _, message = event
    told(int(message["first"]), int(message["toys"]))


def _paused(worker: dict[str, Any]) -> bool:
    """Whether a worker takes no tasks for lack of memory, and has none under way that could free some."""
    return worker.get("status") == "paused" and not worker.get("metrics", {}).get("executing")
