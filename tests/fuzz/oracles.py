"""What a file holds, read without Lanner: the truth for every file that Lanner accepts."""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow.parquet as pq
import uproot

from tests.fuzz.case import Case

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII)
_MISSING = {"", "nan", "-nan", "+nan", "na", "n/a", "#n/a", "<na>", "null", "none"}


def columns_by_hand(case: Case, path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """The named columns as float64."""
    return {
        name: np.asarray(column, dtype=np.float64) for name, column in _READERS[case.kind](case, path, names).items()
    }


def _text(case: Case, path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if case.kind == "csv.gz" else raw).decode("utf-8-sig")
    lines = [line for line in re.split(r"\r\n|\r|\n", text) if line.strip()]
    header = next(csv.reader([lines[0].strip().removeprefix("#").strip()], delimiter=case.delimiter))
    rows = [next(csv.reader([line], delimiter=case.delimiter)) for line in lines[1:]]
    stripped = [name.strip() for name in header]
    return {name: [_number(row[stripped.index(name)]) for row in rows] for name in names}


def _number(text: str) -> float:
    text = text.strip()
    if text.lower() in _MISSING:
        return math.nan
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is no number")
    return float(text)


def _npy(case: Case, path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    array = np.load(io.BytesIO(path.read_bytes()), allow_pickle=False)
    if array.dtype.names:
        return {name: array[name] for name in names}
    table = array.reshape(len(array), -1)
    return {name: table[:, int(name[1:])] for name in names}


def _npz(case: Case, path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
        if set(names) <= set(archive.files):
            return {name: archive[name] for name in names}
        (only,) = archive.files
        return {name: archive[only].reshape(len(archive[only]), -1)[:, int(name[1:])] for name in names}


def _hdf5(case: Case, path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    with h5py.File(path, "r") as file:
        group: Any = file.get("g/h", file)
        only = next(iter(group), "")
        if set(names) <= set(group):
            return {name: group[name][()] for name in names}
        table = group["table" if "table" in group else only][()]
        return {name: table[name] for name in names}


def _parquet(case: Case, path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    table = pq.read_table(io.BytesIO(path.read_bytes()), columns=list(names))
    return {name: [math.nan if v is None else float(v) for v in table[name].to_pylist()] for name in names}


def _root(case: Case, path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    with uproot.open(path) as file:
        (name,) = {
            key.partition(";")[0] for key, kind in file.classnames().items() if "Tree" in kind or "RNTuple" in kind
        }
        fields = dict(file[name].items())  # by name and never by expression
        return {column: fields[column].array(library="np") for column in names}


_READERS = {
    "csv": _text, "csv.gz": _text, "npy": _npy, "npz": _npz, "h5": _hdf5, "parquet": _parquet, "root": _root
}  # fmt: skip
