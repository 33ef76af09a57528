"""The regions of an analysis: which events of a sample lie in each, by formulas over columns and features."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np

from lanner.errors import InputError
from lanner.events.analysis.declared import AnalysisFile
from lanner.events.analysis.file import named
from lanner.events.columns import check_known
from lanner.events.expressions import Expression
from lanner.events.io import Events
from lanner.events.io.read import columns_of
from lanner.events.regions import Mask

_NAME = re.compile(r"`(?P<ticked>[^`]+)`|(?P<plain>[A-Za-z_]\w*)(?![\w.]|\s*\()")


def formula_of_region(analysis: AnalysisFile, name: str, columns: Collection[str]) -> str:
    """The formula of a region over columns alone: features that are formulas themselves are written out."""
    formulas = {f.name: f.formula for f in analysis.features if f.formula is not None and f.name not in columns}

    def written_out(found: re.Match[str]) -> str:
        formula = formulas.get(found["ticked"] or found["plain"])
        return found[0] if formula is None else f"({formula})"

    return _NAME.sub(written_out, analysis.regions[name])


def selection_with(analysis: AnalysisFile, name: str) -> str:
    """The selection of the analysis and of one of its regions together, for any of the samples."""
    formula = formula_of_region(analysis, name, columns_of(list(analysis.samples[0].files)))
    return formula if analysis.selection is None else f"({analysis.selection}) && ({formula})"


def columns_for_regions(analysis: AnalysisFile, files: tuple[str, ...], label: str) -> list[str]:
    """What is to be read of files, beside the features, so that its regions are known."""
    if not analysis.regions:
        return []
    columns, wanted = columns_of(list(files)), []
    for name in analysis.regions:
        formula = formula_of_region(analysis, name, columns)
        known = [*columns, *(feature.name for feature in analysis.features)]
        names = Expression.parse(formula).names
        named(analysis, ("regions", name), lambda names=names, known=known: check_known(names, known, label))  # type: ignore[misc]
        wanted.append(f"`{_key(name)}`={formula}")
    return wanted


def masks_of_regions(analysis: AnalysisFile, events: Events) -> dict[str, Mask]:
    """Which events lie in each region."""
    found = {}
    for name, formula in analysis.regions.items():
        made = events.extra[_key(name)]
        if not np.isin(made, (0.0, 1.0)).all():
            raise InputError(
                f"{analysis.where('regions', name)}: regions.{name}: {formula!r} yields numbers, but a region is true "
                "or false of every event: compare it with a number, for example with ... > 0"
            )
        found[name] = made == 1.0
    return found


def _key(name: str) -> str:
    """The name under which a region is read, which no column has."""
    return f"region {name}"
