"""Uncertainties as a configuration file and the flags have them: by name, their files not opened yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lanner._util.text import listed, nearest_hint, shown
from lanner._util.values import Number, check_text, split_names
from lanner.errors import InputError

SIZE = Number(least=0, most=1, such_as="0.03 for 3 %")
YIELD = Number(least=0.5, most=2, such_as="1 for none")
# The keys of each kind: the first says which kind it is.
KINDS = {
    "normalisation": ("normalisation",),
    "weights_up": ("weights_up", "weights_down"),
    "shifted": ("shifted", "shifted_yield"),
    "process": ("process", "label"),
}
_KEYS = tuple(key for keys in KINDS.values() for key in keys)
_FORM = (
    "give one of normalisation: SIZE; weights_up: COLUMN with weights_down: COLUMN; shifted: [FILE, FILE]; process: "
    "SIZE with label: COLUMN"
)


@dataclass(frozen=True)
class DeclaredUncertainty:
    """One uncertainty, checked as far as that needs no events."""

    name: str
    normalisation: float | None = None
    weights_up: str | None = None  # a column or a formula
    weights_down: str | None = None
    shifted: tuple[tuple[str, ...], ...] = ()  # the files of the sample up, and of that down
    shifted_yield: tuple[float, ...] = ()
    process: float | None = None
    label: str | None = None  # a column or a condition

    def to_dict(self) -> dict[str, Any]:
        """As plain YAML, without the name."""
        plain: dict[str, Any] = {key: getattr(self, key) for key in _KEYS}
        plain["shifted"] = [files[0] if len(files) == 1 else list(files) for files in self.shifted]
        plain["shifted_yield"] = list(self.shifted_yield)
        return {key: value for key, value in plain.items() if value is not None and value != []}


@dataclass(frozen=True)
class Uncertainties:
    """Any number of uncertainties by their names: a kind of values of a setting."""

    metavar: str = "NAME: {...}"

    def checked(self, name: str, value: Any) -> tuple[DeclaredUncertainty, ...]:
        """The uncertainties, or an `InputError` that names the one which cannot be."""
        if isinstance(value, tuple) and all(isinstance(one, DeclaredUncertainty) for one in value):
            return value
        if not isinstance(value, Mapping):
            raise InputError(
                f"{name}={shown(value)}: give a name for each and what it is, such as lumi: {{normalisation: 0.03}}"
            )
        found = tuple(declared(key, entry) for key, entry in value.items())
        check_distinct([one.name for one in found])
        return found

    def described(self) -> str:
        """The type in words."""
        return "mapping of names to uncertainties"


def check_distinct(names: Sequence[str]) -> None:
    """Refuse a name that several uncertainties have."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"more than one uncertainty is called {listed(twice)}: give each a name of its own")


def declared(name: Any, entry: Any) -> DeclaredUncertainty:
    """One uncertainty from what a file says of it.

    >>> declared("pdf", {"weights_up": "w_up"}).weights_up
    'w_up'
    """
    if isinstance(name, int | float) and not isinstance(name, bool):
        name = str(name)  # such as a year, which YAML takes for a number
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"an uncertainty has the name {shown(name)}: give a text, in quotation marks if need be")
    check_text(name, "the name of an uncertainty")
    if not isinstance(entry, Mapping):
        raise InputError(f"{name!r} is {shown(entry)}: {_FORM}")
    given = {str(key).replace("-", "_"): value for key, value in entry.items()}
    for key in given:
        if key not in _KEYS:
            raise InputError(
                f"{name!r} has the key {key!r}, which no uncertainty has{nearest_hint(key, _KEYS)}: {_FORM}"
            )
    kinds = [kind for kind, keys in KINDS.items() if any(key in given for key in keys)]
    if len(kinds) != 1:
        what = f"{listed(kinds)} in one" if kinds else "nothing yet"
        raise InputError(f"{name!r} is {what}: {_FORM}, each under a name of its own")
    _check_whole(name, kinds[0], given)
    found = DeclaredUncertainty(name, **{key: _value(name, key, value) for key, value in given.items()})
    if found.shifted_yield and len(found.shifted_yield) != len(found.shifted):
        raise InputError(
            f"{name!r} has {len(found.shifted)} samples and {len(found.shifted_yield)} yields: give one each"
        )
    return found


def _check_whole(name: str, kind: str, given: Mapping[str, Any]) -> None:
    """Refuse what lacks a part that it cannot do without."""
    if kind not in given:
        lacking = {"weights_up": "weights_up: COLUMN", "shifted": "shifted: [FILE, FILE]", "process": "process: SIZE"}
        raise InputError(f"{name!r} has {listed(list(given))} alone: give {lacking[kind]} too")
    if kind == "process" and "label" not in given:
        raise InputError(f"{name!r} lacks its label: give label: COLUMN, which says which events are of the process")


def _value(name: str, key: str, value: Any) -> Any:
    what = f"{key} of {name!r}"
    if key in ("normalisation", "process"):
        return SIZE.checked(what, value)
    if key == "shifted_yield":
        found = value if isinstance(value, Sequence) and not isinstance(value, str) else str(value).split(",")
        if not 1 <= len(found) <= 2:
            raise InputError(f"{what}={shown(value)}: give the yield up, or up and down, over that of the reference")
        return tuple(YIELD.checked(what, one) for one in found)
    if key == "shifted":
        return _samples(what, value)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{what}={shown(value)}: give the name of a column of the reference, or a formula")
    check_text(value, what)
    return value.strip()


def _samples(what: str, value: Any) -> tuple[tuple[str, ...], ...]:
    """The files of one or two samples."""
    found = split_names(value) if isinstance(value, str) else value
    if not isinstance(found, Sequence) or not 1 <= len(found) <= 2:
        raise InputError(f"{what}={shown(value)}: give the sample up, or those up and down: FILE[,FILE]")
    samples = [(one,) if isinstance(one, str) else one for one in found]
    for files in samples:
        if not isinstance(files, Sequence) or not files or not all(isinstance(one, str) and one for one in files):
            raise InputError(f"{what}={shown(value)}: give files, FILE[,FILE]")
        for one in files:
            check_text(one, what)
    return tuple(tuple(files) for files in samples)
