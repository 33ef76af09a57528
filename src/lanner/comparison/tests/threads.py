"""Threads where there is work for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def threads_if(worth_it: bool) -> Iterator[None]:
    """One thread for OpenMP (scikit-learn, torch) where there is little to do: several would wait for each other."""
    if worth_it:
        yield
        return
    with threadpool_limits(1, user_api="openmp"):
        yield
