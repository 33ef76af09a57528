"""Folders of monitors that begin with a small calibration, and files of batches."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import lanner
from lanner.monitor.calibration import MonitorCalibration
from lanner.monitor.opening import keep
from lanner.monitor.store import CALIBRATION
from lanner.settings import FitSettings
from lanner.typing import Array
from tests.monitor.conftest import BATCH, events

NAMES = ("energy", "angle")


def folder_of(folder: Path, calibration: MonitorCalibration) -> Path:
    """A folder with a calibration and nothing else."""
    keep(folder / CALIBRATION, calibration, FitSettings(seed=3))
    return folder


def monitor_of(folder: Path, calibration: MonitorCalibration) -> lanner.Monitor:
    return lanner.Monitor(folder_of(folder, calibration))


def batch(seed: int, number: int = BATCH, shift: float = 0.0) -> dict[str, Array]:
    """Events in columns; a shift departs."""
    x = events(number, 500 + seed)
    return {"energy": x[:, 0], "angle": x[:, 1] + shift}


def write_csv(path: Path, columns: dict[str, Array], **more: Array) -> Path:
    """A CSV file, whole at once."""
    table = {**columns, **more}
    values = np.column_stack(list(table.values()))
    rows = [",".join(table), *(",".join(repr(float(x)) for x in row) for row in values)]
    path.write_text("\n".join(rows) + "\n")
    return path
