import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import psutil
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lanner._util.machine import memory_budget, require_memory, worker_threads
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
