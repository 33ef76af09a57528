"""Toy streams: batches that share a reference, as real ones do, judged alone and in windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lanner.inference.seeds import Stream, rng_of
from lanner.monitor.null import BatchNull
from lanner.monitor.toys import SMALLEST, Sizes, Sums, ToyMaker
from lanner.monitor.yardstick import Halves, Yardstick
from lanner.typing import Array

_PLACE = 3  # of the random numbers


def toy_streams(
    yardstick: Yardstick,
    halves: Halves,
    null: BatchNull,
    *,
    batch: float,
    windows: Sequence[int],
    streams: int,
    length: int,
    seed: int,
    told: Callable[[float], None] | None = None,
) -> dict[int, Array]:
    """log p of batches and of windows that end with them, (streams, length), by the number of batches in a window.

    Batches have the size of toys that is closest to `batch`. A window that is not full yet has a p of 1.
    """
    step = max(0, round(np.log2(max(batch, SMALLEST) / SMALLEST)))
    size, number = Sizes(step).all[-1], streams * length
    world = np.repeat(np.arange(streams), length)
    lengths = (1, *windows)
    found: dict[int, list[Array]] = {k: [] for k in lengths}
    strengths = rng_of(seed, Stream.MONITOR, 5).standard_normal((streams, length, yardstick.ways))
    for k, width in enumerate(yardstick.widths):
        maker = ToyMaker(width, halves, seed)
        shift = maker.worlds(yardstick.worth)
        for sums in maker.batches(number, step, _PLACE):
            toys = sums
        mean = toys.mean(axis=0, dtype=np.float64) / size
        for j, many in enumerate(lengths):
            joined = _joined(toys.reshape(streams, length, -1), many).reshape(number, -1)
            of_windows = _joined(strengths, many).reshape(number, -1) / many
            found[many].append(maker.judged(joined, size * many, mean, shift, world, of_windows))
            if told is not None:
                told((k + (j + 1) / len(lengths)) / len(yardstick.widths))
    made = {}
    for many in lengths:
        log_p, _, _ = null.log_p(np.vstack(found[many]), np.full(number, float(size * many)))
        log_p = log_p.reshape(streams, length)
        log_p[:, : many - 1] = 0.0
        made[many] = log_p
    return made


def _joined(toys: Sums, many: int) -> Sums:
    """Sums over windows that end with each batch; the first, which are not full, hold what they are given."""
    if many == 1:
        return toys
    found = toys.copy()
    for back in range(1, many):
        found[:, back:] += toys[:, :-back]
    return found
