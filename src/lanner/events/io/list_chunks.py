"""Chunks of events with lists: how many numbers an event has is only known when it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lanner.events.io.table import FEWEST, Chunk, rows_per_chunk
from lanner.events.lists import Lists


def end_of_chunk(blocks: NDArray[np.int64], start: int, rows: int, step: int) -> int:
    """Return where a chunk of at most `step` rows ends: with a block of the file where there is one.

    >>> end_of_chunk(np.array([0, 40, 80, 100]), 0, 100, 50)
    40
    """
    furthest = int(blocks[np.searchsorted(blocks, start + step, side="right") - 1])
    return furthest if furthest > start else min(start + step, rows)


def growing_chunks(
    read: Callable[[int, int], Chunk], offsets: Sequence[int], rows: int, size: int, width: float
) -> Iterator[Chunk]:
    """Yield chunks of at most `size` bytes, of events of about `width` numbers.

    A width of 0 says that nothing is known, and a few events are read to learn it. Events may have more than those
    before: the next chunk is shorter then, and the one that came out too large is cut.
    """
    blocks: NDArray[np.int64] = np.unique([*offsets, rows])
    start = 0
    if not width and rows:
        width = numbers_per_event(read(0, min(rows, FEWEST)))
    while start < rows:
        stop = end_of_chunk(blocks, start, rows, rows_per_chunk(size, width))
        chunk = read(start, stop)
        width = max(width, numbers_per_event(chunk))
        yield from pieces(chunk, size)
        start = stop


def numbers_per_event(chunk: Chunk) -> float:
    """Return how many numbers the events of a chunk have on average, with where their lists begin."""
    return float(_numbers(chunk).mean()) if len(next(iter(chunk.values()))) else 0.0


def _numbers(chunk: Chunk) -> NDArray[np.int64]:
    found = sum((column.counts + 1 if isinstance(column, Lists) else 1) for column in chunk.values())
    return np.broadcast_to(np.asarray(found, dtype=np.int64), len(next(iter(chunk.values()))))


def pieces(chunk: Chunk, size: int) -> Iterator[Chunk]:
    """Cut a chunk so that no piece has more bytes than `size`, if its numbers were float64; an event stays whole.

    >>> chunk = {"a": Lists(np.array([0, 3, 6]), np.ones(6))}
    >>> [len(piece["a"]) for piece in pieces(chunk, 40)]
    [1, 1]
    """
    if not any(isinstance(column, Lists) for column in chunk.values()):
        yield chunk  # one number each: whoever read the chunk knew its size
        return
    ends = np.cumsum(8 * _numbers(chunk))
    start, before = 0, 0
    while start < len(ends):
        stop = max(start + 1, int(np.searchsorted(ends, before + size, side="right")))
        yield chunk if stop - start == len(ends) else _rows(chunk, slice(start, stop))
        start, before = stop, int(ends[stop - 1])


def _rows(chunk: Chunk, rows: slice) -> Mapping[str, object]:
    return {name: column[rows] for name, column in chunk.items()}
