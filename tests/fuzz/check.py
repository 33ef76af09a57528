"""Judge one case: it is accepted with the right values, or refused in one clear sentence, or it is a failure."""

from __future__ import annotations

import os
import re
import traceback
import warnings
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

from lanner.cli import main
from lanner.cli.config import load_config
from lanner.errors import LannerError, LannerWarning
from lanner.events.io import read_sample
from lanner.settings import RunSettings
from tests.fuzz.case import Case
from tests.fuzz.oracles import columns_by_hand

BUDGET = 30_000_000  # bytes that a file may take
SMALL = 50_000  # bytes that make many chunks of a file, and a spool of its events
BESIDE = 150_000_000  # bytes that libraries take beside it, whatever the file
_LONGEST = 4000  # characters of a message
_NUMBER_LINE = re.compile(r"^([a-z_-]+)\s*[:=]\s*([-+]?[0-9][0-9.eE+-]*)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What became of a case: "accepted", "refused", or what is wrong."""

    status: str
    detail: str = ""

    @property
    def fine(self) -> bool:
        return self.status in ("accepted", "refused")


def check(case: Case, folder: Path) -> Outcome:
    """Try a case in a folder of its own, and look at values, message, warnings and memory."""
    path = case.write(folder)
    before = _peak(reset=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            outcome = _CHECKS.get(case.kind, _file)(case, path)
        except LannerError as error:
            outcome = _message(str(error), path if case.kind != "flags" else None)
            # NaN everywhere, no rows, row numbers alone, and archives that come out whole have good reasons.
            if case.whole and not re.search("no rows|NaN|to be features, only|memory budget|writable", str(error)):
                outcome = Outcome("lost", f"a whole file is refused: {error}")
        except Exception:
            outcome = Outcome("traceback", traceback.format_exc())
    grown = _peak() - before
    foreign = [f"{w.category.__name__}: {w.message}" for w in said if not issubclass(w.category, LannerWarning)]
    if outcome.fine and foreign and not all("deprecat" in text.lower() for text in foreign):
        return Outcome("warning", "; ".join(foreign))
    if outcome.fine and case.kind not in _CHECKS and grown > BUDGET + BESIDE:
        return Outcome("memory", f"{grown / 1e6:.0f} MB where {BUDGET / 1e6:.0f} MB were allowed")
    return outcome


def _file(case: Case, path: Path) -> Outcome:
    events = read_sample(path, drop_nan=True, memory=SMALL if case.number % 2 else BUDGET)
    names = events.sample.names
    if case.delimiter == " " and len(names) == 1 and " " in names[0]:
        return Outcome("accepted")  # one column with blanks in its name, or what is left of several
    try:
        with np.errstate(invalid="ignore"):  # what damaged bytes are cast to is compared below
            truth = columns_by_hand(case, path, names)
    except Exception as error:
        return Outcome("mismatch", f"accepted {names}, but not by the other reader: {type(error).__name__}: {error}")
    table = np.column_stack([truth[name] for name in names])
    kept = table[~np.isnan(table).any(axis=1)]
    ours = events.sample.features
    if kept.shape != ours.shape or not np.array_equal(kept, ours):
        return Outcome(
            "mismatch", f"{names}: {ours.shape} {ours[:3].tolist()} instead of {kept.shape} {kept[:3].tolist()}"
        )
    return Outcome("accepted")


def _config(case: Case, path: Path) -> Outcome:
    settings = RunSettings.of(load_config(path))
    text = path.read_text()
    for key, token in _NUMBER_LINE.findall(text):
        value: Any = getattr(settings, key.replace("-", "_"), None)
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue  # a text, or several numbers
        exact = int(token) if token.lstrip("+-").isdigit() and isinstance(value, int) else float(token)
        if value != exact:
            return Outcome("mismatch", f"{key}: {token} became {value!r}")
    return Outcome("accepted")


def _flags(case: Case, path: Path) -> Outcome:
    before = set(os.listdir(path.parent))
    os.chdir(path.parent)
    done = CliRunner().invoke(main, list(case.arguments))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return Outcome("traceback", "".join(traceback.format_exception(done.exception)))
    if done.exit_code == 0:
        asked = [value for flag, value in pairwise(case.arguments) if flag == "--output"]  # of several the last counts
        strange = set(os.listdir(path.parent)) - before - {Path(asked[-1]).parts[0] if asked else "out"}
        return Outcome("strange files", str(strange)) if strange else Outcome("accepted")
    if done.exit_code not in (1, 2) or "Traceback" in done.output or "Error: " not in done.output:
        return Outcome("message", f"exit code {done.exit_code}: {done.output[-2000:]}")
    return _message(done.output.partition("Error: ")[2], None)


def _message(text: str, path: Path | None) -> Outcome:
    """A refusal has to be one line, or one for each setting, to name the file and to be short enough to read."""
    lines = text.strip().splitlines()
    if len(text) > _LONGEST or not lines or (path is not None and not all(path.name in line for line in lines)):
        return Outcome("message", text[:_LONGEST])
    return Outcome("refused", text[:200])


def _peak(*, reset: bool = False) -> int:
    """The most memory of this process so far, in bytes; since now, where it is reset."""
    if reset:
        with suppress(OSError):  # where that is not allowed, the most since the process began
            Path("/proc/self/clear_refs").write_text("5")
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


_CHECKS = {"config": _config, "flags": _flags}
