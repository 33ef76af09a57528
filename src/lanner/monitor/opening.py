"""The calibration of a monitor's folder: made once from a reference, read later, and never taken for another one."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from lanner._util.progress import begin
from lanner._util.text import shown
from lanner.errors import FolderError, InputError, NullWarning
from lanner.events import Sample
from lanner.monitor.calibration import KIND, MonitorCalibration, Rules
from lanner.run.fingerprint import sample_digest
from lanner.run.manifest import Manifest, read_together, written_together
from lanner.run.prepare import checked_sample, chosen_features
from lanner.settings import FitSettings, checked
from lanner.typing import Progress

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
    read_only: bool,
    memory: Any = None,
    progress: Progress | None = None,
) -> MonitorCalibration:
    """The calibration that a folder holds, or a new one of the reference."""
    sample = None if reference is None else _sample(reference, asked)
    if (folder / "calibration.json").exists() or sample is None:
        kept, settings = read_together(folder, lambda: (MonitorCalibration.read(folder), _settings(folder)))
        asked.check(kept, settings, folder)
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
    made = MonitorCalibration.make(sample, rules, settings, memory=memory, progress=progress)
    keep(folder, made, settings)
    for words in made.refused:
        warnings.warn(f"the reference is too small for {words}", NullWarning, stacklevel=4)
    # As it will be read, so that batches are judged by the same numbers now and later.
    return MonitorCalibration.read(folder)


def keep(folder: Path, made: MonitorCalibration, settings: FitSettings) -> None:
    """Write a calibration with its settings."""
    with written_together(folder, KIND) as files:
        made.write(files)
        files.write(SETTINGS, json.dumps({f.name: getattr(settings, f.name) for f in fields(FitSettings)}, indent=1))


def _sample(reference: Any, asked: Asked) -> Sample:
    sample, _ = chosen_features(reference, "reference")
    return checked_sample(sample, "reference", _LEAST_REFERENCE, asked.fit.get("scaling", "robust"))


def _settings(folder: Path) -> FitSettings:
    try:
        return FitSettings(**json.loads(Manifest.read(folder, KIND).content(SETTINGS)))
    except (ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise FolderError(f"{folder / SETTINGS} is damaged ({error})") from error


def _checked_rule(name: str, value: Any) -> Any:
    if name == "windows":
        return tuple(sorted({int(k) for k in checked(name, value)}))
    return _tolerance(value) if name == "tolerance" else checked(name, value)


def _tolerance(value: Any) -> float:
    return 0.0 if value == 0 else float(checked("tolerance", value))
