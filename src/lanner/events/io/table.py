"""`Table`: an open file as the readers see it, whatever its format: names, and columns in chunks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.text import joined
from lanner.errors import InputError, LannerError, MemoryBudgetError
from lanner.events.columns import NUMBERS

Chunk = Mapping[str, NDArray[Any]]

SHARE = 16  # a chunk may take this part of the budget: decompressed, converted and selected, it exists several times
_FEWEST = 256  # rows of a chunk, however small the budget: below, the bookkeeping takes all the time


@dataclass(frozen=True)
class Table:
    """Named columns that are read on demand.

    `chunks(names, size)` yields the named columns as 1-D arrays of numbers or of bool (missing values as
    NaN), each chunk of about `size` bytes if its numbers were float64.
    """

    what: str  # what messages call it: "muons.root:events"
    names: tuple[str, ...]
    problem: Callable[[str], str | None]  # why a column cannot be read as one number per event
    chunks: Callable[[Sequence[str], int], Iterator[Chunk]]
    named: bool = True  # False if the names were made up, x0, x1, ...
    hidden: frozenset[str] = frozenset()  # columns that nobody means by "all": the row numbers of pandas

    def usable(self) -> tuple[dict[str, None], dict[str, str]]:
        """Return the columns of numbers, and the others with the reason."""
        problems = {name: self.problem(name) for name in self.names if name not in self.hidden}
        numbers = dict.fromkeys(name for name, problem in problems.items() if problem is None)
        return numbers, {name: problem for name, problem in problems.items() if problem is not None}

    def renamed(self, names: Sequence[str]) -> Table:
        """Return the same table under other names."""
        old = dict(zip(names, self.names, strict=True))

        def chunks(chosen: Sequence[str], size: int) -> Iterator[Chunk]:
            for chunk in self.chunks([old[name] for name in chosen], size):
                yield {name: chunk[old[name]] for name in chosen}

        return replace(self, names=tuple(names), problem=lambda name: self.problem(old[name]), chunks=chunks)


def rows_per_chunk(size: int, columns: int) -> int:
    """Return how many rows of so many float64 columns make a chunk of `size` bytes."""
    return max(_FEWEST, size // (8 * max(1, columns)))


def steps(rows: int, step: int) -> Iterator[slice]:
    """Cut rows into slices of at most `step`."""
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


@contextmanager
def reading(path: Path, format: str) -> Iterator[None]:
    """Make an `InputError` of whatever a library raises about a file that it cannot read.

    Libraries differ, and damaged files raise anything from KeyError to struct.error, so all is caught here.
    """
    try:
        yield
    except LannerError:
        raise
    except MemoryError as error:
        raise MemoryBudgetError(f"{path} needs more memory than there is ({error}): read fewer columns") from error
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0][:300]
        raise InputError(
            f"{path} cannot be read as {format} ({type(error).__name__}: {first}): check that the file is "
            f"complete and that its suffix tells its format"
        ) from error


def guarded(chunks: Iterator[Chunk], path: Path, format: str) -> Iterator[Chunk]:
    """Yield the same chunks, with `reading` around the making of each."""
    while True:
        with reading(path, format):
            chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk


def refuse_inside(path: Path, inside: str | None, format: str) -> None:
    """Refuse 'file:inside' for a format that has one table per file."""
    if inside is not None:
        raise InputError(f"{path} is {format}, which has no {inside!r} inside: leave ':{inside}' out")


def array_problem(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str | None:
    """Say why an array of this type, the events along its first axis, is not one number per event."""
    if dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
        shape = (*shape, *inner)
    if len(shape) != 1:
        return f"has shape {shape}"
    if dtype.kind in NUMBERS:
        return None
    return "holds text" if dtype.kind in "SUT" else f"holds values of type {dtype}"


def sliced(columns: Callable[[str], Any], names: Sequence[str], size: int, what: str) -> Iterator[Chunk]:
    """Yield slices of columns that can be cut: arrays in memory, datasets of a file."""
    sources = {name: columns(name) for name in names}
    lengths = {name: len(source) for name, source in sources.items()}
    if len(set(lengths.values())) > 1:
        sizes = joined([f"{name!r} {length}" for name, length in lengths.items()])
        raise InputError(f"the columns of {what} differ in length ({sizes}): give one value per event")
    for rows in steps(next(iter(lengths.values()), 0), rows_per_chunk(size, len(names))):
        yield {name: np.asanyarray(source[rows]) for name, source in sources.items()}
