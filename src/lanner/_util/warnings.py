"""Warnings that end up in the result as well as with the caller."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from lanner.errors import LannerWarning


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """A list that holds, when the block ends, what Lanner warned of in it; all warnings are then given again."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LannerWarning)
        yield said
    said.extend(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, LannerWarning)))
    for w in caught:
        warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
