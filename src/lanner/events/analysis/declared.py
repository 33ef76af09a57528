"""What an analysis file says, as frozen values that are checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lanner.events.analysis.uncertain import Uncertain


@dataclass(frozen=True)
class Feature:
    """A column to test: how it is made, and what is written on the axes of its plots."""

    name: str
    formula: str | None = None  # None: the column of that name
    label: str | None = None  # None: the name
    unit: str | None = None
    periodic: float | None = None  # the length of a turn

    @property
    def spelled(self) -> str:
        """As `read_sample` takes it.

        >>> Feature("ht", "pt1 + pt2").spelled, Feature("pt1").spelled
        ('ht=pt1 + pt2', 'pt1')
        """
        return self.name if self.formula is None else f"{self.name}={self.formula}"

    @property
    def axis(self) -> str:
        """What stands on an axis.

        >>> Feature("ht", label="$H_T$", unit="GeV").axis
        '$H_T$ [GeV]'
        """
        label = self.label or self.name
        return label if self.unit is None else f"{label} [{self.unit}]"


@dataclass(frozen=True)
class Simulated:
    """A simulated sample, of a process whose cross-section is known."""

    name: str
    files: tuple[str, ...]
    process: str
    weights: tuple[str, ...] = ()  # columns or formulas, whose product is the weight of an event
    cross_section: float | None = None  # pb
    sum_of_weights: float | str | None = None  # of all events that were generated, or the column to sum


@dataclass(frozen=True)
class AnalysisFile:
    """Samples, data, features, selection, regions and settings of an analysis."""

    path: Path
    samples: tuple[Simulated, ...]
    data: tuple[str, ...]
    features: tuple[Feature, ...]
    selection: str | None = None
    regions: dict[str, str] = field(default_factory=dict)  # formulas, by name; events may lie in several
    luminosity: float | None = None  # fb^-1
    settings: dict[str, Any] = field(default_factory=dict)  # of the search, as in a configuration file
    uncertainties: tuple[Uncertain, ...] = ()
    lines: dict[tuple[Any, ...], int] = field(default_factory=dict, repr=False)

    @property
    def processes(self) -> tuple[str, ...]:
        """The processes, in the order in which they are declared first."""
        return tuple(dict.fromkeys(sample.process for sample in self.samples))

    def where(self, *keys: Any) -> str:
        """The file and the line of an entry, or of what is nearest around it."""
        for end in range(len(keys), 0, -1):
            if keys[:end] in self.lines:
                return f"{self.path}:{self.lines[keys[:end]]}"
        return str(self.path)
