"""Toys on a Dask cluster: the same as here, whatever happens to the workers. The processes are real."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest

import lanner
from lanner._util.progress import shown
from lanner.errors import ClusterError, InputError, MemoryBudgetError
from lanner.run.execution import dask as cluster
from lanner.run.execution import dask_cluster
from lanner.run.execution.dask_cluster import local_cluster
from tests.conftest import exponential

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'lanner[dask]'")

# Tornado and asyncio warn of sockets that a killed process leaves half closed.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

TOYS = 96
FIT: dict[str, Any] = {
    "statistic": "likelihood-ratio",
    "width": 0.5,
    "penalty": 1e-5,
    "centers": 100,
    "seed": 3,
    "memory": "2 GB",
}


@pytest.fixture(scope="module")
def samples():
    return exponential(6000, 310, seed=7)


@pytest.fixture(scope="module")
def here(samples):
    return lanner.search(*samples, expected=300, toys=TOYS, **FIT)


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as client:
        yield client


def same_toys(one, other):
    """The same toys by the same fits: t to the solver's tolerance, and the same count."""
    np.testing.assert_allclose(one.null.statistics, other.null.statistics, atol=0.01)
    assert one.p_value == other.p_value
    assert one.empirical.exceedances == other.empirical.exceedances


def stored(folder):
    return len(list((folder / "toys").glob("batch-*.npz")))


def test_two_workers_make_the_same_toys(samples, here, client):
    seen = []
    there = lanner.search(
        *samples,
        expected=300,
        toys=TOYS,
        executor=lanner.Dask(client=client),
        progress=lambda done, total: seen.append((done, total)),
        **FIT,
    )
    same_toys(here, there)
    assert seen[-1] == (TOYS, TOYS)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_one_worker_of_our_own_makes_the_same_toys_of_the_default_search(samples):
    options: dict[str, Any] = {"expected": 300, "toys": 300, "centers": 100, "seed": 3, "memory": "2 GB"}
    same_toys(lanner.search(*samples, **options), lanner.search(*samples, executor=lanner.Dask(workers=1), **options))


def test_a_run_begun_here_is_finished_by_dask_and_the_other_way_round(samples, here, client, tmp_path):
    executors: dict[str, Any] = {"local": "local", "dask": lanner.Dask(client=client)}
    for first, second in (("local", "dask"), ("dask", "local")):
        folder = tmp_path / first
        lanner.search(*samples, expected=300, toys=32, output=folder, executor=executors[first], **FIT)
        early = {p.name: p.stat().st_mtime_ns for p in (folder / "toys").glob("batch-*.npz")}
        finished = lanner.search(*samples, expected=300, toys=TOYS, output=folder, executor=executors[second], **FIT)
        same_toys(here, finished)
        assert early
        assert all((folder / "toys" / name).stat().st_mtime_ns == when for name, when in early.items())


def test_power_on_dask(samples, client):
    reference, signal = samples[0], np.random.default_rng(1).normal(3, 0.1, size=(500, 1))
    options: dict[str, Any] = {"expected": 300, "signal_events": [20.0], "toys": 64, "experiments": 32, **FIT}
    here = lanner.power(reference, signal, **options)
    there = lanner.power(reference, signal, executor=lanner.Dask(client=client), **options)
    np.testing.assert_allclose(here.strengths[0].statistics, there.strengths[0].statistics, atol=0.01)


def test_a_worker_killed_in_the_middle_costs_nothing(samples, here, tmp_path):
    options: dict[str, Any] = {"expected": 300, "output": tmp_path, **FIT}
    lanner.search(*samples, toys=16, **options)  # makes it a store of batches of 16
    with local_cluster(2) as client:
        killed: list[Any] = []

        def kill(done, total):
            if done >= 32 and not killed:
                pid = next(iter(client.run(os.getpid).values()))
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

        found = lanner.search(
            *samples,
            toys=TOYS,
            executor=lanner.Dask(client=client),
            progress=lambda done, total: threading.Thread(target=kill, args=(done, total)).start(),
            **options,
        )
        same_toys(here, found)
        assert killed
        assert not psutil.pid_exists(killed[0]) or psutil.Process(killed[0]).status() == psutil.STATUS_ZOMBIE


