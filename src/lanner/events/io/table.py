"""`Table`: what every reader makes of its format: the names of columns, and the columns in chunks of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.text import first_line, shown
from lanner.errors import InputError, LannerError, MemoryBudgetError
from lanner.events.columns import array_problem, common_length
from lanner.events.lists import Lists

Chunk = Mapping[str, Any]  # arrays of numbers or conditions; of columns that have lists `Lists`

SHARE = 16  # a chunk may take this part of the budget: decompressed, converted and selected, it exists several times
COUNTED = re.compile(r"__index_level_\d+__")  # what pandas calls an index without a name
FEWEST = 256  # rows of a chunk, however small the budget: below, the bookkeeping takes all the time


@dataclass(frozen=True)
class Table:
    """Named columns that are read on demand.

    `chunks(names, size)` yields the named columns as 1-D arrays of numbers or of bool (missing values as
    NaN), or as `Lists` of them, each chunk of about `size` bytes if its numbers were float64.
    """

    what: str  # what messages call it: "muons.root:events"
    names: tuple[str, ...]
    problem: Callable[[str], str | None]  # why a column cannot be read as one number per event
    chunks: Callable[[Sequence[str], int], Iterator[Chunk]]
    named: bool = True  # False if the names were made up, x0, x1, ...
    hidden: frozenset[str] = frozenset()  # columns that are not meant by "all": the index of pandas
    first: Callable[[str], Any] | None = None  # the first value of a column that holds no numbers, where that is cheap
    lists: Callable[[str], bool] = lambda name: False  # whether a column has a list of numbers per event, for formulas
    inner: frozenset[str] = frozenset()  # fields of records, which are columns for who names them

    def usable(self) -> tuple[dict[str, None], dict[str, str]]:
        """Return the columns of numbers, and the others with the reason."""
        problems = {name: self.problem(name) for name in self.names if name not in self.hidden | self.inner}
        for name in self.names:
            if name in self.hidden and name not in ("", "index") and not COUNTED.fullmatch(name):
                problems[name] = "was the index of a data frame"
        numbers = dict.fromkeys(name for name, problem in problems.items() if problem is None)
        return numbers, {name: problem for name, problem in problems.items() if problem is not None}

    def example(self, name: str) -> str:
        """Return the words ", such as 'x'" with the first value of a column, or nothing where it cannot be shown."""
        with suppress(Exception):  # an example is a courtesy: what is wrong with a file is said where it is needed
            if self.first is not None:
                return f", such as {shown(self.first(name), 60)}"
        return ""

    def renamed(self, names: Sequence[str]) -> Table:
        """Return the same table under other names."""
        old = dict(zip(names, self.names, strict=True))

        def chunks(chosen: Sequence[str], size: int) -> Iterator[Chunk]:
            for chunk in self.chunks([old[name] for name in chosen], size):
                yield {name: chunk[old[name]] for name in chosen}

        return replace(
            self,
            names=tuple(names),
            problem=lambda name: self.problem(old[name]),
            lists=lambda name: self.lists(old[name]),
            chunks=chunks,
        )


def by_columns(columns: Callable[[str], Any], names: Sequence[str], size: int, what: str) -> Iterator[Chunk]:
    """Yield chunks of columns that are stored one by one: arrays in memory, datasets of a file."""
    sources = {name: columns(name) for name in names}
    for rows in steps(common_length(sources, what), rows_per_chunk(size, len(names))):
        parts = {name: source[rows] for name, source in sources.items()}
        yield {name: part if isinstance(part, Lists) else np.asanyarray(part) for name, part in parts.items()}


def table_by_rows(
    what: str,
    names: tuple[str, ...],
    array: Any,
    read: Callable[[Sequence[str], slice], NDArray[Any]],
    *,
    named: bool = True,
    hidden: frozenset[str] = frozenset(),
) -> Table:
    """Make a table of what is stored row by row: records with named fields, or plain numbers.

    `array` tells type and shape; `read(chosen, rows)` returns those rows, with the chosen fields at least.
    """
    dtype, shape = array.dtype, array.shape
    records = dtype.names is not None

    def problem(name: str) -> str | None:
        return array_problem(dtype[name], shape) if records else array_problem(dtype, shape[:1])

    def chunks(chosen: Sequence[str], size: int) -> Iterator[Chunk]:
        # Rows pass through memory whole, so a chunk has room for all of their numbers.
        width = max(len(chosen), dtype.itemsize // 8 if records else len(names))
        for rows in steps(shape[0], rows_per_chunk(size, width)):
            part = read(chosen, rows)
            table = part if records else part.reshape(len(part), -1)
            columns = {name: table[name] if records else table[:, names.index(name)] for name in chosen}
            yield {name: np.array(column) for name, column in columns.items()}  # copies, or the rows would stay whole

    def first(name: str) -> Any:
        return read([name], slice(0, 1))[name][0]

    return Table(what, names, problem, chunks, named=named, hidden=hidden, first=first if records else None)


def rows_per_chunk(size: int, columns: float) -> int:
    """Return how many rows of so many float64 columns make a chunk of `size` bytes."""
    return max(FEWEST, int(size / (8 * max(1, columns))))


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
        raise MemoryBudgetError(
            f"{path} needs more memory than there is ({str(error) or 'none left'}): read fewer columns"
        ) from error
    except Exception as error:
        raise InputError(
            f"{path} cannot be read as {format} ({type(error).__name__}: {first_line(error)}): check that the file is "
            f"complete and that its suffix tells its format"
        ) from error


def guarded(table: Table, path: Path, format: str) -> Table:
    """Return the same table, with `reading` around everything that is read from it."""

    def problem(name: str) -> str | None:
        with reading(path, format):
            return table.problem(name)

    def lists(name: str) -> bool:
        with reading(path, format):
            return table.lists(name)

    def chunks(names: Sequence[str], size: int) -> Iterator[Chunk]:
        with reading(path, format):
            parts = table.chunks(names, size)
        while True:
            with reading(path, format):
                chunk = next(parts, None)
            if chunk is None:
                return
            yield chunk  # outside of `reading`: what goes wrong with a chunk later is no fault of the file

    return replace(table, problem=problem, lists=lists, chunks=chunks)


def refuse_inside(path: Path, inside: str | None, format: str) -> None:
    """Refuse 'file:inside' for a format that has one table per file."""
    if inside is not None:
        raise InputError(f"{path} is {format}, which has no {inside!r} inside: leave ':{inside}' out")
