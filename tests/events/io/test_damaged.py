"""Damaged files that once ended the process or were read for ever; both were found by `make fuzz`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).with_name("data")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("damaged_statistics.parquet", "cannot be read as Parquet"),  # Arrow aborted when asked for a column's metadata
        ("damaged_footer.root", "footer of its RNTuple does not fit its checksum"),  # which claims billions of entries
    ],
)
def test_it_is_refused_in_words(name: str, said: str) -> None:
    code = f"""
import lanner
try:
    lanner.read_sample({str(DATA / name)!r})
except lanner.errors.InputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