def wait_for(port: int, seconds: float = 60.0) -> None:
    """Until somebody listens: on a busy machine a scheduler takes longer to start than a client waits for it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)


@contextmanager
def processes(tmp_path, *worker_options, scheduler_options=(), worker_path=None):
    """A scheduler and a worker, started as anybody would."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {"cwd": tmp_path, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    protocol = "tls" if scheduler_options else "tcp"
    address = f"{protocol}://127.0.0.1:{port}"
    scheduler = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "distributed.cli.dask_scheduler",
            "--host",
            address,
            "--no-dashboard",
            *scheduler_options,
        ],
        **quiet,
    )
    worker = subprocess.Popen(
        [
            sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--host", "127.0.0.1",
            "--no-dashboard", *worker_options, *scheduler_options,
        ],
        env=os.environ | ({} if worker_path is None else {"PYTHONPATH": str(worker_path)}),
        **quiet,
    )  # fmt: skip
    try:
        wait_for(port)
        yield address, scheduler, worker
    finally:
        for process in (worker, scheduler):
            with suppress(psutil.NoSuchProcess):
                for child in psutil.Process(process.pid).children(recursive=True):
                    child.kill()
            process.kill()
            process.wait()


def test_a_lost_scheduler_ends_the_run_with_a_message_and_the_toys_are_kept(samples, here, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 3.0)
    options: dict[str, Any] = {"expected": 300, "output": tmp_path / "run", **FIT}
    lanner.search(*samples, toys=16, **options)  # makes it a store of batches of 16

    with processes(tmp_path) as (address, scheduler, _):

        def cut(done, total):
            if done >= 32:
                scheduler.kill()
                scheduler.wait()

        with pytest.raises(ClusterError, match=r"connection to the Dask scheduler is lost.*stored are safe"):
            lanner.search(*samples, toys=TOYS, executor=lanner.Dask(scheduler=address), progress=cut, **options)
    assert 2 <= stored(tmp_path / "run") < TOYS // 16
    same_toys(here, lanner.search(*samples, toys=TOYS, **options))
    assert stored(tmp_path / "run") == TOYS // 16


def test_a_worker_with_too_small_a_limit_says_so(tmp_path):
    rng = np.random.default_rng(1)
    reference, data = rng.normal(size=(6000, 8)), rng.normal(size=(200, 8))
    options: dict[str, Any] = {
        "expected": 200,
        "toys": 32,
        "width": 1.0,
        "penalty": 1e-9,
        "centers": 2500,
        "memory": "2 GB",
    }
    with (
        processes(tmp_path, "--memory-limit", "300MB") as (address, *_),
        pytest.raises(
            MemoryBudgetError, match=r"worker tcp://127.0.0.1:\d+ \(memory limit 300.0 MB, .* in use\).*more memory"
        ),
    ):
        lanner.search(reference, data, executor=lanner.Dask(scheduler=address), **options)


