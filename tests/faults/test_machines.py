"""Strange machines: full disks, no locks, closed folders, little memory. A run ends with one line, and resumes."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.harness import Driver, Undisturbed, check_whole, state

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the driver forks")
NOBODY = 65534


def fails_and_resumes(driver: Driver, undisturbed: Undisturbed, job: str, folder: Path, fault: dict[str, Any]) -> str:
    """How a job ends under a fault; without it, it must end as if nothing had been."""
    ended = driver(job, folder, fault=fault)
    assert not ended["killed"]
    again = driver(job, folder)
    assert again["error"] is None, again
    assert state(folder) == undisturbed(job)[1]
    check_whole(folder)
    return str(ended["error"])


@pytest.mark.parametrize("writes", [0, 23])
def test_a_full_disk(driver: Driver, undisturbed: Undisturbed, ground: Path, writes: int) -> None:
    error = fails_and_resumes(driver, undisturbed, "search", ground / "out", {"full_after": writes})
    assert error.startswith("FileError: the disk of ")
    assert "what was there before is safe" in error


@pytest.mark.parametrize("size", [500, 3000])
def test_a_limit_of_the_size_of_files(driver: Driver, undisturbed: Undisturbed, ground: Path, size: int) -> None:
    error = fails_and_resumes(driver, undisturbed, "search", ground / "out", {"largest_file": size})
    assert error.startswith("FileError: ")
    assert "cannot be written: File too large" in error


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 32 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_really_full(driver: Driver, undisturbed: Undisturbed, small_disk: Path, tmp_path: Path) -> None:
    ended = driver("search", small_disk / "out")
    assert ended["error"] is not None
    assert "full" in ended["error"]
    shutil.copytree(small_disk / "out", tmp_path / "out")  # to a larger one
    assert driver("search", tmp_path / "out")["error"] is None
    assert state(tmp_path / "out") == undisturbed("search")[1]


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOLCK, errno.EACCES])
def test_no_locks(driver: Driver, undisturbed: Undisturbed, ground: Path, code: int) -> None:
    ended = driver("search", ground / "out", fault={"no_locks": code})
    assert ended["error"] is None
    assert any("has no locks" in said for said in ended["warnings"])
    found, known = state(ground / "out"), undisturbed("search")[1]
    assert any("has no locks" in said for said in found["result.json"].pop("warnings"))
    assert found | {"result.json": None} == known | {"result.json": None}
    assert found["result.json"].items() <= known["result.json"].items()


def test_a_folder_that_is_closed(driver: Driver, undisturbed: Undisturbed, ground: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become somebody who may not write here")
    ground.chmod(0o755)
    error = fails_and_resumes(driver, undisturbed, "search", ground / "out", {"user": NOBODY})
    assert error.startswith(("StoreError: ", "FileError: "))
    assert "Permission denied" in error


def test_a_finished_folder_that_is_closed_can_still_be_read(driver: Driver, ground: Path) -> None:
    """What is read is not written to: no lock, no repair, no file beside."""
    if os.getuid() != 0:
        pytest.skip("only root can become somebody who may not write here")
    ground.chmod(0o755)
    assert driver("calibrate", ground / "out")["error"] is None
    before = state(ground / "out")
    ended = driver("read", ground / "out", fault={"user": NOBODY})
    assert (ended["error"], ended["warnings"]) == (None, [])
    assert state(ground / "out") == before


@pytest.mark.parametrize("megabytes", [1, 15])
def test_little_memory(driver: Driver, undisturbed: Undisturbed, ground: Path, megabytes: int) -> None:
    """A run that goes on from toys that are there, and runs out of memory: one line, and not a byte of them is lost."""
    if not hasattr(resource, "RLIMIT_AS") or not Path("/proc/self/statm").exists():
        pytest.skip("no limit of memory here")
    assert driver("scores", ground / "out", kill=20)["killed"]
    before = {path: path.read_bytes() for path in (ground / "out").rglob("*.npz")}
    assert before
    ended = driver("scores", ground / "out", fault={"memory": megabytes * 10**6})
    assert not ended["killed"]
    assert str(ended["error"]).startswith("MemoryBudgetError: there is not enough memory (")
    assert ended["warnings"] == []
    assert {path: path.read_bytes() for path in (ground / "out").rglob("*.npz")} == before
    assert driver("scores", ground / "out")["error"] is None
    assert state(ground / "out") == undisturbed("scores")[1]
    check_whole(ground / "out")
