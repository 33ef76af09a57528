"""A small DIMUON search that comes with the package: 10 000 reference events, and data in which a signal is hidden."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

EXPECTED = 2000.0  # events that the reference predicts in the data
NAMES = ("reference.parquet", "data.parquet")


def write_example(folder: str | Path = "example") -> tuple[Path, Path]:
    """Write the example's reference and data as Parquet files into a folder, and return where they are.

    The reference predicts 2000 events in the data. Columns: pt1, pt2, eta1, eta2, delta_phi of two muons, and mll.
    """
    at = Path(folder)
    at.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        with as_file(files("lanner.paper.datasets") / "data" / name) as shipped:
            shutil.copyfile(shipped, at / name)
    return at / NAMES[0], at / NAMES[1]
