"""Memory to plan with and threads to work with."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from lanner._util import machine
from lanner._util.machine import megabytes, memory_budget, require_memory, worker_threads
from lanner.errors import InputError, MemoryBudgetError


@pytest.mark.parametrize(
    ("text", "size"), [("1 kB", 1e3), ("4GB", 4e9), ("2 GiB", 2**31), ("0.5 TB", 5e11), ("77", 77)]
)
def test_sizes_are_read_as_people_write_them(text: str, size: float) -> None:
    assert memory_budget(text) == size


@pytest.mark.parametrize("bad", ["lots", "4 XB", "-1 GB", 0, -5, float("nan"), float("inf")])
def test_what_is_not_a_size_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match="memory="):
        memory_budget(bad)  # type: ignore[arg-type]


def test_the_default_is_half_of_what_is_free() -> None:
    assert 0.3 * psutil.virtual_memory().available < memory_budget() < 0.6 * psutil.virtual_memory().total


@pytest.mark.skipif(os.name != "posix", reason="limits of the address space are those of Unix")
def test_a_limit_of_the_address_space_is_respected() -> None:
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import resource, psutil; from lanner._util.machine import memory_budget; "
            "used = psutil.Process().memory_info().vms; "
            "resource.setrlimit(resource.RLIMIT_AS, (used + 10**9, used + 10**9)); print(memory_budget())",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert 0.4e9 < int(told.stdout) <= 0.5e9


def test_too_small_a_budget_says_what_is_needed() -> None:
    with pytest.raises(MemoryBudgetError, match=r"the matrix needs 3\.00 GB, but the memory budget is 1\.0 MB"):
        require_memory(3e9, 1e6, "the matrix")


def test_workers_follow_blas_and_blas_follows_the_workers() -> None:
    def blas_threads() -> list[int]:
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    np.ones((4, 4)) @ np.ones((4, 4))
    before = blas_threads()
    with threadpool_limits(1), worker_threads() as workers:
        assert workers == 1
    with worker_threads() as workers:
        assert workers == max(before) <= (os.cpu_count() or 1)
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_fits_in_several_threads_leave_blas_as_it_was() -> None:
    np.ones((4, 4)) @ np.ones((4, 4))
    before = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
    start = Barrier(8)

    def fit(_: int) -> int:
        start.wait()
        for _ in range(50):
            with worker_threads() as workers:
                pass
        return workers

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(fit, range(8))) == {max(before)}
    assert [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"] == before


def test_a_budget_that_is_enough_passes_in_silence() -> None:
    require_memory(1e6, 1e6, "the matrix")


def test_the_budget_that_is_proposed_is_enough() -> None:
    with pytest.raises(MemoryBudgetError) as refused:
        require_memory(123_456_789, 1, "the matrix")
    proposed = re.search(r"memory='(.*?)'", str(refused.value))
    assert proposed is not None
    require_memory(123_456_789, memory_budget(proposed[1]), "the matrix")


@given(st.integers(1, 10**15))
def test_sizes_for_people_are_right_to_their_last_digit(size: int) -> None:
    number, unit = megabytes(size).split()
    digit, scale = {"MB": (0.1, 1e6), "GB": (0.01, 1e9)}[unit]
    assert abs(float(number) * scale - size) <= 0.51 * digit * scale
    assert (unit == "GB") == (size >= 1e9)


@given(st.integers(1, 10**9), st.sampled_from(["", " "]), st.sampled_from(["kB", "MB", "GB", "KiB", "MiB"]))
def test_units_are_powers_of_ten_or_of_two(number: int, blank: str, unit: str) -> None:
    base, power = (1024, "KMG") if "i" in unit else (1000, "kMG")
    assert memory_budget(f"{number}{blank}{unit}") == number * base ** (1 + power.index(unit[0]))


def test_a_limit_of_the_batch_system_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (("memory.max", str(2**30)), ("memory.current", str(2**29))):
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(machine, "Path", lambda path: tmp_path / Path(path).name)
    assert memory_budget() <= 2**28


def test_threads_are_given_back_after_an_error() -> None:
    np.ones((4, 4)) @ np.ones((4, 4))
    before = threadpool_info()
    with pytest.raises(KeyError), worker_threads():
        raise KeyError
    assert threadpool_info() == before
