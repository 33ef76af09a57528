"""What the tests of faults share: the driver, and what a folder must hold after all."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import lanner
from lanner.errors import LannerError, LannerWarning
from lanner.run.manifest import NAME, Manifest

ROOT = Path(__file__).parents[2]


class Driver:
    """The process that runs jobs and kills them."""

    def __init__(self) -> None:
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.faults.driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | one,
        )

    def __call__(self, job: str, folder: Path, **order: Any) -> dict[str, Any]:
        """Run a job, disturbed or not; how it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"job": job, "folder": str(folder), **order}) + "\n")
        self._process.stdin.flush()
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


def state(folder: Path) -> dict[str, Any]:
    """All that a folder holds and that must be the same to the last bit, whatever happened on the way."""
    found: dict[str, Any] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.name == "result.json":
            found[name] = {k: v for k, v in json.loads(path.read_text()).items() if k not in ("seconds", "inputs")}
        elif path.name in (NAME, "report.html", "config.yaml"):  # which hold times and paths
            found[name] = None
        else:
            found[name] = path.read_bytes()
    return found


def check_whole(folder: Path) -> None:
    """The folder says of itself that it is whole, and its report agrees with its numbers."""
    for path in folder.rglob(NAME):
        for kind in json.loads(path.read_text())["files"]:
            manifest = Manifest.read(path.parent, kind)
            assert all(manifest.content(name) for name in manifest.files)
    report = folder / "report.html"
    if report.exists():
        assert json.loads((folder / "result.json").read_text())["verdict"] in html.unescape(report.read_text())


def check_honest(folder: Path, allowed: set[float]) -> None:
    """Whatever was interrupted, the folder gives one of the results that were meant, or none and says why."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LannerWarning)
        try:
            result = lanner.load_result(folder)
        except LannerError:
            return
    assert result.p_value in allowed
    assert json.loads((folder / "result.json").read_text())["p_value"] == result.p_value
    report = folder / "report.html"
    if report.exists():
        assert result.verdict() in html.unescape(report.read_text())


class Undisturbed:
    """Jobs as they end where nothing happens: their files, writes, seconds and p-values."""

    def __init__(self, driver: Driver, folder: Path) -> None:
        self._driver, self._folder = driver, folder
        self._known: dict[str, tuple[dict[str, Any], dict[str, Any], set[float]]] = {}

    def __call__(self, job: str) -> tuple[dict[str, Any], dict[str, Any], set[float]]:
        if job not in self._known:
            folder = self._folder / job
            ended = self._driver(job, folder)
            assert ended["error"] is None
            allowed = {
                json.loads(p.read_text())["p_value"] for p in (*folder.glob("looks/*"), *folder.rglob("result.json"))
            }
            self._known[job] = ended, state(folder), allowed
        return self._known[job]
