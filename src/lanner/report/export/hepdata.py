"""A submission to HEPData, by its own library: `submission.yaml`, a file for each table, and both in one archive."""

from __future__ import annotations

import importlib.util
import math
import shutil
import tarfile
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lanner.errors import FileError, InputError
from lanner.report.export.tables import Column, Table

_DIGITS = 15  # significant ones that are written; the library's own 5 would not give back what was found
FOLDER, ARCHIVE = "hepdata", "hepdata.tar.gz"


def is_there() -> bool:
    """Whether hepdata_lib is installed."""
    return importlib.util.find_spec("hepdata_lib") is not None


def write_submission(folder: Path, tables: Sequence[Table], *, comment: str) -> list[Path]:
    """Write the tables, and the archive that HEPData takes."""
    if not is_there():
        raise InputError("HEPData tables need hepdata_lib: pip install 'lanner[hepdata]', or leave out 'hepdata'")
    target = folder / FOLDER
    if target.exists() and not (target / "submission.yaml").exists():
        raise FileError(f"{target} exists and is no submission to HEPData: move it away, or write to another folder")
    made = Path(tempfile.mkdtemp(prefix=f".{FOLDER}-", dir=folder))
    try:
        _write(made, tables, comment)
        files = sorted(made.iterdir())
        archive = made.parent / ARCHIVE
        partial = made / ARCHIVE
        with tarfile.open(partial, "w:gz") as packed:
            for file in files:
                packed.add(file, arcname=file.name)
        partial.replace(archive)
        if target.exists():
            shutil.rmtree(target)
        made.chmod(0o755)
        made.replace(target)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return [target / "submission.yaml", archive]


def _write(folder: Path, tables: Sequence[Table], comment: str) -> None:
    import yaml

    lib = _library()
    head = {"comment": comment, "data_license": lib.Submission.get_license()}
    (folder / "submission.yaml").write_text(yaml.safe_dump(head, explicit_start=True), encoding="utf-8")
    for table in tables:
        made = lib.Table(table.name)
        made.description, made.location = table.description, "Made by lanner export"
        made.keywords = {"phrases": list(table.keywords)}
        for column in table.columns:
            made.add_variable(_variable(lib, column))
        made.write_yaml(
            str(folder)
        )  # and not `Submission.create_files`, which leaves its archive where one happens to be


def _variable(lib: Any, column: Column) -> Any:
    binned = bool(column.values) and isinstance(column.values[0], tuple)
    made = lib.Variable(
        column.name,
        is_independent=column.independent,
        is_binned=binned,
        units=column.units,
        zero_uncertainties_warning=False,
    )
    made.values = [value if binned else _shown(value) for value in column.values]
    made.digits = _DIGITS
    for errors in column.errors:
        symmetric = errors.down == errors.up
        one = lib.Uncertainty(errors.label, is_symmetric=symmetric)
        one.values = (
            list(errors.up) if symmetric else [(-down, up) for down, up in zip(errors.down, errors.up, strict=True)]
        )
        made.add_uncertainty(one)
    return made


def _shown(value: Any) -> Any:
    """A value as HEPData has it: what is no number is a dash."""
    return "-" if isinstance(value, float) and not math.isfinite(value) else value


def _library() -> Any:
    with warnings.catch_warnings():  # of what its validator imports
        warnings.simplefilter("ignore", DeprecationWarning)
        import hepdata_lib

    return hepdata_lib
