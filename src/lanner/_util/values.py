"""Kinds of values that a setting can have: how they are checked, read from text, and described.

A kind takes what a Python program, a line of YAML or a flag gives, and returns it in the setting's own type, or raises
an `InputError` that names the setting, what was given and what to give instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from lanner._util.text import shown
from lanner.errors import InputError


class Kind(Protocol):
    """A kind of values."""

    @property
    def metavar(self) -> str:
        """What stands for a value in the help of a flag."""

    def checked(self, name: str, value: Any) -> Any:
        """The value in its own type, or an `InputError`."""

    def described(self) -> str:
        """The type in words, for the documentation."""


def as_number(value: object, name: str) -> float:
    """A number, NumPy's own included, or an error that names the argument.

    >>> as_number(3, "centers")
    3.0
    """
    try:
        # NumPy is not imported here, so that a flag can be checked without it.
        if isinstance(value, str) or _is_bool(value) or getattr(value, "ndim", 0) != 0:
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    except (TypeError, ValueError):
        raise InputError(f"{name}={shown(value)} is not a number; give one") from None


def check_text(text: str, name: str) -> None:
    """Refuse characters that no name of a file or column can have and no file of ours could hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name}={shown(text)} is not valid Unicode: give it, or rename the file, in UTF-8") from None
    if "\0" in text:
        raise InputError(f"{name}={shown(text)} has the character NUL in it, which no name can have: leave it out")


def _is_bool(value: object) -> bool:
    """Whether a value is a truth, Python's or NumPy's."""
    return type(value).__name__ in ("bool", "bool_")


@dataclass(frozen=True)
class Number:
    """A number within bounds, whole or not, or one of some words."""

    above: float = -math.inf
    least: float = -math.inf
    below: float = math.inf
    most: float = math.inf
    whole: bool = False
    words: tuple[str, ...] = ()
    such_as: str = ""

    @property
    def metavar(self) -> str:
        return "|".join(["N", *self.words])

    def checked(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            if value in self.words:
                return value
            value = self._read(name, value)
        number = as_number(value, name)
        inside = self.above < number < self.below and self.least <= number <= self.most
        if not (inside and math.isfinite(number)) or (self.whole and not number.is_integer()):
            raise InputError(f"{name}={shown(value)}: give {self._wanted()}")
        # A whole number is taken as it is: a double has no room for a seed of 16 digits.
        return (int(number) if isinstance(value, float) else int(value)) if self.whole else number

    def described(self) -> str:
        return " or ".join(["int" if self.whole else "float", *(f'"{word}"' for word in self.words)])

    def _read(self, name: str, text: str) -> float:
        with suppress(ValueError):
            return int(text)
        try:
            return float(text)
        except ValueError:
            raise InputError(f"{name}={shown(text)}: give {self._wanted()}") from None

    def _wanted(self) -> str:
        bounds = [
            f"{word} {bound:g}"
            for word, bound in (
                ("above", self.above),
                ("of at least", self.least),
                ("below", self.below),
                ("of at most", self.most),
            )
            if math.isfinite(bound)
        ]
        wanted = " ".join(["a whole number" if self.whole else "a number", " and ".join(bounds)]).strip()
        wanted += f", such as {self.such_as}" if self.such_as else ""
        return f"{wanted}, or {' or '.join(map(repr, self.words))}" if self.words else wanted


@dataclass(frozen=True, init=False)
class Choice:
    """One of some words; with `none`, also nothing, which a flag or a file calls "none"."""

    options: tuple[str, ...]
    none: bool

    def __init__(self, *options: str, none: bool = False) -> None:
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "none", none)

    @property
    def metavar(self) -> str:
        return f"[{'|'.join([*self.options, *(['none'] if self.none else [])])}]"

    def checked(self, name: str, value: Any) -> str | None:
        if self.none and value == "none":
            return None
        if not isinstance(value, str) or value not in self.options:
            options = ", ".join([*map(repr, self.options), *(["None"] if self.none else [])])
            raise InputError(f"{name}={shown(value)} is not known; choose one of {options}")
        return value

    def described(self) -> str:
        quoted = [f'"{option}"' for option in self.options] + (["None"] if self.none else [])
        return f"{{{', '.join(quoted)}}}"


