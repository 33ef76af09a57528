"""The columns of files without their events: what may be known of data that nobody has looked at yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lanner.errors import InputError
from lanner.events.columns import as_names, check_known
from lanner.events.expressions import Expression
from lanner.events.io.csv import names_in_header
from lanner.events.io.paths import File, files_of
from lanner.events.io.request import Variable


def check_header(
    source: Any,
    *,
    features: Iterable[str],
    where: str | None = None,
    extra: Iterable[str] = (),
    label: str = "data",
) -> None:
    """Refuse files without the columns that features, selection and further variables need.

    Of a file nothing but the names of its columns is taken, and of text nothing below its header is read.
    """
    wanted = {"feature": as_names(features, label), "variable": as_names(extra, label)}
    selection = None if where is None else Expression.parse(where, label="selection")
    for file in files_of(source, label):
        what, known = f"{label} {file.path}", _names(file)
        if known is None:
            continue
        for role, texts in wanted.items():
            for text in texts:
                Variable.of(text, known, what, role)
        if selection is not None:
            check_known(selection.names, known, f"{what}, for the {selection!s},")


def _names(file: File) -> tuple[str, ...] | None:
    """The names of the columns of a file; None where they have none, so that those asked for name them."""
    if file.format == "CSV":
        if file.inside is not None:
            raise InputError(f"{file.path} is CSV, which has no {file.inside!r} inside: leave ':{file.inside}' out")
        return names_in_header(file.path)
    with file.open() as table:
        names = tuple(table.names)
        return names if table.named else None
