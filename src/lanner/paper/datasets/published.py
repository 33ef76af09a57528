"""Read the published files: DIMUON (HDF5, Zenodo record 4442665), SUSY.csv and HIGGS.csv (UCI), zipped or not.

Only the rows asked for are kept, in the file's order. What is not such a file, or not all of one, is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events.io.parquet import as_numpy
from lanner.paper.datasets import dimuon, higgs, susy
from lanner.typing import Columns

DIMUON = (*dimuon.LOW_LEVEL, *dimuon.HIGH_LEVEL)
TABLES = {"susy": tuple(susy.UNITS), "higgs": tuple(higgs.UNITS)}  # the columns after the label
BLOCK = 16 << 20  # bytes of a CSV file that are looked at together


def load(experiment: str, sample: str, path: str | os.PathLike[str], *, rows: int | None = None) -> Columns:
    """The first `rows` events (all by default) of "background" or a signal in a published file.

    A DIMUON file holds one sample; the tables hold both, and a signal is every event with label 1.
    """
    path = Path(path)
    if rows is not None and rows < 1:
        raise InputError(f"rows={rows!r}: at least one event has to be asked for")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    if experiment == "dimuon":
        return load_dimuon(path, rows=rows)
    if experiment not in TABLES:
        raise InputError(f"{experiment!r} has no published file; choose one of dimuon, {', '.join(TABLES)}")
    return load_table(path, TABLES[experiment], label=int(sample != "background"), rows=rows)


def load_dimuon(path: Path, *, rows: int | None = None) -> Columns:
    """The columns of a DIMUON file; `delta_phi` is brought between 0 and 2 pi."""
    import h5py

    expected = f"a DIMUON file has the datasets {', '.join(DIMUON)}, one number an event"
    try:
        with h5py.File(path, "r") as file:
            missing = [name for name in DIMUON if not isinstance(file.get(name), h5py.Dataset)]
            if missing:
                raise InputError(f"{path}: no dataset {missing[0]!r} among {', '.join(file) or 'none'}; {expected}")
            shapes = {name: file[name].shape for name in DIMUON}
            if len(set(shapes.values())) != 1 or len(shapes["pt1"]) != 1:
                raise InputError(f"{path}: the datasets have shapes {shapes}; {expected}")
            _enough(path, shapes["pt1"][0], rows, "events")
            columns = {name: np.asarray(file[name][:rows], dtype=np.float64) for name in DIMUON}
    except (OSError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be read as HDF5, or is damaged ({error}); {expected}") from None
    bad = [name for name, column in columns.items() if not np.isfinite(column).all()]
    if bad:
        raise InputError(f"{path}: {bad[0]!r} is not a number in some events; the file is damaged")
    columns["delta_phi"] = np.mod(columns["delta_phi"], 2 * np.pi)
    return columns


def load_table(path: Path, names: tuple[str, ...], *, label: int, rows: int | None = None) -> Columns:
    """The columns of the events with a label, from a file of numbers without header whose first column is the label."""
    parts: list[NDArray[np.float64]] = []
    found = 0
    for block in _blocks(path, names):
        labels = block[:, 0]
        if not np.isin(labels, (0.0, 1.0)).all():
            wrong = labels[~np.isin(labels, (0.0, 1.0))][0]
            raise InputError(f"{path}: the first column has to be the label, 0 or 1, and is {wrong:g}; {_form(names)}")
        if not np.isfinite(block).all():
            raise InputError(f"{path}: an entry is not a number; the file is damaged")
        chosen = block[labels == label, 1:]
        parts.append(chosen[: None if rows is None else rows - found])
        found += len(parts[-1])
        if found == rows:
            break
    _enough(path, found, rows, f"events with label {label}")
    table = np.concatenate(parts) if parts else np.empty((0, len(names)))
    return {name: np.ascontiguousarray(table[:, i]) for i, name in enumerate(names)}


def _blocks(path: Path, names: tuple[str, ...]) -> Iterator[NDArray[np.float64]]:
    """The file's rows, label first, a block at a time."""
    import pyarrow as pa
    import pyarrow.csv

    if path.suffix != ".gz":
        _check_end(path, names)
    columns = ("label", *names)
    convert = pa.csv.ConvertOptions(column_types=dict.fromkeys(columns, pa.float64()))
    read = pa.csv.ReadOptions(column_names=list(columns), block_size=BLOCK)
    try:
        with pa.csv.open_csv(path, read_options=read, convert_options=convert) as reader:
            for batch in reader:
                yield np.column_stack([as_numpy(column) for column in batch.columns])
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, InputError):
            raise
        reason = str(error).splitlines()[0]
        raise InputError(f"{path} cannot be read, or is only a part of a file ({reason}); {_form(names)}") from None


def _check_end(path: Path, names: tuple[str, ...]) -> None:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            raise InputError(f"{path} is empty; {_form(names)}")
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            raise InputError(f"{path} ends within a line: it is only a part of a file; {_form(names)}")


def _enough(path: Path, found: int, rows: int | None, what: str) -> None:
    if found == 0 or (rows is not None and found < rows):
        raise InputError(f"{path} has {found} {what}, and {rows or 'some'} were asked for; get the complete file")


def _form(names: tuple[str, ...]) -> str:
    return (
        f"expected are lines of {len(names) + 1} numbers without header: the label, then "
        f"{names[0]}, {names[1]} ... {names[-1]}"
    )
