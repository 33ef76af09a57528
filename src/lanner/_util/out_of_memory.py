"""What is said where there is no memory left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lanner.errors import MemoryBudgetError


@contextmanager
def plain_memory_errors() -> Iterator[None]:
    """Make a `MemoryBudgetError` of one clear line of what NumPy or Python raise where there is no memory left."""
    try:
        yield
    except MemoryBudgetError:
        raise
    except MemoryError as error:
        raise MemoryBudgetError(
            f"there is not enough memory ({str(error) or 'none left'}): give a smaller memory=... than is free, or "
            "fewer events, features or centres"
        ) from error
