"""Files of every format with the same columns, and what a refusal to read them has to say."""

import gzip
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import uproot

from lanner.errors import InputError
from lanner.events.io import read_sample

NAMES = ("pt", "eta", "w", "p_T [GeV]", "<b>µ</b>")
ROWS = 700


def bits(seed=1):
    """Doubles of all sizes: every exponent, subnormals, both zeros."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2**64, (ROWS, len(NAMES)), dtype=np.uint64).view(np.float64)
    values = np.where(np.isfinite(values) & (np.abs(values) < 1e300), values, 0.1)
    values[:4, 0] = 5e-324, -0.0, np.nextafter(1, 2), 0.1 + 0.2
    values[:, 2] = rng.exponential(size=ROWS)  # weights: positive, with all their digits
    return dict(zip(NAMES, values.T.copy(), strict=True))


def write_tree(path, columns, name="events"):
    with uproot.recreate(path) as file:
        tree = file.mktree(name, {key: np.asarray(column).dtype for key, column in columns.items()})
        tree.extend(columns)


def write_ntuple(path, columns, name="events"):
    with uproot.recreate(path) as file:
        file.mkrntuple(name, {key.replace("/", "|"): column for key, column in columns.items()})


def write_datasets(path, columns, group=None):
    with h5py.File(path, "a") as file:
        for name, column in columns.items():
            (file.require_group(group) if group else file).create_dataset(name.replace("/", "|"), data=column)


def records(columns):
    return np.rec.fromarrays(list(columns.values()), names=list(columns)).view(np.ndarray)  # type: ignore[call-overload]


def write_compound(path, columns):
    with h5py.File(path, "w") as file:
        file.create_dataset("table", data=records(columns))


def write_csv(path, columns, delimiter=","):
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    lines = [delimiter.join(columns), *(delimiter.join(map(repr, row)) for row in rows)]
    text = "".join(f"{line}\n" for line in lines).encode()
    Path(path).write_bytes(gzip.compress(text) if str(path).endswith("gz") else text)


WRITERS = {
    "tree.root": write_tree,
    "ntuple.root": write_ntuple,
    "t.parquet": lambda path, columns: pq.write_table(pa.table(columns), path, row_group_size=128),
    "t.pq": lambda path, columns: pd.DataFrame(columns).to_parquet(path),
    "flat.h5": write_datasets,
    "compound.hdf5": write_compound,
    "t.csv": write_csv,
    "t.csv.gz": write_csv,
    "pandas.csv": lambda path, columns: pd.DataFrame(columns).to_csv(path),
    "t.txt": lambda path, columns: write_csv(path, columns, "\t"),
    "records.npy": lambda path, columns: np.save(path, records(columns)),
    "t.npz": lambda path, columns: np.savez(path, **columns),
    "zipped.npz": lambda path, columns: np.savez_compressed(path, **columns),
}
formats = pytest.mark.parametrize("name", WRITERS)


def written(path, name, columns):
    WRITERS[name](path / name, columns)
    return str(path / name)


def restored(name):
    """The names that a format can hold: a slash makes groups in HDF5 and in RNTuples."""
    return tuple(key.replace("/", "|") if name in ("flat.h5", "ntuple.root") else key for key in NAMES)


def refusal(message, *parts):
    """Check that a message has all the parts."""
    for part in parts:
        assert part in message, f"{part!r} is not in: {message}"


def refused(source, *parts, **asked):
    """Read what has to be refused, with all the parts in the message."""
    with pytest.raises(InputError) as caught:
        read_sample(source, **asked)
    refusal(str(caught.value), *parts)
