"""One seed a run; every use of it has a stream of its own, every toy its own place in the stream.

So results do not depend on batch size, on the number of workers, or on how often a run was resumed.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """What random numbers are for. The numbers are part of what a stored toy means: never change them."""

    CENTERS = 0
    TOYS = 1
    DATA = 2
    PIVOTS = 3
    WIDTH = 4
    CALIBRATION = 5
    TUNING = 6
    POWER = 7
    BUNCHES = 8
    ACCEPTED = 9
    AUXILIARY = 10
    NETWORK = 11
    MONITOR = 12


def rng_of(seed: int, stream: Stream, *place: int) -> np.random.Generator:
    """The random numbers of one toy (or other place) of a stream."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(stream), *place)))
