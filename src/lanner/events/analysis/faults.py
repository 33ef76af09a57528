"""Which entry of an analysis file is at fault where its files cannot be read as it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lanner.errors import InputError
from lanner.events.analysis.declared import AnalysisFile, Simulated
from lanner.events.analysis.varied import columns_of, key_of
from lanner.events.io import read_sample

Keys = tuple[Any, ...]


def formulas_of(analysis: AnalysisFile, one: Simulated | None = None) -> Iterator[tuple[Keys, str]]:
    """All columns and formulas that a sample is asked for, or the data, and the entries that ask for them."""
    if analysis.selection is not None:
        yield ("selection",), analysis.selection
    for feature in analysis.features:
        yield ("features", feature.name), feature.formula or f"`{feature.name}`"
    if one is None:
        return
    for place, text in enumerate(one.weights):
        here: Keys = ("samples", one.name, "weights")
        yield ((*here, place) if (*here, place) in analysis.lines else here), text
    if isinstance(one.sum_of_weights, str):
        yield ("samples", one.name, "sum_of_weights"), one.sum_of_weights
    by_name = {uncertain.name: uncertain for uncertain in analysis.uncertainties}
    for (name, direction), text in columns_of(analysis, one).items():
        yield key_of(by_name[name], one, direction, analysis), text


def named_at_fault(
    analysis: AnalysisFile,
    key: Keys,
    files: Sequence[str],
    formulas: Iterator[tuple[Keys, str]],
    read: Callable[[], Any],
) -> Any:
    """What a function reads; its errors name the entry whose formula fails by itself, or the one of that key."""
    try:
        return read()
    except InputError as error:
        found = next((keys for keys, text in formulas if _fails(files, text)), key) if _can_be_read(files) else key
        place = analysis.where(*found)
        raise InputError(f"{place}: {'.'.join(map(str, found))}: {error}") from None


def _can_be_read(files: Sequence[str]) -> bool:
    from lanner.events.io import columns_of as names_of

    try:
        return bool(names_of(list(files)))
    except InputError:
        return False


def _fails(files: Sequence[str], text: str) -> bool:
    """Whether a formula cannot be made of all events of the files."""
    try:
        read_sample(list(files), features=[f"value={text}"])
    except InputError:
        return True
    return False
