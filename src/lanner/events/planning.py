"""The events from which units and widths are learned: all of them, or a million taken at random of very many.

Which ones follows from their number alone, so that everybody who has the same events chooses the same.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lanner.events.sample import Sample

PLANNING_EVENTS = 1_000_000  # with so many a median is known to a thousandth of the spread


class Takeable(Protocol):
    """A sample, here or elsewhere, from which events can be taken by their places."""

    def __len__(self) -> int: ...

    def take(self, rows: NDArray[np.intp], /) -> Sample:
        """These events."""


def for_planning(sample: Takeable, most: int = PLANNING_EVENTS) -> Sample:
    """The events to learn units and widths from.

    >>> sample = Sample.of(np.arange(10.0))
    >>> for_planning(sample) is sample, len(for_planning(sample, most=4))
    (True, 4)
    """
    if type(sample) is Sample and len(sample) <= most:  # here, and few enough
        return sample
    return sample.take(planning_rows(len(sample), most))


def planning_rows(events: int, most: int = PLANNING_EVENTS) -> NDArray[np.intp]:
    """The places of these events, in rising order.

    >>> planning_rows(3).tolist(), len(planning_rows(100, most=7))
    ([0, 1, 2], 7)
    """
    if events <= most:
        return np.arange(events)
    return np.sort(np.random.default_rng(events).choice(events, most, replace=False, shuffle=False))
