"""CSV and text files with a header line, read with pyarrow: its parser gives back every float64 bit by bit."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import IO, Any

from lanner._util.text import first_line, joined, listed
from lanner.errors import InputError
from lanner.events.columns import as_names
from lanner.events.io.csv_quotes import QuotesWatched
from lanner.events.io.parquet import as_numpy
from lanner.events.io.table import Chunk, Table, refuse_inside

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_CONDITION = re.compile(r"true|false", re.IGNORECASE)
_MISSING = ("", " ", "nan", "-nan", "NaN", "-NaN", "NAN", "NA", "N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "None")
_PEEKED = 200  # lines that tell numbers from text
_LONGEST = 2**20  # characters of a line: so many hold tens of thousands of columns, and no column of numbers is longer
_TOGETHER = 2**23  # characters of the lines that are looked at together


@dataclass(frozen=True)
class _Layout:
    """What the first lines tell."""

    names: tuple[str, ...]
    delimiter: str
    skipped: int  # lines up to and with the header
    kinds: dict[str, str]  # "number", "condition", or what is odd about the column


@contextmanager
def open_table(path: Path, inside: str | None) -> Iterator[Table]:
    """Open a file of delimited text, compressed with gzip or not."""
    refuse_inside(path, inside, "a text file")
    layout = _layout(path)

    def problem(name: str) -> str | None:
        kind = layout.kinds[name]
        return None if kind in ("number", "condition") else kind

    # pandas writes its row numbers under an empty name.
    yield Table(str(path), layout.names, problem, partial(_chunks, path, layout), hidden=frozenset({""}))


def _binary(path: Path) -> IO[bytes]:
    opened: Any = gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # noqa: SIM115 (the reader closes it)
    return opened  # type: ignore[no-any-return]


def _lines(path: Path) -> Generator[str, None, None]:
    """Yield the lines; refuse one that is too long, of which a small compressed file may hold more than memory does."""
    with TextIOWrapper(_binary(path), encoding="utf-8-sig", newline="") as stream:
        number = 0
        while line := stream.readline(_LONGEST + 1):
            number += 1
            if len(line) > _LONGEST:
                raise _too_long(path, number)
            yield line


def _too_long(path: Path, line: int) -> InputError:
    return InputError(
        f"{path} has a line of more than {_LONGEST} characters, line {line}: give each event a line of its own, and "
        f"check that the lines end as those of a text file do"
    )


def names_in_header(path: Path) -> tuple[str, ...]:
    """The names of the columns, of which nothing below the header is read."""
    return _layout(path, header_alone=True).names


def _layout(path: Path, *, header_alone: bool = False) -> _Layout:
    lines: list[str] = []
    with closing(_lines(path)) as source:
        for line in islice(source, _PEEKED):
            lines.append(line)
            if header_alone and line.strip():
                break
            if sum(map(len, lines)) > _TOGETHER:
                break
    blank = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if blank == len(lines):
        raise InputError(f"{path} is empty: a header line with the names of the columns is needed")
    header, body = lines[blank].strip().removeprefix("#").strip(), [line for line in lines[blank + 1 :] if line.strip()]
    delimiter = _delimiter(header, body[0].strip() if body else header)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
    if all(_NUMBER.fullmatch(name) for name in names):
        raise InputError(
            f"{path} begins with numbers ({joined(names)}), but its first line has to name the columns: "
            f"add a header line, such as '{delimiter.join(f'x{i}' for i in range(min(3, len(names))))}'"
        )
    names = list(as_names(names, str(path)))
    cut = next((sign for sign in ";\t" if len(names) == 1 and sign in header.replace(f'"{names[0]}"', "")), None)
    if cut is not None:
        raise InputError(
            f"{path} names columns with {cut!r} between them, but its first row is not divided so: give each line one "
            f"value per column, or put quotes around a name with {cut!r} in it"
        )
    rows = [row for row in csv.reader(body, delimiter=delimiter) if len(row) == len(names)]
    kinds = {name: _kind([row[j].strip() for row in rows]) for j, name in enumerate(names)}
    return _Layout(tuple(names), delimiter, blank + 1, kinds)


def _delimiter(header: str, first: str) -> str:
    """Return what divides the header and the first row into equally many parts."""
    for delimiter in (",", ";", "\t", " "):
        parts, values = (len(next(csv.reader([line], delimiter=delimiter))) for line in (header, first))
        if parts == values > 1:
            return delimiter
    return ","


def _kind(values: Sequence[str]) -> str:
    """Tell what a column holds by its first value that is not missing."""
    first = next((value for value in values if value not in _MISSING), None)
    if first is None or _NUMBER.fullmatch(first):
        return "number"
    return "condition" if _CONDITION.fullmatch(first) else f"holds text, such as {first!r:.60}"


def _chunks(path: Path, layout: _Layout, names: Sequence[str], size: int) -> Iterator[Chunk]:
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    types = {"number": pa.float64(), "condition": pa.bool_()}
    watched = QuotesWatched(_binary(path), layout.delimiter, layout.skipped, 4 * _LONGEST)  # bytes of its characters

    def check_lines() -> None:
        if watched.at_fault is not None and watched.too_long:
            raise _too_long(path, watched.at_fault)
        if watched.at_fault is not None:
            raise InputError(
                f"{path} has quotes in line {watched.at_fault} that do not match, so that the lines after it would be "
                f"lost: close them in the same line, or leave them out"
            )

    try:
        with pa.PythonFile(watched, mode="r") as stream:
            batches = pa_csv.open_csv(
                stream,
                read_options=pa_csv.ReadOptions(
                    column_names=list(layout.names),
                    skip_rows=layout.skipped,
                    block_size=min(max(size, 2**20), 2**24),  # a block has to hold at least one line
                ),
                parse_options=pa_csv.ParseOptions(delimiter=layout.delimiter),
                convert_options=pa_csv.ConvertOptions(
                    include_columns=list(names),
                    column_types={name: types[layout.kinds[name]] for name in names},
                    null_values=list(_MISSING),
                ),
            )
            for batch in batches:
                check_lines()
                yield {name: as_numpy(batch.column(name)) for name in names}
            check_lines()
    except pa.ArrowInvalid as error:
        check_lines()
        raise InputError(_why(path, layout, names, error)) from error


def _why(path: Path, layout: _Layout, names: Sequence[str], error: Exception) -> str:
    """Find the line and the column that pyarrow did not take, with the plain parser."""
    patterns: dict[str, Any] = {"number": _NUMBER, "condition": _CONDITION}
    with closing(_lines(path)) as source:
        reader = csv.reader(source, delimiter=layout.delimiter)
        for row in reader:
            if reader.line_num <= layout.skipped or not row:
                continue
            if len(row) != len(layout.names):
                return (
                    f"{path} has {len(row)} values in line {reader.line_num}, but {len(layout.names)} columns "
                    f"({listed(layout.names)}): give each line one value per column, divided by {layout.delimiter!r}"
                )
            for name, value in zip(layout.names, row, strict=True):
                plain = value.strip()
                if name in names and plain not in _MISSING and not patterns[layout.kinds[name]].fullmatch(plain):
                    return (
                        f"column {name!r} of {path} has {value!r:.60} in line {reader.line_num}, but a "
                        f"{layout.kinds[name]} is needed: correct it, or leave the column out of the features"
                    )
    return f"{path} cannot be read as CSV ({first_line(error)}): check that every line has one value per column"
