"""The files of a calibration that hold what is kept of each width, each bound to the calibration by a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lanner._util.files import arrays_as_bytes, read_arrays
from lanner.errors import InputError
from lanner.inference.kept import KeptWidth, keeps
from lanner.inference.multiscale import Ladder
from lanner.inference.score_experiment import ScoreExperiment
from lanner.model.backend import NUMPY, Arrays
from lanner.run.fingerprint import array_digest
from lanner.run.manifest import FolderWriter


def keep_widths(files: FolderWriter, ladder: Ladder, toys: int) -> list[str]:
    """Write what judges data at each width, if it can be kept; the digests of the files."""
    if not keeps(ladder):
        return []
    first = {e.plan.width: e for e in reversed(ladder.scales) if isinstance(e, ScoreExperiment)}
    digests = []
    for k, width in enumerate(sorted(first)):
        arrays = KeptWidth.of(first[width], toys).to_arrays()
        files.write(_name(k), arrays_as_bytes(arrays))
        digests.append(_digest(arrays))
    return digests


def read_widths(folder: Path, digests: Sequence[str], arrays: Arrays = NUMPY) -> dict[float, KeptWidth]:
    """What was kept, by width; files that do not belong to the calibration are refused."""
    found = {}
    for k, digest in enumerate(digests):
        path = folder / _name(k)
        try:
            kept = read_arrays(path)
            whole = _digest(kept) == digest
        except Exception as error:  # whatever a damaged archive makes NumPy or zipfile raise
            raise InputError(f"{path} is damaged or missing ({error}); calibrate again") from error
        if not whole:
            raise InputError(f"{path} does not belong to the calibration beside it; calibrate again")
        width = KeptWidth.from_arrays(kept, arrays)
        found[width.model.basis.kernel.width] = width
    return found


def _name(k: int) -> str:
    return f"widths/width-{k}.npz"


def _digest(arrays: dict[str, Any]) -> str:
    names = sorted(arrays)
    return hashlib.sha256(f"{names} {array_digest(*(arrays[name] for name in names))}".encode()).hexdigest()
