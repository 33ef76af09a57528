"""The calibration of a monitor's folder: made once from a reference, read later, and never taken for another one."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.progress import begin
from lanner._util.text import shown
from lanner.errors import InputError, NullWarning
from lanner.events import Sample, match_columns
from lanner.events.io.roles import sample_like
from lanner.monitor.calibration import KIND, MonitorCalibration, Rules
from lanner.run.fingerprint import array_digest, sample_digest
from lanner.run.manifest import Manifest, read_together, written_together
from lanner.run.prepare import checked_sample, chosen_features
from lanner.settings import FitSettings, checked
from lanner.typing import Array, Progress

SETTINGS = "settings.json"  # of the fit, beside the calibration
_LEAST_REFERENCE = 100


@dataclass(frozen=True)
class Asked:
    """The rules and settings that somebody gave; what was left open is at its default, or as it was the first time."""

    rules: Mapping[str, Any]
    fit: Mapping[str, Any]

    @classmethod
    def of(cls, *, rules: Mapping[str, Any], fit: Mapping[str, Any]) -> Asked:
        """Of values that may be None where nobody gave them."""
        given = {name: _checked_rule(name, value) for name, value in rules.items() if value is not None}
        of_fit = {name: value for name, value in fit.items() if value is not None}
        FitSettings(**of_fit)  # refuses what cannot be used
        return cls(given, {name: getattr(FitSettings(**of_fit), name) for name in of_fit})

    def rules_to_make(self) -> Rules:
        """Those of a new calibration."""
        if "batch" not in self.rules:
            raise InputError("batch=None: give the number of events of a typical batch, for which toys are made")
        return Rules(**self.rules)

    def settings_to_make(self) -> FitSettings:
        """Those of a new calibration."""
        return FitSettings(**{"seed": self.rules.get("seed", 0)} | dict(self.fit))

    def check(self, kept: MonitorCalibration, settings: FitSettings, folder: Path) -> None:
        """Refuse a calibration that was made by other rules or settings."""
        before = asdict(kept.rules) | {name: getattr(settings, name) for name in self.fit}
        for name, value in {**self.rules, **self.fit}.items():
            if value != before[name]:
                raise InputError(
                    f"{name}={shown(value)}, but {folder} was calibrated with {name}={shown(before[name])}: leave it "
                    "out, or use another folder"
                )


def calibrated(
    folder: Path,
    reference: Any,
    asked: Asked,
    *,
    good: Sequence[Any] = (),
    read_only: bool = False,
    memory: Any = None,
    progress: Progress | None = None,
) -> MonitorCalibration:
    """The calibration that a folder holds, or a new one of the reference and of batches that are good."""
    sample = None if reference is None else _sample(reference, asked)
    if (folder / "calibration.json").exists() or sample is None:
        kept, beside = read_together(folder, lambda: (MonitorCalibration.read(folder), _Beside.read(folder)))
        asked.check(kept, beside.settings, folder)
        if good and _digest(_events_of(good, kept.yardstick.names)) != beside.good:
            raise InputError(
                f"{folder} was calibrated {'with other' if beside.good else 'without any'} good batches: leave them "
                "out, or use another folder"
            )
        if sample is not None and sample_digest(sample) != kept.reference:
            raise InputError(
                f"{folder} was calibrated with another reference than these {len(sample)} events: leave the reference "
                "out, or use another folder"
            )
        return kept
    if read_only:
        raise InputError(f"{folder} holds no calibration to look at")
    rules, settings = asked.rules_to_make(), asked.settings_to_make()
    begin(progress, "calibrating")
    spread = _events_of(good, sample.names)
    made = MonitorCalibration.make(sample, rules, settings, good=spread, memory=memory, progress=progress)
    keep(folder, made, settings, good=_digest(spread))
    for words in made.refused:
        warnings.warn(f"the reference is too small for {words}", NullWarning, stacklevel=4)
    # As it will be read, so that batches are judged by the same numbers now and later.
    return MonitorCalibration.read(folder)


def keep(folder: Path, made: MonitorCalibration, settings: FitSettings, *, good: str = "") -> None:
    """Write a calibration with its settings and the digest of the good batches."""
    of_fit = {f.name: getattr(settings, f.name) for f in fields(FitSettings)}
    with written_together(folder, KIND) as files:
        made.write(files)
        files.write(SETTINGS, json.dumps({"fit": of_fit, "good": good}, indent=1))


def events_like(names: tuple[str, ...], batch: Any, label: str) -> Array:
    """The events of a batch in the columns of the reference; there may be none."""
    if not isinstance(batch, Sample) and _is_empty(batch):
        return np.zeros((0, len(names)))
    of_reference = Sample(np.zeros((1, len(names))), names)
    sample = match_columns(of_reference, sample_like(names, batch, label), labels=("reference", label))
    if sample.weights is not None:
        raise InputError(f"{label} has event weights: measured events have none; give them without")
    return sample.features


def _is_empty(batch: Any) -> bool:
    rows = next(iter(batch.values()), ()) if isinstance(batch, Mapping) else batch
    return hasattr(rows, "__len__") and len(rows) == 0


def _events_of(good: Sequence[Any], names: tuple[str, ...]) -> list[Array]:
    return [events_like(names, batch, f"good batch {k}") for k, batch in enumerate(good, start=1)]


def _digest(batches: Sequence[Array]) -> str:
    return array_digest(*batches) if batches else ""


def _sample(reference: Any, asked: Asked) -> Sample:
    sample, _ = chosen_features(reference, "reference")
    return checked_sample(sample, "reference", _LEAST_REFERENCE, asked.fit.get("scaling", "robust"))


@dataclass(frozen=True)
class _Beside:
    """What stands beside a calibration."""

    settings: FitSettings
    good: str

    @classmethod
    def read(cls, folder: Path) -> _Beside:
        plain = json.loads(Manifest.read(folder, KIND).content(SETTINGS))
        return cls(FitSettings(**plain["fit"]), str(plain["good"]))


def _checked_rule(name: str, value: Any) -> Any:
    if name == "windows":
        return tuple(sorted({int(k) for k in checked(name, value)}))
    return _tolerance(value) if name == "tolerance" else checked(name, value)


def _tolerance(value: Any) -> float:
    return 0.0 if value == 0 else float(checked("tolerance", value))
