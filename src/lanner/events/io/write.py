"""Write columns to a file of the format its suffix names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.files import atomic_path
from lanner.errors import InputError
from lanner.typing import PathLike


def write_columns(path: PathLike, columns: Mapping[str, NDArray[Any]], *, note: str = "") -> Path:
    """Write columns to a file of the format its suffix names, whole or not at all.

    Parameters
    ----------
    path : str or path
        Where to write: Parquet, HDF5 (one dataset per column), ROOT (tree ``events``), CSV or npz.
    columns : dict of str to ndarray
        One value per event, by the name of the column.
    note : str, default ""
        How the events were made, for the file's metadata where the format has any.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If there is no format for the suffix, or the format cannot have a column of that name.
    FileError
        If the file cannot be written.
    """
    write = _WRITERS[check_suffix(path)]
    with atomic_path(path) as partial:
        write(partial, columns, note)
    return Path(path)


def check_suffix(path: PathLike) -> str:
    """Return the suffix in lower case; refuse one that names no format that can be written."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: no format for {suffix or 'a name without suffix'}; use one of {', '.join(SUFFIXES)}")
    return suffix


def _parquet(path: Path, columns: Mapping[str, NDArray[Any]], note: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(dict(columns), metadata={"lanner": note}), path)


def _hdf5(path: Path, columns: Mapping[str, NDArray[Any]], note: str) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.attrs["lanner"] = note
        for name, column in columns.items():
            if "/" in name or name in (".", ""):
                raise InputError(f"HDF5 takes a column named {name!r} for a group; rename it, or write Parquet")
            file.create_dataset(name, data=column)


def _root(path: Path, columns: Mapping[str, NDArray[Any]], note: str) -> None:
    import uproot

    with uproot.recreate(path) as file:
        file.mktree("events", {name: column.dtype for name, column in columns.items()})
        file["events"].extend(dict(columns))
        if note:
            file["lanner"] = note


def _csv(path: Path, columns: Mapping[str, NDArray[Any]], note: str) -> None:
    import pyarrow as pa
    import pyarrow.csv

    pyarrow.csv.write_csv(pa.table(dict(columns)), path)


def _npz(path: Path, columns: Mapping[str, NDArray[Any]], note: str) -> None:
    np.savez(path, **dict(columns))  # type: ignore[arg-type]


_WRITERS = {".parquet": _parquet, ".h5": _hdf5, ".hdf5": _hdf5, ".root": _root, ".csv": _csv, ".npz": _npz}
SUFFIXES = tuple(_WRITERS)
