"""Files of every format that events can be read from: whole ones, and such as were damaged on the way."""

from __future__ import annotations

import gzip
import io
import struct
import tempfile
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import uproot

from tests.fuzz.case import Case, generator, pick

NAMES = ("x", "pt", "mass [GeV]", "p_T", "é", "a.b", "a/b", "1", "nan", "x y", "inf", "index", "if", "w" * 60)
TOKENS = (
    "", " ", "nan", "NaN", "NA", "null", "inf", "-inf", "1e400", "-1e-400", "1e308", "5e-324", "-0", "+1", ".5",
    "5.", "1e5", "1E5", "0x10", "1_000", '"1,234"', '"1"', "1,5", "1 000", "'1'", "true", "False", "x", "é",
    "１２", "1e", "--1", "1.2.3", "#1", "1#", '"', '""', '"1', "\0", "\ufeff", "1d5", "1j", "0100", "007",
    "9007199254740993", "1" * 400, "0." + "3" * 400, "12345678901234567890", "1e+05", "1e-05", "Infinity",
    "infinity", "-nan", "+nan", "None", "<NA>", "1\t", "\u00a01", "1;2",
)  # fmt: skip
DTYPES = ("f8", "f8", "f8", "f4", "f2", "i8", "i4", "u8", "i1", "?", ">f8", ">i4")
DELIMITERS = (",", ";", "\t", " ")


def columns(rng: np.random.Generator, *, least: int = 1) -> dict[str, np.ndarray]:
    """A few columns of numbers, some of them odd."""
    rows, number = (
        int(pick(rng, [0, 1, 2, 30, 300, 3000, *[50] * 6] if rng.random() < 0.99 else [40_000])),
        int(rng.integers(least, 5)),
    )
    rows = max(rows, least)
    names = rng.choice(NAMES, number, replace=False)
    return {str(name): values(rng, rows) for name in names}


def values(rng: np.random.Generator, rows: int) -> np.ndarray:
    kind = pick(rng, ["normal", "normal", "bits", "large", "small", "constant", "gaps"])
    dtype = np.dtype(pick(rng, DTYPES))
    if kind == "bits" and dtype.kind == "f":
        found = rng.integers(0, 2**64, rows, dtype=np.uint64).view(np.float64)
        return np.where(np.isfinite(found), found, 0.5)
    numbers = {
        "normal": rng.normal(size=rows) * 10,
        "bits": rng.normal(size=rows),
        "large": rng.normal(size=rows) * 1e9,
        "small": rng.normal(size=rows) * 1e-300,
        "constant": np.full(rows, 3.0),
        "gaps": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
    }[kind]
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return numbers.astype(dtype)
    info = np.iinfo(dtype) if dtype.kind in "iu" else None
    numbers = np.nan_to_num(numbers, nan=0.0)
    if info is not None:
        numbers = np.clip(numbers, max(info.min, -(2.0**62)), min(info.max, 2.0**62))
    return numbers.astype(dtype) if dtype.kind != "?" else numbers > 0


def make(seed: int, number: int, kind: str) -> Case:
    """A file of a format: one in five as it was written, the others damaged."""
    rng = generator(seed, number)
    whole = bool(rng.random() < 0.2)
    if kind in ("csv", "csv.gz"):
        return _text(rng, seed, number, kind, whole)
    content = _BINARY[kind](rng)
    whole = whole and b"other.h5" not in content and b"void" not in content and b"soft" not in content
    if not whole:
        content = damaged(rng, content)
    return Case(kind, seed, number, {f"t.{kind}": content}, whole=whole)


def _text(rng: np.random.Generator, seed: int, number: int, kind: str, whole: bool) -> Case:
    table = columns(rng)
    delimiter = pick(rng, DELIMITERS)
    # Of two columns at least, and names that the delimiter does not cut: others have no one meaning.
    table = {name.replace(" ", "_"): column for name, column in table.items()}
    if set(table) <= {"1", "inf", "nan"}:  # which would be a row of numbers
        table = {f"x{name}": column for name, column in table.items()}
    if len(table) == 1:
        delimiter = ","
    rows = [[repr(one) for one in row] for row in zip(*(c.astype(float).tolist() for c in table.values()), strict=True)]
    header = [f'"{name}"' if rng.random() < 0.1 else name for name in table]
    if not whole:
        for _ in range(int(rng.integers(0, 4))):
            if rows:
                rows[int(rng.integers(len(rows)))][int(rng.integers(len(header)))] = pick(rng, TOKENS)
    end = pick(rng, ["\n", "\n", "\n", "\r\n"])
    lines = [delimiter.join(header), *(delimiter.join(row) for row in rows)]
    if not whole and rng.random() < 0.2:
        lines.insert(
            int(rng.integers(len(lines) + 1)), pick(rng, ["", " ", "#", "x", delimiter, "1" * 3_000_000, "\r"])
        )
    text = (pick(rng, ["", "", "", "\ufeff", "# "]) + end.join(lines) + pick(rng, [end, ""])).encode()
    if not whole and rng.random() < 0.4:
        text = damaged(rng, text)
    if kind == "csv.gz":
        half = int(rng.integers(len(text) + 1))
        members = [text] if rng.random() < 0.7 else [text[:half], text[half:]]
        text = b"".join(gzip.compress(member, 1) for member in members)
        if not whole and rng.random() < 0.3:
            text = damaged(rng, text)
    return Case(kind, seed, number, {f"t.{kind}": text}, delimiter=delimiter, whole=whole)