@dataclass(frozen=True)
class Text:
    """Any text that is not empty; with `numbers`, a number too."""

    metavar: str
    numbers: bool = False

    def checked(self, name: str, value: Any) -> str | float:
        if self.numbers and isinstance(value, int | float) and not _is_bool(value):
            return value
        if not isinstance(value, str) or not value:
            raise InputError(f"{name}={shown(value)}: give a text, {self.metavar}")
        check_text(value, name)
        return value

    def described(self) -> str:
        return "float or str" if self.numbers else "str"


@dataclass(frozen=True)
class Flag:
    """Yes or no."""

    metavar: str = ""

    def checked(self, name: str, value: Any) -> bool:
        if not _is_bool(value):
            raise InputError(f"{name}={shown(value)}: give true or false")
        return bool(value)

    def described(self) -> str:
        return "bool"


@dataclass(frozen=True)
class Names:
    """Several names, formulas or (with `path`) files: a sequence, or a text with commas between them."""

    path: bool = False  # a file's name may have commas in it, so a text is one of them
    repeated: bool = False  # a flag that may be given several times, with one of them each time
    some: bool = False  # where it is given, at least one

    @property
    def metavar(self) -> str:
        return "FILE" if self.path else "[NAME=]EXPR" if self.repeated else "A,B,..."

    def checked(self, name: str, value: Any) -> tuple[str, ...]:
        found = ((value,) if self.path else split_names(value)) if isinstance(value, str) else value
        few = isinstance(found, Sequence) and not found and (self.some or self.path or isinstance(value, str))
        if few or not isinstance(found, Sequence) or not all(isinstance(one, str) and one for one in found):
            wanted = "files" if self.path else "names or formulas"
            raise InputError(f"{name}={shown(value)}: give {wanted}, {self.metavar}")
        for one in found:
            check_text(one, name)
        return tuple(found)

    def described(self) -> str:
        return "sequence of str"


@dataclass(frozen=True)
class Numbers:
    """Several numbers: a sequence, or a text with commas between them."""

    whole: bool = False
    least: float = 0

    @property
    def metavar(self) -> str:
        return "N1,N2,..."

    def checked(self, name: str, value: Any) -> tuple[float, ...]:
        one = Number(whole=self.whole, least=self.least)
        found = value.split(",") if isinstance(value, str) else value if isinstance(value, Iterable) else [value]
        return tuple(one.checked(name, part.strip() if isinstance(part, str) else part) for part in found)

    def described(self) -> str:
        return f"sequence of {'int' if self.whole else 'float'}"


def split_names(text: str) -> tuple[str, ...]:
    """Names or formulas between commas; a comma inside parentheses or backticks belongs to its formula.

    >>> split_names("pt, phi=arctan2(py, px), `a,b`")
    ('pt', 'phi=arctan2(py, px)', '`a,b`')
    """
    parts, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == "`"
        if not quoted:  # a quoted name may hold one parenthesis of a pair
            depth += (character == "(") - (character == ")")
        if character == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return tuple(part.strip() for part in parts if part.strip())


@dataclass(frozen=True)
class Declared:
    """What is known of a setting besides its name, its type and its default."""

    kind: Kind
    help: str  # what it does, without the default
    unset: str  # what happens where it is not given
    label: str | None = None  # its name in tables, where the name by itself says little

    def words(self) -> str:
        """Help with the default, for a person at a terminal.

        >>> Declared(Flag(), "Be brief.", "no").words()
        'Be brief (default: no).'
        """
        return f"{self.help.rstrip('.')} (default: {self.unset})." if self.unset else self.help


def setting(default: Any, kind: Kind, help: str, unset: str = "", *, label: str | None = None) -> Any:
    """A field of a dataclass of settings, with its declaration."""
    return field(default=default, metadata={"declared": Declared(kind, help, unset, label)})
