"""Sums over the rows of a large matrix, block by block, on all cores, in a fixed order.

Each thread takes whole blocks through matrix products *and* elementwise work, with BLAS itself held to
one thread. That keeps a block in cache between the two products of an iteration and puts the elementwise
part, which BLAS would leave to one core, on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import TypeVar

import numpy as np

from lanner._util.machine import worker_threads
from lanner.model.backend import NUMPY, Arrays, Values

S = TypeVar("S")
T = TypeVar("T")

# Partial sums are kept by segment, not by thread, and added in order: the result then depends neither on
# the number of threads nor on which of them was faster.
SEGMENTS = 16


def blocks(n: int, size: int) -> list[slice]:
    """Slices of at most `size` rows that cover n rows.

    >>> blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def sum_over_rows(
    n: int, size: int, block_sums: Callable[[slice], Sequence[Values]], arrays: Arrays = NUMPY
) -> tuple[Values, ...]:
    """Add up `block_sums(rows)` over blocks of at most `size` of the n rows, in double precision."""
    work = blocks(n, size)
    segments = [work[s.start : s.stop] for s in blocks(len(work), -(-len(work) // SEGMENTS))]

    def add(total: tuple[Values, ...], more: Sequence[Values]) -> tuple[Values, ...]:
        for t, m in zip(total, more, strict=True):
            t += m
        return total

    def segment_sums(segment: list[slice]) -> tuple[Values, ...]:
        total: tuple[Values, ...] | None = None
        for rows in segment:
            part = block_sums(rows)
            total = tuple(_double(arrays, p) for p in part) if total is None else add(total, part)
        assert total is not None  # every segment has at least one block
        return total

    return reduce(add, _map(segment_sums, segments, arrays))


def _double(arrays: Arrays, x: Values) -> Values:
    """A copy, to add to."""
    return np.array(x, dtype=np.float64) if arrays.xp is np else arrays.xp.astype(x, arrays.xp.float64)


def for_rows(n: int, size: int, do: Callable[[slice], None], arrays: Arrays = NUMPY) -> None:
    """Call `do(rows)` for blocks of at most `size` of the n rows, on all cores."""
    for _ in _map(do, blocks(n, size), arrays):
        pass


def in_parallel(do: Callable[[T], S], work: Sequence[T], *, together: int = 1) -> list[S]:
    """`do` for each piece of work, in order, on all cores, `together` pieces at a time.

    >>> in_parallel(abs, [-1, 2, -3], together=2)
    [1, 2, 3]
    """
    found = _map(lambda rows: [do(w) for w in work[rows]], blocks(len(work), together))
    return [one for some in found for one in some]


def _map(do: Callable[[T], S], work: Sequence[T], arrays: Arrays = NUMPY) -> Iterator[S]:
    """`do` for each piece, in order, on all cores; without threads where they would only cost."""
    if not arrays.threaded:
        yield from map(do, work)
        return
    with worker_threads() as workers:
        if workers == 1 or len(work) == 1:
            yield from map(do, work)
        else:
            with ThreadPoolExecutor(workers) as pool:
                yield from pool.map(do, work)
