"""Uncertainties in an analysis file: of everything, of a process, by weights, by samples that were shifted."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lanner.events.analysis.declared import Simulated
    from lanner.events.analysis.file import _Reader as Reader

_KINDS = {
    "normalisation": ("normalisation",),
    "process": ("process", "size"),
    "weights_up": ("weights_up", "weights_down"),
    "shifted": ("shifted",),
}
_KEYS = tuple(key for keys in _KINDS.values() for key in keys)
_FORM = (
    "give one of normalisation: SIZE; process: NAME with size: SIZE; weights_up: COLUMN with weights_down: COLUMN; "
    "shifted: {SAMPLE: [FILE, FILE]}"
)


@dataclass(frozen=True)
class Uncertain:
    """One uncertainty of an analysis, checked as far as that needs no events."""

    name: str
    size: float | None = None  # of everything, or of the process
    process: str | None = None
    weights_up: Mapping[str, str] = field(default_factory=dict)  # a column or formula, by sample
    weights_down: Mapping[str, str] = field(default_factory=dict)
    shifted: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)  # files up, and down, by sample

    @property
    def directions(self) -> tuple[str, ...]:
        """Which variations there are."""
        down = bool(self.weights_down) or any(len(files) == 2 for files in self.shifted.values())
        return ("up", "down") if down else ("up",)

    def weights(self, direction: str) -> Mapping[str, str]:
        """The varied weights of a direction, by sample."""
        return self.weights_up if direction == "up" else self.weights_down


def read_uncertainties(reader: Reader, found: Any, samples: Sequence[Simulated]) -> tuple[Uncertain, ...]:
    """What stands below `uncertainties`; the errors of the reader name the line and the key."""
    entries = reader.mapping(found, ("uncertainties",))
    return tuple(_one(reader, name, entry, samples) for name, entry in entries.items())


def _one(reader: Reader, name: Any, entry: Any, samples: Sequence[Simulated]) -> Uncertain:
    here = ("uncertainties", name)
    given = reader.mapping(entry, here, _KEYS)
    kinds = [kind for kind, keys in _KINDS.items() if any(key in given for key in keys)]
    if len(kinds) != 1:
        reader.fail(here, f"is {' and '.join(kinds) + ' in one' if kinds else 'nothing yet'}: {_FORM}")
    (kind,) = kinds
    for key in (kind, *(("size",) if kind == "process" else ())):
        if given.get(key) is None:
            reader.fail(here, f"{key} is missing")
    called = reader.text(str(name), here)
    if kind == "normalisation":
        return Uncertain(called, size=_size(reader, given[kind], (*here, kind)))
    if kind == "process":
        return Uncertain(
            called,
            size=_size(reader, given["size"], (*here, "size")),
            process=_process(reader, given["process"], (*here, "process"), samples),
        )
    if kind == "shifted":
        return Uncertain(called, shifted=_shifted(reader, given[kind], (*here, kind), samples))
    up, down = (
        {} if given.get(key) is None else _weights(reader, given[key], (*here, key), samples) for key in _KINDS[kind]
    )
    if down and set(down) != set(up):
        reader.fail((*here, "weights_down"), "is of other samples than weights_up: name the same in both")
    return Uncertain(called, weights_up=up, weights_down=down)


def _size(reader: Reader, found: Any, here: tuple[Any, ...]) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= 1:
        reader.fail(here, f"give a relative uncertainty from 0 to 1, such as 0.06 for 6 %, not {found!r}")
    return float(found)


def _process(reader: Reader, found: Any, here: tuple[Any, ...], samples: Sequence[Simulated]) -> str:
    known = list(dict.fromkeys(one.process for one in samples))
    if not isinstance(found, str):
        reader.fail(here, f"give the name of a process, {', '.join(known)}, and its uncertainty as size: {found!r}")
    _check_known(reader, found, known, here, "process")
    return found


def _weights(reader: Reader, found: Any, here: tuple[Any, ...], samples: Sequence[Simulated]) -> dict[str, str]:
    """A column or formula for every sample, or for those that are named."""
    if not isinstance(found, Mapping):
        text = reader.text(found, here)
        return {one.name: text for one in samples}
    for name in reader.mapping(found, here):
        _check_known(reader, name, [one.name for one in samples], (*here, name), "sample")
    return {str(name): reader.text(text, (*here, name)) for name, text in found.items()}


def _shifted(
    reader: Reader, found: Any, here: tuple[Any, ...], samples: Sequence[Simulated]
) -> dict[str, tuple[tuple[str, ...], ...]]:
    if not isinstance(found, Mapping):
        reader.fail(here, "name the samples that were shifted, as in {top: [top_up.root, top_down.root]}")
    made = {}
    for name, files in reader.mapping(found, here).items():
        _check_known(reader, name, [one.name for one in samples], (*here, name), "sample")
        several = files if isinstance(files, list) else [files]
        if not 1 <= len(several) <= 2:
            reader.fail((*here, name), "give the files up, or those up and down: [FILE, FILE]; each may be a list")
        made[str(name)] = tuple(reader.files(one, (*here, name)) for one in several)
    if len({len(files) for files in made.values()}) > 1:
        reader.fail(here, "some samples are shifted up and down, others up alone: give both for all of them, or one")
    return made


def _check_known(reader: Reader, name: Any, known: Sequence[str], here: tuple[Any, ...], what: str) -> None:
    if name in known:
        return
    near = difflib.get_close_matches(str(name), known, 1, 0.5)
    hint = f"nearest: {near[0]}" if near else f"there are {', '.join(known)}"
    reader.fail(here, f"{name!r} is no {what} of this analysis; {hint}")
