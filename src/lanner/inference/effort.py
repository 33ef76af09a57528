"""How many toys a search makes at most: as many as about a minute is worth, by what is known before any data.

Nothing here looks at a clock or at the data, so one command gives one answer on every machine. The constants are those
of two cores; a machine that is faster is done sooner.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lanner.inference.plan import Plan
from lanner.model.score_pool import GATHER

FEWEST, MOST = 1000, 1_000_000
_SECONDS = 40.0
_WIDTHS = 4.5
_RANK = {1: 110, 2: 450}  # of a width, on average, by the number of features; of more features as much as is allowed
_MANY = 1200
_OVERHEAD = 6e-5  # seconds of a toy beside its products
_GATHERED, _MULTIPLIED = 4e-10, 1.4e-11  # seconds of a row and direction
_ROTATED, _WINDOW = 6e-11, 2e-8  # of a pair of directions, and of a window


def seconds_per_toy(plan: Plan, reference: int) -> float:
    """About how long a toy of the score takes, at all widths together."""
    events = reference + (plan.expected if plan.null == "permutation" else 0)
    rank = min(_RANK.get(len(plan.names), _MANY), plan.chosen_max_rank, plan.centers)
    rows, taken = events / plan.bunch, plan.expected / plan.bunch
    product = taken * _GATHERED if plan.expected < GATHER * events else rows * _MULTIPLIED
    return _OVERHEAD + _WIDTHS * rank * (product + rank * _ROTATED + _WINDOW)


def most_toys(plan: Plan, reference: int) -> int:
    """The largest number of toys, rounded down to 1, 2 or 5 times a power of ten."""
    return most_toys_of([(plan, reference)])


def most_toys_of(parts: Sequence[tuple[Plan, int]]) -> int:
    """The same of several searches whose toys are made together, each by its plan and its reference events."""
    return round_down(np.clip(_SECONDS / sum(seconds_per_toy(*part) for part in parts), FEWEST, MOST))


def round_down(number: float) -> int:
    """To 1, 2 or 5 times a power of ten.

    >>> [round_down(n) for n in (1000, 1999, 47_000, 50_000)]
    [1000, 1000, 20000, 50000]
    """
    power = 10 ** int(np.floor(np.log10(number) + 1e-12))
    return next(int(m * power) for m in (5, 2, 1) if m * power <= number * (1 + 1e-12))
