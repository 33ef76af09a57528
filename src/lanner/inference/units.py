"""The units of a search, learned as its settings say, and what there is to say about them."""

from __future__ import annotations

from dataclasses import dataclass

from lanner._util.text import listed
from lanner.events import Sample, Scaling
from lanner.events.angles import TURN, looks_like_angle
from lanner.events.missing import ABSENT
from lanner.events.units import constant_columns
from lanner.settings import FitSettings
from lanner.typing import Array


@dataclass(frozen=True)
class Chosen:
    """A setting that was left open: what was chosen, and why."""

    setting: str
    value: str
    reason: str

    def __str__(self) -> str:
        return f"{self.setting} {self.value}: {self.reason}"


def learn_units(sample: Sample, settings: FitSettings, label: str = "reference") -> Scaling:
    """The units of a sample, by the settings; `label` is what messages call it."""
    return Scaling.learn(sample, settings.scaling, missing=settings.missing, periodic=settings.periodic, label=label)


def said_of_units(units: Scaling, sample: Sample, label: str) -> list[Chosen]:
    """What was taken as missing, what never varies and what looks like an angle, in the sample they were learned on."""
    said = [
        Chosen(
            "missing values",
            f"{one} ({_percent(one.share)} of {label})",
            "events that have no such object: missing, with an indicator of its own"
            if one.value == ABSENT
            else "shared by many rows far from all others: taken as missing, with an indicator of its own",
        )
        for one in units.missing
    ]
    if units.rule == "robust":
        said += [
            Chosen(
                "constant column",
                f"{sample.names[j]!r} (always {sample.features[0, j]:g} in {label})",
                "kept: an event with any other value is far from all others",
            )
            for j in constant_columns(sample.features)
        ]
    turns = {
        name: looks_like_angle(_present(units, sample, j))
        for j, name in enumerate(sample.names)
        if name not in units.periodic
    }
    alike = {name: turn for name, turn in turns.items() if turn is not None}
    if alike:
        wanted = [name if turn == TURN else f"{name}={turn:g}" for name, turn in alike.items()]
        one = len(alike) == 1
        what = f"column {listed(alike)} looks like an angle" if one else f"columns {listed(alike)} look like angles"
        reason = f"{what}: periodic={wanted} would join {'its' if one else 'their'} ends"
        said.append(Chosen("periodic", ", ".join(units.periodic) or "none", reason))
    return said


def _present(units: Scaling, sample: Sample, j: int) -> Array:
    """The values of a column that are not missing."""
    column: Array = sample.features[:, j]
    for one in units.missing:
        if one.column == sample.names[j]:
            column = column[column != one.value]
    return column


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.01 else f"{100 * share:.2g} %"
