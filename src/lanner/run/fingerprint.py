"""What makes a number: versions of the code, settings and events. Two numbers may stand together only if these agree.

Stores of toys, calibrations and results carry the versions; a worker sends those of the code that is installed where
it is with every batch. `tests/run/test_fingerprint.py` holds the numbers of each version, and fails where they move
while the version does not.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lanner
from lanner.events import Sample
from lanner.events.spread import SpreadTable

# Raise it where the statistic of the same events changes by more than its last digits, then run
# `python -m tests.run.pinned`: kept toys and calibrations of another version are refused.
STATISTIC = 2
# The same for which events a toy of a seed and a number takes.
SCHEME = 2
# Where no code is that a toy's statistic may depend on: what reads commands, draws and writes pages.
_MAKES_NO_NUMBERS = ("cli", "paper", "report")
_PACKAGES = ("lanner", "numpy", "scipy", "scikit-learn", "uproot", "awkward", "h5py", "pyarrow", "hist", "matplotlib")


def numbers_version() -> dict[str, int]:
    """The versions of the statistic and of the toys' scheme, which kept numbers carry."""
    return {"statistic": STATISTIC, "scheme": SCHEME}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result depends on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@dataclass(frozen=True)
class Maker:
    """The code that makes numbers: Lanner's version, that of its numbers, and a digest of its source."""

    version: str
    statistic: int
    scheme: int
    source: str

    @classmethod
    def here(cls) -> Maker:
        """The code that this process runs."""
        return cls(lanner.__version__, STATISTIC, SCHEME, _source())

    def __str__(self) -> str:
        return f"Lanner {self.version} (statistic {self.statistic}, scheme {self.scheme}, source {self.source[:8]})"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return asdict(self)


@cache
def _source() -> str:
    """A digest of the source that numbers depend on, as it was when this process first asked."""
    digest, root = hashlib.sha256(), Path(lanner.__file__).parent
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if name.parts[0] not in _MAKES_NO_NUMBERS:
            content = path.read_bytes().replace(b"\r\n", b"\n")
            digest.update(f"{name.as_posix()} {len(content)} ".encode() + content)
    return digest.hexdigest()


def fingerprint(description: dict[str, Any]) -> str:
    """A short name for what toys depend on."""
    text = json.dumps(description, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def array_digest(*arrays: NDArray[Any] | SpreadTable | None) -> str:
    """A digest of samples, to tell whether a store was made from the same events."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none")
        elif isinstance(array, SpreadTable):
            digest.update(array.digest.encode())
        else:
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def sample_digest(sample: Sample) -> str:
    """A digest of a sample's events and weights."""
    return array_digest(sample.features, sample.weights)
