"""Regions: which events of a reference and of data lie in each of several selections, which may share events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.text import count, shown
from lanner.errors import InputError
from lanner.events.columns import read_only
from lanner.events.expressions import Expression
from lanner.events.sample import Sample

Mask = NDArray[np.bool_]
# Names become folders, on any file system.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")


@dataclass(frozen=True, eq=False)
class Region:
    """Which events lie in a region."""

    name: str
    reference: Mask
    data: Mask
    selection: str = ""  # in words, where it is a formula


def regions_of(regions: Mapping[str, Any], reference: Sample, data: Sample) -> tuple[Region, ...]:
    """The regions that are meant by formulas over the columns, or by a mask of the reference and one of the data.

    >>> sample = Sample.of({"pt": [10.0, 20.0]})
    >>> regions_of({"high": "pt > 15"}, sample, sample)[0].data.tolist()
    [False, True]
    """
    if not isinstance(regions, Mapping) or not regions:
        raise InputError(
            f"regions={shown(regions)}: give a mapping of names to formulas, such as {{'high': 'pt > 100'}}, or to "
            "masks of the reference and of the data"
        )
    check_names(list(regions))
    return tuple(_region(name, wanted, reference, data) for name, wanted in regions.items())


def check_names(names: Sequence[str]) -> None:
    """Refuse names of regions that cannot be names of folders, or that differ by large and small letters alone."""
    seen: dict[str, str] = {}
    for name in names:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InputError(
                f"region {shown(name)}: a name has up to 60 letters, digits, dots, dashes and underscores, and begins "
                "with a letter or digit, because it becomes the name of a folder"
            )
        if name.lower() in seen:
            raise InputError(f"regions {seen[name.lower()]!r} and {name!r} would have the same folder: rename one")
        seen[name.lower()] = name


def _region(name: str, wanted: Any, reference: Sample, data: Sample) -> Region:
    if isinstance(wanted, str):
        formula = Expression.parse(wanted, label=f"region {name!r}")
        masks = [
            formula.select(dict(zip(sample.names, sample.features.T, strict=True)), source=label)
            for sample, label in ((reference, "the reference"), (data, "the data"))
        ]
        return Region(name, masks[0], masks[1], wanted)
    if isinstance(wanted, Region):
        wanted, words = (wanted.reference, wanted.data), wanted.selection
    elif isinstance(wanted, tuple | list) and len(wanted) == 2:
        words = ""
    else:
        raise InputError(
            f"region {name!r} is {shown(wanted)}: give a formula over the features, or two masks, of the reference and "
            "of the data"
        )
    labelled = zip(wanted, (reference, data), ("reference", "data"), strict=True)
    of_reference, of_data = (_mask(mask, len(sample), name, label) for mask, sample, label in labelled)
    return Region(name, of_reference, of_data, words)


def _mask(mask: Any, events: int, name: str, label: str) -> Mask:
    found = np.asarray(mask)
    if found.dtype != np.bool_ or found.shape != (events,):
        raise InputError(
            f"region {name!r}: the mask of the {label} has the shape {found.shape} and the type {found.dtype}; give "
            f"True or False for each of {count(events, 'event')}"
        )
    return found


def no_events(like: Sample) -> Sample:
    """A sample of no events: what a region holds of the data in which nothing was measured. No other may be empty.

    >>> len(no_events(Sample.of({"pt": [1.0, 2.0]})))
    0
    """
    empty = like.take([0])
    object.__setattr__(empty, "features", read_only(empty.features[:0]))
    if empty.weights is not None:
        object.__setattr__(empty, "weights", read_only(empty.weights[:0]))
    return empty
