"""Progress of long work, as the package tells it: what is being done, how much of it is done, how much there is."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from lanner.typing import Progress


def as_progress(progress: Callable[..., None] | None) -> Progress | None:
    """A function that a user gave, of (what, done, total) or of (done, total) alone.

    >>> as_progress(lambda done, total: print(done, "of", total))("toys", 1, 2)
    1 of 2
    """
    if progress is None:
        return None
    try:
        inspect.signature(progress).bind("", 0, 0)
    except TypeError:
        two: Callable[..., None] = progress
        return lambda _, done, total: two(done, total)
    except ValueError:  # a function that hides its parameters
        pass
    return progress


def named(progress: Progress | None, what: str) -> Progress | None:
    """Progress under another name, for work that is a part of other work."""
    return None if progress is None else lambda _, done, total: progress(what, done, total)


def part_of(progress: Progress | None, before: int, whole: int) -> Progress | None:
    """Progress of a part of work of which `before` is done already and `whole` is all there is."""
    return None if progress is None else lambda what, done, _: progress(what, before + done, whole)
