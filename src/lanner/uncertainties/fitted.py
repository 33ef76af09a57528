"""The reference at the nuisance parameters that fit the data best, for those who show it after the search.

Functions that were learned are kept; of a function of Python, which no file can hold, what it says of the reference's
own events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.typing import Array
from lanner.uncertainties.effects import GlobalNormalisation, Nuisances
from lanner.uncertainties.learned import LearnedNuisances, LearnedShare, LearnedVariation
from lanner.uncertainties.profile import Profile

_FUNCTION = "function_"  # how the names of arrays of learned functions begin


@dataclass(frozen=True, eq=False)
class AtEvents:
    """What the fitted nuisances do to some events."""

    ratio: Array  # r(x; nu^)
    slopes: NDArray[np.float32]  # (events, nuisances): d log r / d nu there
    covariance: Array  # of nu^


@dataclass(frozen=True, eq=False)
class FittedReference:
    """Nuisances as functions or as tables of the reference's events, their best values, and the covariance of these."""

    nu: Array
    covariance: Array
    functions: LearnedNuisances
    places: tuple[int, ...]  # of the functions among all nuisances
    tables: Mapping[int, NDArray[np.float32]]  # of the others: log r and its slope at nu^, (2, reference events)

    @classmethod
    def of(cls, nuisances: Nuisances, fit: Profile, features: Array) -> FittedReference:
        """Of a fit, given the features of the reference."""
        kept = tuple(
            k
            for k, variation in enumerate(nuisances.variations)
            if isinstance(variation, GlobalNormalisation | LearnedShare | LearnedVariation)
        )
        functions = LearnedNuisances(tuple(nuisances.variations[k] for k in kept))
        tables = {
            k: np.stack(variation.of(features).at(float(fit.nu[k]))[:2]).astype(np.float32)
            for k, variation in enumerate(nuisances.variations)
            if k not in kept
        }
        return cls(fit.nu, fit.covariance, functions, kept, tables)

    def at(self, features: Array, rows: NDArray[np.intp] | None = None) -> AtEvents:
        """The reference's events at the best values, given the features of all in their own order; or some rows."""
        chosen = slice(None) if rows is None else rows
        events = features[chosen]
        log_r, slopes = np.zeros(len(events)), np.zeros((len(events), len(self.nu)), dtype=np.float32)
        if self.places:
            added, d, _ = self.functions.of(events).at(self.nu[list(self.places)])
            log_r += added
            slopes[:, list(self.places)] = d
        for k, table in self.tables.items():
            if table.shape[1] != len(features):
                raise InputError(
                    f"an uncertainty was given as a function of Python, and what it does is known of the search's "
                    f"{table.shape[1]} reference events alone, not of these {len(features)}: give all of them"
                )
            log_r += table[0, chosen]
            slopes[:, k] = table[1, chosen]
        return AtEvents(np.exp(log_r), slopes, self.covariance)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What `from_arrays` makes the same of."""
        arrays: dict[str, NDArray[Any]] = {"nu": self.nu, "covariance": self.covariance}
        arrays["places"] = np.array(self.places, dtype=np.int64)
        arrays |= {f"table{k}": table for k, table in self.tables.items()}
        if self.places:
            arrays |= {f"{_FUNCTION}{name}": array for name, array in self.functions.to_arrays().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> FittedReference:
        """What was kept."""
        places = tuple(int(k) for k in arrays["places"])
        kept = {name.removeprefix(_FUNCTION): a for name, a in arrays.items() if name.startswith(_FUNCTION)}
        functions = LearnedNuisances.from_arrays(kept) if places else LearnedNuisances(())
        number = len(arrays["nu"])
        tables = {k: arrays[f"table{k}"] for k in range(number) if k not in places}
        if arrays["covariance"].shape != (number, number) or len(functions) != len(places):
            raise InputError("the kept uncertainties do not fit together")
        return cls(arrays["nu"], arrays["covariance"], functions, places, tables)
