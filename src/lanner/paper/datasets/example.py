"""A small DIMUON search that comes with the package: 10 000 reference events, and data in which a signal is hidden."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

EXPECTED = 2000.0  # events that the reference predicts in the data
NAMES = ("reference.parquet", "data.parquet")


def write_example(folder: str | Path = "example") -> tuple[Path, Path]:
    """Write a small search for new physics in muon pairs to a folder: a reference and data, as Parquet files.

    The reference is a simulation of 10 000 events without new physics, of which 2000 are expected in the data. Both
    have the transverse momenta ``pt1`` and ``pt2`` of two muons (GeV), their pseudorapidities ``eta1`` and ``eta2``,
    the angle ``delta_phi`` between them in the transverse plane (radians), and their invariant mass ``mll`` (GeV).

    Parameters
    ----------
    folder : str or Path, default "example"
        Where to write the files. The folder is made if it does not exist, and files of the same names are replaced.

    Returns
    -------
    reference : Path
        The file of the reference.
    data : Path
        The file of the data.

    Raises
    ------
    OSError
        If the folder or the files cannot be written.

    See Also
    --------
    lanner.read_sample : Read such a file.

    Examples
    --------
    >>> import lanner, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     reference, data = lanner.write_example(folder)
    ...     print(reference.name, len(lanner.read_sample(reference).sample))
    reference.parquet 10000
    """
    at = Path(folder)
    at.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        with as_file(files("lanner.paper.datasets") / "data" / name) as shipped:
            shutil.copyfile(shipped, at / name)
    return at / NAMES[0], at / NAMES[1]
