"""A run that is killed, at any write or at any moment, and run again ends with what an undisturbed one has.

A share runs with `make test`; `make faults` kills at every write and 200 times at random (`make faults KILLS=1000`).
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.faults.harness import Driver, Undisturbed, check_honest, check_whole, state

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the driver forks")
KILLS = int(os.environ.get("FAULTS_KILLS", "200"))


def killed_and_resumed(driver: Driver, undisturbed: Undisturbed, job: str, folder: Path, **how: Any) -> bool:
    """Kill a job, look at what it left, run it again, and compare; whether it was killed at all."""
    _, known, allowed = undisturbed(job)
    ended = driver(job, folder, **how)
    assert ended["error"] is None
    if folder.exists():
        check_honest(folder, allowed)
    again = driver(job, folder)
    assert again["error"] is None, again
    assert state(folder) == known  # no toy lost, none twice, no number moved, nothing left lying about
    check_whole(folder)
    shutil.rmtree(folder)
    return bool(ended["killed"])


@pytest.mark.parametrize("job", ["search", "calibrate"])
def test_killed_at_some_writes(driver: Driver, undisturbed: Undisturbed, ground: Path, job: str) -> None:
    writes = undisturbed(job)[0]["writes"]
    for kill in (writes // 2, writes - 3):
        assert killed_and_resumed(driver, undisturbed, job, ground / "out", kill=kill)


@pytest.mark.faults
@pytest.mark.parametrize("job", ["search", "scores", "calibrate", "command"])
def test_killed_at_every_write(driver: Driver, undisturbed: Undisturbed, ground: Path, job: str) -> None:
    for kill in range(undisturbed(job)[0]["writes"]):
        assert killed_and_resumed(driver, undisturbed, job, ground / "out", kill=kill)


@pytest.mark.faults
def test_killed_at_random_moments(driver: Driver, undisturbed: Undisturbed, ground: Path) -> None:
    moments, killed = random.Random(1), 0
    jobs = ["search", "scores", "calibrate"]
    for number in range(KILLS):
        job = jobs[number % len(jobs)]
        seconds = moments.uniform(0, undisturbed(job)[0]["seconds"])
        killed += killed_and_resumed(driver, undisturbed, job, ground / "out", seconds=seconds)
    assert killed > KILLS / 2


def test_killed_again_and_again_a_run_still_ends(driver: Driver, undisturbed: Undisturbed, ground: Path) -> None:
    _, known, _ = undisturbed("search")
    for kill in (3, 9, 9, 15):
        driver("search", ground / "out", kill=kill)
    assert driver("search", ground / "out")["error"] is None
    assert state(ground / "out") == known
