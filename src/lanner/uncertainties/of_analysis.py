"""The uncertainties of an analysis file, with the weights, labels and samples that they are made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from lanner.errors import InputError
from lanner.events.analysis.declared import AnalysisFile
from lanner.events.analysis.reference import ProcessedReference, read_shifted
from lanner.events.analysis.uncertain import Uncertain
from lanner.uncertainties.declared import Normalisation, Process, Shifted, Uncertainty, Weights


def uncertainties_of_analysis(
    analysis: AnalysisFile, reference: ProcessedReference, *, memory: float | str | None = None
) -> tuple[Uncertainty, ...]:
    """Make them; samples that were shifted are read now. Errors name the line and the key."""
    return tuple(_made(analysis, one, reference, memory) for one in analysis.uncertainties)


def _made(
    analysis: AnalysisFile, one: Uncertain, reference: ProcessedReference, memory: float | str | None
) -> Uncertainty:
    def said(make: Callable[[], Any]) -> Any:
        try:
            return make()
        except InputError as error:
            if str(error).startswith(str(analysis.path)):
                raise
            place = analysis.where("uncertainties", one.name)
            raise InputError(f"{place}: uncertainties.{one.name}: {error}") from None

    if one.process is not None:
        label = reference.of_process(one.process)
        if not label.any():
            raise InputError(
                f"{analysis.where('uncertainties', one.name, 'process')}: uncertainties.{one.name}.process: no event "
                f"of {one.process!r} passes the selection: leave this uncertainty out, or select otherwise"
            )
        found: Uncertainty = said(lambda: Process(one.name, one.size or 0.0, label=label))
    elif one.weights_up:
        up, down = (reference.varied.get((one.name, direction)) for direction in ("up", "down"))
        found = said(lambda: Weights(one.name, up=up, down=down))
    elif one.shifted:
        samples = {
            direction: said(partial(read_shifted, analysis, one, direction, reference, memory=memory))
            for direction in one.directions
        }
        found = said(lambda: Shifted(one.name, **samples))
    else:
        found = said(lambda: Normalisation(one.name, one.size or 0.0))
    return found