def damaged(rng: np.random.Generator, content: bytes) -> bytes:
    """The same bytes, after an accident."""
    data = bytearray(content)
    for _ in range(int(pick(rng, [1, 1, 1, 2, 5, 20]))):
        if not data:
            break
        # Headers and tables of contents are at the ends of files, and that is where damage tells most.
        near = min(len(data), int(pick(rng, [64, 1024, 1 << 30])))
        at = int(rng.integers(near)) if rng.random() < 0.5 else len(data) - 1 - int(rng.integers(near))
        match pick(rng, ["flip", "flip", "byte", "byte", "cut", "drop", "twice", "number", "zero"]):
            case "flip":
                data[at] ^= 1 << int(rng.integers(8))
            case "byte":
                data[at] = int(rng.integers(256))
            case "cut":
                del data[at:]
            case "drop":
                del data[at : at + int(rng.integers(1, 64))]
            case "twice":
                data[at:at] = data[at : at + int(rng.integers(1, 200))]
            case "number":
                form, number = pick(
                    rng, [("<i", -1), ("<i", 2**31 - 1), ("<q", -1), ("<q", 2**62), ("<i", 0), (">i", 1)]
                )
                data[at : at + struct.calcsize(form)] = struct.pack(form, number)
            case "zero":
                data[at : at + 16] = bytes(16)
    return bytes(data)


def _npy(rng: np.random.Generator) -> bytes:
    table = columns(rng)
    buffer = io.BytesIO()
    array = np.stack([column.astype(float) for column in table.values()], axis=1)
    match pick(rng, ["table", "table", "records", "fortran", "one"]):
        case "records":
            array = np.rec.fromarrays(list(table.values()), names=list(table)).view(np.ndarray)  # type: ignore[call-overload]
        case "fortran":
            array = np.asfortranarray(array)
        case "one":
            array = next(iter(table.values()))
    np.save(buffer, array)
    return buffer.getvalue()


def _npz(rng: np.random.Generator) -> bytes:
    buffer = io.BytesIO()
    table = {name.replace("/", "_"): column for name, column in columns(rng).items()}
    pick(rng, [np.savez, np.savez_compressed])(buffer, **table)
    return buffer.getvalue()


def _hdf5(rng: np.random.Generator) -> bytes:
    table = {name.replace("/", "_"): column for name, column in columns(rng, least=2).items()}
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver=pick(rng, ["earliest", "latest"])) as file:
        group = file if rng.random() < 0.6 else file.create_group("g/h")
        if rng.random() < 0.3:
            records = np.rec.fromarrays(list(table.values()), names=list(table)).view(np.ndarray)  # type: ignore[call-overload]
            group.create_dataset("table", data=records)
        else:
            for name, column in table.items():
                part = (min(16, len(column)),)
                how = pick(
                    rng, [{}, {}, {"chunks": part}, {"chunks": part, "compression": "gzip"}, {"maxshape": (None,)}]
                )
                group.create_dataset(name, data=column, **how)
        if rng.random() < 0.05:
            group.create_dataset("void", (len(next(iter(table.values()))),), "f8")
        if rng.random() < 0.1:
            group["soft"] = h5py.SoftLink(pick(rng, ["/x", "/", "/g", "nowhere", "/soft"]))
        if rng.random() < 0.1:
            group["out"] = h5py.ExternalLink("other.h5", "/x")
    return buffer.getvalue()


def _parquet(rng: np.random.Generator) -> bytes:
    table = {name: column.astype(column.dtype.newbyteorder("=")) for name, column in columns(rng).items()}
    buffer = io.BytesIO()
    arrays = {name: pa.array(column, mask=rng.random(len(column)) < 0.02) for name, column in table.items()}
    if rng.random() < 0.2:
        arrays["label"] = pa.array(["s"] * len(next(iter(table.values()))))
    pq.write_table(
        pa.table(arrays),
        buffer,
        row_group_size=pick(rng, [7, 100, 10_000]),
        compression=pick(rng, ["none", "snappy", "gzip", "zstd"]),
        use_dictionary=bool(rng.random() < 0.5),
    )
    return buffer.getvalue()


def _root(rng: np.random.Generator) -> bytes:
    table = {name.replace("/", "_").replace(".", "_"): column for name, column in columns(rng, least=2).items()}
    table = {name: c.astype("f8" if c.dtype.itemsize == 2 else c.dtype.newbyteorder("=")) for name, c in table.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.root"
        with uproot.recreate(path, compression=pick(rng, [None, uproot.ZLIB(1), uproot.LZ4(1)])) as file:
            if rng.random() < 0.3:
                file.mkrntuple("events", table)
            else:
                tree = file.mktree("events", {name: column.dtype for name, column in table.items()})
                tree.extend(table)
        return path.read_bytes()


_BINARY = {"npy": _npy, "npz": _npz, "h5": _hdf5, "parquet": _parquet, "root": _root}
KINDS = ("csv", "csv.gz", *_BINARY)
