"""`RegionsResult`: what several regions say together, and each of them by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanner._util.files import write_atomically
from lanner.inference.null import Null
from lanner.inference.sequential import Stopping
from lanner.run.counted import Counted
from lanner.run.fingerprint import numbers_version, versions
from lanner.run.parts import Extrapolation
from lanner.run.result import SearchResult

SCHEMA = "lanner.regions/1"
FOLDER = "regions"  # in which each region has a folder of its name


@dataclass(frozen=True, eq=False)
class RegionResult:
    """What one region says by itself.

    Parameters
    ----------
    name : str
        Its name.
    result : SearchResult
        As a search of the region's events gives it: with its scales, its ratio, and plots of them.
    expected_error : float
        The statistical error of the number expected, from the reference events in the region.
    selection : str
        The formula that selects it; empty where masks were given.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(150, 1))
    >>> regions = {"low": "x0 < 1", "high": "x0 > 0.5"}
    >>> found = lanner.search_regions(reference, data, regions=regions, expected=150, toys=90, seed=1)
    >>> found.regions["low"].observed
    95
    """

    name: str
    result: SearchResult
    expected_error: float
    selection: str = ""

    @property
    def p_value(self) -> float:
        """The empirical p-value of this region alone, not corrected for having looked at others."""
        return self.result.p_value

    @property
    def z_score(self) -> float:
        """One-sided Z of `p_value`."""
        return self.result.z_score

    @property
    def statistic(self) -> float:
        """The statistic of the region's data."""
        return self.result.statistic

    @property
    def expected(self) -> float:
        """How many data events the reference predicts in the region."""
        return self.result.plan.expected

    @property
    def observed(self) -> int:
        """How many data events lie in the region."""
        return self.result.data_size

    def to_dict(self) -> dict[str, Any]:
        """Return what `result.json` of all regions says of this one.

        Returns
        -------
        dict
            Plain JSON.
        """
        p = self.result.empirical
        return {
            "selection": self.selection,
            "expected": self.expected,
            "expected_error": self.expected_error,
            "observed": self.observed,
            "reference_events": self.result.reference_total,
            "statistic": self.statistic,
            "p_value": p.p_value,
            "p_value_interval": list(p.interval),
            "p_value_is_bound": p.is_bound,
            "exceedances": p.exceedances,
            "toys": p.toys,
            "z_score": p.z_score,
        }


@dataclass(frozen=True, eq=False)
class RegionsResult(Counted):
    """What several regions, which may share events, say together.

    Parameters
    ----------
    statistic : float
        -ln p of the combination of the regions, before its calibration by toys.
    null : Null
        The same of the toys, each of which was drawn once and seen by every region.
    regions : mapping of str to RegionResult
        What each region says by itself, in the order in which they were given.
    leading : str
        The region that departs most from what toys have there.
    combination : str
        How the regions became one: "harmonic" or "smallest".
    n_map_toys : int
        Toys that made scales and regions comparable, which no p-value counts.
    data_size : int
        Number of data events, in any region or none.
    expected : float
        The number that the reference predicts, in any region or none.
    shared : int
        Data events that lie in more than one region.
    outside : int
        Data events that lie in none.
    seed : int
        Of all that is random.
    stopping : Stopping or None
        When to stop making toys; None where their number was fixed beforehand.
    shape_only : bool
        Whether the total number of data events was taken as it is.
    warnings : tuple of str
        What the search warned of.
    seconds : float
        Duration of the search in seconds.
    inputs : tuple of (str, str)
        Names and descriptions of the files that were read, if any.
    digests : tuple of (str, str)
        SHA-256 of all events of reference and data, by which they are recognised.

    See Also
    --------
    search_regions : Makes one.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(150, 1))
    >>> regions = {"low": "x0 < 1", "high": "x0 > 0.5"}
    >>> found = lanner.search_regions(reference, data, regions=regions, expected=150, toys=90, seed=1)
    >>> found.verdict().startswith("The data of the 2 regions are compatible with the reference (global p = 0.")
    True
    """

    statistic: float
    null: Null
    regions: Mapping[str, RegionResult]
    leading: str
    combination: str
    n_map_toys: int
    data_size: int
    expected: float
    shared: int
    outside: int
    seed: int
    stopping: Stopping | None = None
    shape_only: bool = False
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    inputs: tuple[tuple[str, str], ...] = ()
    digests: tuple[tuple[str, str], ...] = ()

    @property
    def tail(self) -> Extrapolation | None:
        """The tail fitted to the highest toys, where counting them leaves p uncertain and toys look like it."""
        return self._by_tail(self.null.trusted_tail)

    def verdict(self) -> str:
        """Return the outcome of all regions in one sentence, with the global p-value.

        Returns
        -------
        str
            A sentence, and nothing else.
        """
        from lanner.report.text.regions import verdict

        return verdict(self)

    def summary(self) -> str:
        """Return the verdict, and a line for each region.

        Returns
        -------
        str
            What `print(result)` shows.
        """
        from lanner.report.text.regions import summary

        return summary(self)

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain JSON.

        Returns
        -------
        dict
            The entries that `lanner/run/regions.schema.json` describes.
        """
        p, tail = self.empirical, self.tail
        return {
            "schema": SCHEMA,
            "verdict": self.verdict(),
            "statistic": self.statistic,
            "p_value": p.p_value,
            "p_value_interval": list(p.interval),
            "p_value_is_bound": p.is_bound,
            "z_score": p.z_score,
            "tail": None if tail is None else vars(tail),
            "combination": self.combination,
            "null": {
                "kind": self.null.kind,
                "toys": p.toys,
                "exceedances": p.exceedances,
                "made": len(self.null),
                "map_toys": self.n_map_toys,
            },
            "leading": self.leading,
            "data_events": self.data_size,
            "expected": self.expected,
            "shape_only": self.shape_only,
            "shared_data_events": self.shared,
            "data_events_outside": self.outside,
            "regions": {name: one.to_dict() for name, one in self.regions.items()},
            "seed": self.seed,
            "warnings": list(self.warnings),
            "inputs": dict(self.inputs),
            "samples": {"digests": dict(self.digests)},
            "numbers": numbers_version(),
            "versions": versions(),
            "seconds": self.seconds,
        }

    def to_json(self, indent: int | None = 1) -> str:
        """Return `to_dict` as JSON text.

        Parameters
        ----------
        indent : int or None, default 1
            Spaces by which each level is indented; None for a single line.

        Returns
        -------
        str
            What `result.json` holds.
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def save(self, folder: str | Path) -> Path:
        """Write `result.json`, and the result of each region to a folder of its name in `regions`.

        Parameters
        ----------
        folder : str or Path
            Where to write; made if it is not there.

        Returns
        -------
        Path
            Of `result.json` in that folder.
        """
        from lanner.run.result_io import RESULT, save_result

        for name, one in self.regions.items():
            save_result(one.result, Path(folder) / FOLDER / name)
        return write_atomically(Path(folder) / RESULT, self.to_json())

    def __str__(self) -> str:
        return self.summary()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from lanner.report.text.regions import summary_html

        return summary_html(self)
