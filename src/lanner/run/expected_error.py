"""What the reference's weights expect beside uncertainties: its statistical error is one more of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lanner.errors import InputError
from lanner.events import Sample
from lanner.run.prepare import FROM_WEIGHTS, expected_of
from lanner.uncertainties.declared import Normalisation, Uncertainty

NAME = "events simulated"


def with_expected_error(
    expected: float | str | None, reference: Any, uncertainties: Sequence[Uncertainty]
) -> tuple[float | str | None, Sequence[Uncertainty]]:
    """The number expected and all uncertainties, where the first was to come from the weights; else what was given."""
    if not uncertainties or expected != FROM_WEIGHTS or not isinstance(reference, Sample):
        return expected, uncertainties
    number, error = expected_of(expected, reference)
    if not number or not error:
        return number, uncertainties
    if any(one.name == NAME for one in uncertainties if isinstance(one, Uncertainty)):
        raise InputError(
            f"an uncertainty is called {NAME!r}, as that of the number expected by the weights is: give it another "
            "name, or give expected= as a number"
        )
    return number, (*uncertainties, Normalisation(NAME, min(error / number, 1.0)))
