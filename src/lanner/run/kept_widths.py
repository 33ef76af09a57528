"""The files of a calibration that hold what is kept of each width, each bound to the calibration by a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from lanner._util.files import arrays_as_bytes, read_arrays
from lanner.errors import InputError
from lanner.inference.kept import KeptWidth, keeps
from lanner.inference.multiscale import Ladder
from lanner.inference.score_experiment import ScoreExperiment
from lanner.model.backend import NUMPY, Arrays
from lanner.run.fingerprint import array_digest
from lanner.run.manifest import FolderWriter

Arrayed = dict[str, NDArray[Any]]


def keep_widths(files: FolderWriter, ladder: Ladder, toys: int) -> list[str]:
    """Write what judges data at each width, if it can be kept; the digests of the files."""
    if not keeps(ladder):
        return []
    first = {e.plan.width: e for e in reversed(ladder.scales) if isinstance(e, ScoreExperiment)}
    return keep_arrays(files, "widths", [KeptWidth.of(first[width], toys).to_arrays() for width in sorted(first)])


def read_widths(folder: Path, digests: Sequence[str], arrays: Arrays = NUMPY) -> dict[float, KeptWidth]:
    """What was kept, by width; files that do not belong to the calibration are refused."""
    widths = [KeptWidth.from_arrays(kept, arrays) for kept in read_kept(folder, "widths", digests)]
    return {width.model.basis.kernel.width: width for width in widths}


def keep_arrays(files: FolderWriter, name: str, parts: Sequence[Arrayed]) -> list[str]:
    """Write a file for each part into a folder of this name; the digests of what they hold."""
    for k, arrays in enumerate(parts):
        files.write(_path(name, k), arrays_as_bytes(arrays))
    return [digest_of_arrays(arrays) for arrays in parts]


def read_kept(folder: Path, name: str, digests: Sequence[str]) -> list[Arrayed]:
    """What `keep_arrays` wrote; files that do not belong to the calibration are refused."""
    found = []
    for k, digest in enumerate(digests):
        path = folder / _path(name, k)
        try:
            kept = read_arrays(path)
            whole = digest_of_arrays(kept) == digest
        except Exception as error:  # whatever a damaged archive makes NumPy or zipfile raise
            raise InputError(f"{path} is damaged or missing ({error}); calibrate again") from error
        if not whole:
            raise InputError(f"{path} does not belong to the calibration beside it; calibrate again")
        found.append(kept)
    return found


def digest_of_arrays(arrays: Mapping[str, NDArray[Any]]) -> str:
    """A digest of arrays and their names."""
    names = sorted(arrays)
    return hashlib.sha256(f"{names} {array_digest(*(arrays[name] for name in names))}".encode()).hexdigest()


def _path(name: str, k: int) -> str:
    return f"{name}/width-{k}.npz"
