"""What an analysis says of its plots: the words on the axes, and the processes that the reference is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError


@dataclass(frozen=True, eq=False)
class Look:
    """Words for axes, and of which process each reference event is.

    Parameters
    ----------
    axes : mapping of str to str, optional
        What stands on the axis of a variable in place of its name; text between two dollar signs is mathematics.
    processes : tuple of str, optional
        The names of the processes, the first at the bottom of every stack.
    process : ndarray of int, optional
        A place in `processes` for each event of the reference.
    """

    axes: Mapping[str, str] = field(default_factory=dict)
    processes: tuple[str, ...] = ()
    process: NDArray[np.intp] | None = None

    def checked(self, events: int) -> Look:
        """The same, if it fits a reference of so many events."""
        if self.process is None:
            return self
        if self.process.shape != (events,):
            raise InputError(
                f"the processes of {self.process.size} events are given, and the reference has {events}: give one for "
                "each, in their order"
            )
        if not ((self.process >= 0) & (self.process < len(self.processes))).all():
            raise InputError(f"processes are numbered from 0 to {len(self.processes) - 1}, as many as have names")
        return self
