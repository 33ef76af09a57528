"""The driver, and folders for its jobs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.harness import Driver, Undisturbed


@pytest.fixture
def ground() -> Iterator[Path]:
    """A folder in memory, where there is one: a disk would take most of the time."""
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    made = Driver()
    yield made
    made.close()


@pytest.fixture(scope="session")
def undisturbed(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return Undisturbed(driver, tmp_path_factory.mktemp("undisturbed"))
