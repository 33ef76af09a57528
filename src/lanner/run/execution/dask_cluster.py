"""A Dask cluster to work with: one that is running, or processes on this machine for the occasion."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import Any

from lanner._util.progress import waiting
from lanner.errors import ClusterError, InputError
from lanner.run.execution.delivery import check_workers

CONNECT = 30.0  # seconds to wait for an answer


@contextmanager
def connected(scheduler: str, *, tls: tuple[str | None, str | None, str | None]) -> Iterator[Any]:
    """A client of a running scheduler, with the PEM files of its authority, of a certificate and of a key, if any."""
    distributed = _distributed()
    security = None
    if any(tls):
        security = distributed.Security(
            require_encryption=True,
            tls_ca_file=tls[0],
            tls_client_cert=tls[1],
            tls_client_key=tls[2],
        )
    try:
        with waiting(f"the Dask scheduler at {scheduler} to answer, at most {CONNECT:g} s"):
            _greet(scheduler, security or distributed.Security())
            client = distributed.Client(scheduler, security=security, timeout=CONNECT, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise ClusterError(
            f"no scheduler answers at {scheduler} ({_in_one_line(error)}); give the address that `dask scheduler` "
            "shows, and the TLS files if it asks for them"
        ) from error
    with client:
        yield client


def _greet(scheduler: str, security: Any) -> None:
    """Have a scheduler answer in time. A client would wait for ever for one that takes the connection and is silent."""
    comm: Any = importlib.import_module("distributed.comm")
    core: Any = importlib.import_module("distributed.core")

    async def greet() -> None:
        arguments = security.get_connection_args("client")
        (await comm.connect(core.coerce_to_address(scheduler), timeout=CONNECT, **arguments)).abort()

    with ThreadPoolExecutor(1) as other:  # a notebook has a loop of its own in this thread
        try:
            other.submit(asyncio.run, asyncio.wait_for(greet(), CONNECT)).result()
        except TimeoutError:
            raise TimeoutError(f"nothing was heard for {CONNECT:g} s") from None


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """A client of processes on this machine, closed to everyone else: on the loopback, with keys made for the occasion.

    The loopback alone would not do: every user of a machine reaches it, and who reaches a scheduler runs code.
    """
    distributed = _distributed()
    import dask

    settings = {
        "distributed.worker.memory.spill": False,  # there is nothing to spill but the features themselves
        "distributed.worker.memory.target": False,
        "distributed.worker.profile.enabled": False,  # which would look at every worker a hundred times a second
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }
    with dask.config.set(settings):
        # Workers are started by a thread that inherits what it is deaf to, and inherit it in turn: a Ctrl-C at the
        # terminal is for this process, which ends them.
        with _without_interrupts(), waiting(f"{workers} workers to start on this machine"):
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                protocol="tls://",
                security=distributed.Security.temporary(),
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
        with ExitStack() as ending, cluster, distributed.Client(cluster, set_as_default=False) as client:
            try:
                yield client
            finally:
                ending.enter_context(waiting("the workers on this machine to end"))


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """A Ctrl-C waits until this is over. Threads and processes that are started meanwhile never see one."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # which would otherwise start with the first process, and open its thread's ears
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def lost() -> ClusterError:
    """What is said when the scheduler does not answer any more."""
    return ClusterError(
        "the connection to the Dask scheduler is lost; toys that were stored are safe, and the same command goes on "
        "from them, with this executor or another"
    )


def result_of(future: Any, *, over: str, remedy: str, timeout: float | None = None) -> Any:
    """What a task returned, or an error that says what became of the workers, or of the connection to them."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        with waiting(f"the result of a {over} from the Dask workers"):
            return future.result(timeout=timeout)
    except KilledWorker as error:
        raise ClusterError(
            f"{error.allowed_failures + 1} workers died over the same {over}, the last at "
            f"{error.last_worker.address}: most likely they have too little memory. Give each of them more (dask "
            f"worker --memory-limit), {remedy}"
        ) from error
    except (CancelledError, TimeoutError, OSError) as error:
        raise lost() from error
    except Exception as error:
        check_workers(future.client)  # one that has no Lanner, or another, fails in ways of its own
        if "deserialization of the task graph" in str(error):
            raise ClusterError(
                f"the Dask scheduler at {future.client.scheduler.address} cannot read what it is sent: install the "
                "same Lanner for it as for this process and the workers, start it again, and run the same command"
            ) from error
        raise


def _in_one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def cores_here() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError("the Dask executor needs the package `distributed`: pip install 'lanner[dask]'") from None
    return distributed