def test_workers_that_are_paused_for_lack_of_memory_end_the_run_with_a_message(samples, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_PAUSED", 1.0)
    with (
        processes(tmp_path, "--memory-limit", "40MB", "--no-nanny") as (address, *_),
        distributed.Client(address, set_as_default=False) as client,
    ):
        deadline = time.monotonic() + 60
        while {w["status"] for w in client.scheduler_info()["workers"].values()} != {"paused"}:
            assert time.monotonic() < deadline, "the worker was never paused"
            time.sleep(0.1)
        with pytest.raises(ClusterError, match=r"all 1 workers are paused.*40.0 MB.*--memory-limit"):
            lanner.search(*samples, expected=300, toys=32, executor=lanner.Dask(scheduler=address), **FIT)


def test_a_cluster_without_workers_is_waited_for_aloud(monkeypatch):
    """Until somebody joins, and only then no more."""
    monkeypatch.setattr(cluster, "_LOOK", 0.05)
    done: SimpleQueue[str] = SimpleQueue()
    found = iter([{}, {}, {"tcp://w:1": {"status": "running"}}])

    def look(n_workers):
        workers = next(found)
        if workers:
            done.put("toys")
        return {"workers": workers}

    client = SimpleNamespace(scheduler_info=look, scheduler=SimpleNamespace(address="tcp://s:8786"))
    seen = []
    with shown(lambda what, done, total: seen.append((what, done))):
        assert cluster._next(client, done) == "toys"
    words = "waiting for workers to join the Dask scheduler at tcp://s:8786"
    assert seen == [(words, 0), (words, 1)]


@pytest.mark.parametrize("halted", ["scheduler", "worker"])
def test_processes_that_are_halted_are_waited_for_aloud(samples, here, tmp_path, halted):
    """They are there and say nothing; let go, the run ends as any other."""
    with processes(tmp_path) as (address, scheduler, worker):
        process = psutil.Process({"scheduler": scheduler, "worker": worker}[halted].pid)
        seen: list[str] = []
        everyone: list[psutil.Process] = []

        def tell(what, done, total):
            seen.append(what)
            if what == "planning":
                for one in everyone:
                    one.suspend()
            elif what.startswith("waiting for"):
                for one in everyone:
                    one.resume()

        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
            everyone += [process, *process.children(recursive=True)]  # those that a worker starts are there by now
            found = lanner.search(
                *samples, expected=300, toys=TOYS, executor=lanner.Dask(client=client), progress=tell, **FIT
            )
    same_toys(here, found)
    words = {
        "scheduler": f"the Dask scheduler at {address} to answer",
        "worker": "the workers of the Dask scheduler at",
    }
    assert any(said.startswith(f"waiting for {words[halted]}") for said in seen)


def test_workers_that_die_of_the_work_end_the_run_with_a_message(tmp_path):
    def deadly(n, rng):
        if n != 100:  # a toy, and not the candidate centres
            os.kill(os.getpid(), signal.SIGKILL)
        return rng.exponential(1 / 8, (n, 1))

    options: dict[str, Any] = {"expected": 100, "toys": 16, "width": 0.5, "penalty": 1e-5, "centers": 100, "seed": 1}
    with local_cluster(1) as client, pytest.raises(ClusterError, match=r"4 workers died.*too little memory"):
        lanner.search(*_small(), null="generator", generator=deadly, executor=lanner.Dask(client=client), **options)


def test_a_cluster_of_our_own_listens_on_the_loopback_alone_and_encrypted(client):
    ours = [psutil.Process(), *psutil.Process().children(recursive=True)]
    listening = [c.laddr for p in ours for c in p.net_connections("inet") if c.status == psutil.CONN_LISTEN]
    assert listening
    assert {address.ip for address in listening} == {"127.0.0.1"}
    assert client.scheduler.address.startswith("tls://127.0.0.1")
    with pytest.raises(ClusterError, match="no scheduler answers"):
        lanner.search(
            *_small(), expected=100, toys=20, executor=lanner.Dask(scheduler=client.scheduler.address, workers=None)
        )


def test_tls_files_are_passed_on(samples, here, tmp_path):
    keys = distributed.Security.temporary()
    files = {}
    for name in ("tls_ca_file", "tls_worker_cert", "tls_worker_key"):
        path = tmp_path / f"{name}.pem"
        path.write_text(getattr(keys, name))
        files[name] = str(path)
    ca, cert, key = files.values()
    tls = ("--tls-ca-file", ca, "--tls-cert", cert, "--tls-key", key)
    with processes(tmp_path, scheduler_options=tls) as (address, *_):
        executor = lanner.Dask(scheduler=address, tls_ca=ca, tls_cert=cert, tls_key=key)
        same_toys(here, lanner.search(*samples, expected=300, toys=TOYS, executor=executor, **FIT))


def test_nobody_at_the_address(monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT", 2.0)
    with pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127.0.0.1:9"):
        lanner.search(*_small(), expected=100, toys=20, executor=lanner.Dask(scheduler="tcp://127.0.0.1:9"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers=0"),
        ({"threads": -1}, "threads=-1"),
        ({"tls_ca": "ca.pem"}, "give its address too"),
        ({"scheduler": "tls://x:1", "tls_ca": "missing.pem"}, "not a file"),
        ({"scheduler": "tcp://x:1", "workers": 3}, "leave it out"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        lanner.Dask(**options)


def test_an_unknown_executor_is_refused():
    with pytest.raises(InputError, match="'local' or 'dask'"):
        lanner.search(*_small(), expected=100, toys=20, executor="slurm")


def test_without_dask_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'lanner\[dask\]'"):
        lanner.search(*_small(), expected=100, toys=20, executor="dask")


def _small():
    return exponential(2000, 100)
