"""Uncertainties on the command line: their flags, and what is read from files for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lanner.errors import InputError
from lanner.settings import DeclaredUncertainty, RunSettings, check_distinct

if TYPE_CHECKING:
    from lanner.events.io import Events
    from lanner.uncertainties.declared import Uncertainty

F = TypeVar("F", bound=Callable[..., Any])

# What each flag takes, an example, and its help.
_FLAGS = {
    "normalisation": ("NAME=SIZE", "lumi=0.03", "The whole reference is known to so much, such as lumi=0.03."),
    "weights_up": (
        "NAME=COLUMN",
        "pdf=w_up",
        "Event weights of the reference at one uncertainty up: a column or formula.",
    ),
    "weights_down": ("NAME=COLUMN", "pdf=w_down", "The same down (default: the mirror image of up)."),
    "shifted": (
        "NAME=UP[,DOWN]",
        "jes=up.root:t,down.root:t",
        "Samples in which the variation was made, read like the reference (without DOWN: the mirror image of UP).",
    ),
    "shifted_yield": (
        "NAME=UP[,DOWN]",
        "jes=1,1",
        "Their yields over the reference's, if the samples are not at equal luminosity.",
    ),
    "process": (
        "NAME=SIZE:LABEL",
        "ttbar=0.06:is_ttbar",
        "The yield of a process is known to so much; LABEL is a column of 0 and 1, or a condition (process == 3).",
    ),
}


def uncertainty_flags(function: F) -> F:
    """The flags of uncertainties, each of which may be given several times."""
    for name, (metavar, _, words) in reversed(_FLAGS.items()):
        option = click.option(f"--{name.replace('_', '-')}", name, multiple=True, metavar=metavar, help=words)
        function = option(function)
    return function


def pop_uncertainties(given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the flags say of each uncertainty, in the form of the configuration file; they leave `given`."""
    texts = [(flag, text) for flag in _FLAGS for text in given.pop(flag, ())]
    found: dict[str, dict[str, Any]] = {}
    for flag, text in texts:
        name, value = _split(flag, text)
        entry = found.setdefault(name, {})
        more = {flag: value}
        if flag == "process":
            size, colon, label = value.partition(":")
            if not colon or not label.strip():
                raise _wrong(flag, text)
            more = {flag: size, "label": label}
        for key in more:
            if key in entry:
                raise click.UsageError(
                    f"--{_dashed(flag)} {text}: {name!r} is given twice: give each a name of its own"
                )
        entry |= more
    for name, entry in found.items():
        for flag, needed in (("weights_down", "weights_up"), ("shifted_yield", "shifted")):
            if flag in entry and needed not in entry:
                raise click.UsageError(
                    f"--{_dashed(flag)} {name}={entry[flag]}: give --{_dashed(needed)} {name}=... too"
                )
    return found


def _split(flag: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise _wrong(flag, text)
    return name.strip(), value.strip()


def _wrong(flag: str, text: str) -> click.UsageError:
    metavar, example, _ = _FLAGS[flag]
    return click.UsageError(f"--{_dashed(flag)} {text}: give {metavar}, such as {example}")


def _dashed(flag: str) -> str:
    return flag.replace("_", "-")


def refuse_uncertainties(config: RunSettings, command: str) -> None:
    """Refuse what a command would have to leave out, so that its answer would be another than that of a search."""
    if config.uncertainties:
        names = ", ".join(one.name for one in config.uncertainties)
        raise InputError(f"lanner {command} takes no uncertainties: leave {names} out of the configuration")


def check_uncertainties(config: RunSettings, kept: Sequence[str]) -> None:
    """Refuse uncertainties that are not those of a calibration; none given means the calibration's."""
    given = {one.name for one in config.uncertainties}
    if given and given != set(kept):
        raise InputError(
            f"the calibration was made with {'the uncertainties ' + ', '.join(kept) if kept else 'no uncertainties'}, "
            f"and the configuration has {', '.join(sorted(given))}: leave them out, or calibrate again"
        )


def varied_columns(config: RunSettings) -> list[str]:
    """What is read from the reference for uncertainties, as `name=column or formula`."""
    return [f"`{name}`={text}" for name, text in _texts(config.uncertainties)]


def _texts(uncertainties: tuple[DeclaredUncertainty, ...]) -> Iterator[tuple[str, str]]:
    """The columns and formulas of uncertainties, and what they are called."""
    for one in uncertainties:
        for what, text in (("weights up", one.weights_up), ("weights down", one.weights_down), ("label", one.label)):
            if text is not None:
                yield _called(what, one.name), text


def _called(what: str, name: str) -> str:
    return f"{what} of {name}".replace("`", "'")


def uncertainties_of(
    config: RunSettings, reference: Events, read: Callable[[tuple[str, ...], str], Events]
) -> list[Uncertainty]:
    """The uncertainties of a run, with the reference's columns and with samples that `read` gets from their files."""
    check_distinct([one.name for one in config.uncertainties])
    return [_made(one, reference.varied, read) for one in config.uncertainties]


def _made(
    one: DeclaredUncertainty, columns: Mapping[str, Any], read: Callable[[tuple[str, ...], str], Events]
) -> Uncertainty:
    from lanner.uncertainties.declared import Normalisation, Process, Shifted, Weights

    if one.normalisation is not None:
        return Normalisation(one.name, one.normalisation)
    if one.process is not None:
        return Process(one.name, one.process, _called("label", one.name)).resolved(columns)
    if one.weights_up is not None:
        down = None if one.weights_down is None else _called("weights down", one.name)
        return Weights(one.name, _called("weights up", one.name), down).resolved(columns)
    directions = ("up", "down")[: len(one.shifted)]
    samples: dict[str, Any] = {
        direction: read(files, f"sample {direction} of {one.name!r}").sample
        for direction, files in zip(directions, one.shifted, strict=True)
    }
    yields: dict[str, Any] = {
        f"{direction}_yield": x for direction, x in zip(directions, one.shifted_yield, strict=False)
    }
    return Shifted(one.name, **samples, **yields)
