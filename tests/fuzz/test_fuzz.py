"""A quick share of the fuzzing, with a seed that never changes; `make fuzz` tries thousands."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from lanner.errors import LannerError
from lanner.events.io import read_sample
from tests.fuzz.case import Case, generator
from tests.fuzz.check import Outcome, check
from tests.fuzz.files import KINDS, damaged, make
from tests.fuzz.pool import case_of, kind_of, run

QUICK = 600
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured as Linux tells it")


def test_nothing_that_is_read_breaks_hangs_or_changes_without_a_word() -> None:
    # Flags take seconds where they start a search, and have the tests of the command line beside this one.
    tasks = [(0, number) for number in range(QUICK) if kind_of(number) != "flags"]
    found = list(run(tasks, processes=1))
    failures = {case_of(*task).name: outcome for task, outcome in found if not outcome.fine}  # type: ignore[misc]
    assert failures == {}
    assert {outcome.status for _, outcome in found} == {"accepted", "refused"}
    assert len(found) == len(tasks)


def test_a_case_is_made_of_its_seed_and_number_alone() -> None:
    for number in range(len(KINDS)):
        if kind_of(number) in ("csv", "csv.gz", "npy"):  # others have a date in them
            assert case_of(3, number) == case_of(3, number)
    assert damaged(generator(1, 1), b"x" * 100) != b"x" * 100


def test_a_case_that_was_kept_is_tried_again(tmp_path: Path) -> None:
    case = make(1, 5, "csv")
    again = Case.kept(case.keep(tmp_path, "why"))
    assert again == case
    assert check(again, tmp_path / "new").fine


def silently_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    import tests.fuzz.check as module

    def off_by_one(*args, **kwargs):
        events = read(*args, **kwargs)
        shifted = events.sample.features + 1.0
        return type(events)(type(events.sample)(shifted, events.sample.names), {}, "", 0)

    read = read_sample
    monkeypatch.setattr(module, "read_sample", off_by_one)


def test_a_value_that_changed_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("csv", 0, 0, {"t.csv": b"a,b\n1,2\n3,4\n"}, whole=True)
    assert check(case, tmp_path) == Outcome("accepted")
    silently_wrong(monkeypatch)
    assert check(case, tmp_path).status == "mismatch"


def test_a_traceback_and_too_much_memory_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tests.fuzz.check as module

    case = Case("csv", 0, 0, {"t.csv": b"a,b\n1,2\n"})
    monkeypatch.setattr(module, "read_sample", lambda *_, **__: 1 / 0)
    assert check(case, tmp_path).status == "traceback"

    def greedy(path, **_):
        np.ones(int(module.BUDGET + module.BESIDE) // 8 + 10**6)
        raise LannerError(f"{path} is refused")

    monkeypatch.setattr(module, "read_sample", greedy)
    assert check(case, tmp_path).status == "memory"


class Sleeper(Case):
    """A case that never ends, or ends the process."""

    def write(self, folder: Path) -> Path:
        if self.kind == "crash":
            os.kill(os.getpid(), 9)
        time.sleep(60)
        return folder


def test_a_hang_and_a_crash_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    import tests.fuzz.pool as module

    monkeypatch.setattr(module, "SECONDS", 1.5)
    found = [outcome.status for _, outcome in run([Sleeper("crash", 0, 0), Sleeper("hang", 0, 1), (0, 0)], processes=1)]
    assert found[:2] == ["crash", "hang"]
    assert found[2] in ("accepted", "refused")
