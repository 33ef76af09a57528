"""A reference whose rows are read by the workers of a cluster."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.events.spread import InTurn, read_by, spread

pytest.importorskip("distributed")

from lanner.run.execution.dask_cluster import local_cluster

DATA = np.random.default_rng(2).normal(size=(300, 2))
HOW: dict[str, Any] = {"expected": 300, "toys": 120, "seed": 1, "progress": False}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("reference")
    events = np.random.default_rng(1).normal(size=(30_000, 2))
    for k, part in enumerate(np.split(events, 6)):
        np.save(folder / f"{k}.npy", part)
    return folder


def in_memory(files: Path) -> np.ndarray:
    return np.vstack([np.load(file) for file in sorted(files.glob("*.npy"))])


def test_workers_find_the_same_bits_as_this_process_and_the_same_p_as_in_memory(files: Path) -> None:
    source = spread(files / "*.npy")
    here = lanner.search(source, DATA, **HOW)
    there = lanner.search(source, DATA, executor=lanner.Dask(workers=2), **HOW)
    assert (there.statistic, there.p_value) == (here.statistic, here.p_value)
    truth = lanner.search(in_memory(files), DATA, **HOW)
    assert there.p_value == truth.p_value
    assert there.statistic == pytest.approx(truth.statistic, rel=1e-5)
    assert there.reference_total == truth.reference_total == 30_000


def slow_sum(features: np.ndarray) -> np.ndarray:
    time.sleep(0.5)
    return features.sum(axis=0)


def added(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b


def test_a_worker_that_is_killed_changes_nothing(files: Path) -> None:
    source = spread(files / "*.npy")
    works = [slow_sum] * len(source.parts)
    truth = InTurn().reduced(source, works, added)
    with local_cluster(2) as client:
        pids = list(client.run(os.getpid).values())
        with lanner.Dask(client=client).rows() as mapper:
            killer = threading.Timer(0.8, os.kill, (pids[0], signal.SIGKILL))
            killer.start()
            found = mapper.reduced(source, works, added)
            killer.join()
    np.testing.assert_array_equal(found, truth)


def test_errors_of_a_part_come_back_as_they_are(tmp_path: Path) -> None:
    np.save(tmp_path / "0.npy", np.zeros((10, 2)))
    np.save(tmp_path / "1.npy", np.full((10, 2), np.nan))
    source = spread(tmp_path / "*.npy")
    with local_cluster(1) as client, lanner.Dask(client=client).rows() as mapper:
        with pytest.raises(InputError, match=r"1\.npy.*NaN"):
            read_by(source, mapper)
        with pytest.raises(InputError, match=r"1\.npy.*NaN"):
            mapper.reduced(source, [slow_sum] * 2, added)
