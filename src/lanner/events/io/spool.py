"""A table on disk for samples that are larger than memory: written row by row, then seen as an array."""

from __future__ import annotations

import tempfile
from typing import IO

import numpy as np

from lanner.errors import FileError
from lanner.typing import Array


class Spool:
    """Rows of float64 in a temporary file without a name, which goes when the last array on it does."""

    def __init__(self, columns: int) -> None:
        self._columns, self._rows = columns, 0
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="lanner-")  # noqa: SIM115 (the arrays on it outlive any block)

    def add(self, table: Array) -> None:
        """Append rows."""
        try:
            np.ascontiguousarray(table).tofile(self._file)
        except OSError as error:
            raise FileError(
                f"the events take up the memory budget, and {tempfile.gettempdir()} has no room for them either "
                f"({error.strerror or error}); give a larger memory=..., or set TMPDIR to a disk with more room"
            ) from None
        self._rows += len(table)

    def table(self) -> Array:
        """All rows, read from disk as they are needed."""
        self._file.flush()
        table = np.memmap(self._file, dtype=np.float64, mode="r", shape=(self._rows, self._columns))
        self._file.close()  # the map keeps what it needs
        return np.asarray(table)

    def __del__(self) -> None:
        self._file.close()
