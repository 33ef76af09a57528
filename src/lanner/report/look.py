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

    See Also
    --------
    characterise : Takes one, for its plots.

    Examples
    --------
    >>> import lanner
    >>> lanner.Look({"pt": "$p_T$ [GeV]"}).axes["pt"]
    '$p_T$ [GeV]'
    """

    axes: Mapping[str, str] = field(default_factory=dict)
    processes: tuple[str, ...] = ()
    process: NDArray[np.intp] | None = None


def checked_look(look: Look | None, events: int) -> Look:
    """The look, if it fits a reference of so many events; without one, that of nothing."""
    look = Look() if look is None else look
    if look.process is None:
        return look
    if look.process.shape != (events,):
        raise InputError(
            f"the processes of {look.process.size} events are given, and the reference has {events}: give one for "
            "each, in their order"
        )
    if not ((look.process >= 0) & (look.process < len(look.processes))).all():
        raise InputError(f"processes are numbered from 0 to {len(look.processes) - 1}, as many as have names")
    return look
