"""A small monitor that many tests share: it takes a second to calibrate."""

from __future__ import annotations

import numpy as np
import pytest

import lanner
from lanner.monitor.calibration import MonitorCalibration, Rules
from lanner.monitor.judge import Judge
from lanner.monitor.yardstick import Halves, Yardstick
from lanner.settings import FitSettings
from lanner.typing import Array

BATCH, REFERENCE = 60, 6000
MEMORY = 10**9


def events(n: int, seed: int) -> Array:
    """An exponential and a normal column."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.exponential(size=n), rng.standard_normal(n)])


def reference() -> lanner.Sample:
    return lanner.Sample.of(events(REFERENCE, 1), names=["energy", "angle"])


@pytest.fixture(scope="session")
def measured() -> tuple[Yardstick, Halves]:
    """The yardstick and the halves of the reference."""
    return Yardstick.of(reference(), batch=BATCH, largest=8 * BATCH, settings=FitSettings(seed=3), memory=MEMORY)


@pytest.fixture(scope="session")
def calibration() -> MonitorCalibration:
    """Of batches of 60 events, with windows up to 8."""
    rules = Rules(batch=BATCH, run_length=50, toys=1500, streams=40, length=60, seed=3)
    return MonitorCalibration.make(reference(), rules, FitSettings(seed=3))


@pytest.fixture(scope="session")
def judge(calibration: MonitorCalibration) -> Judge:
    """Of the calibration."""
    return Judge(calibration)
