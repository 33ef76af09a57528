"""A memory budget is kept: measured on the resident set of a whole search."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lanner.events.io.write import write_columns

_SEARCH = """
import re, sys
from lanner.__main__ import main
code = 0
try:
    main()
except SystemExit as end:
    code = end.code
peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())  # of this program, not of who started it
print("peak", 1024 * int(peak[1]))
sys.exit(code)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the resident set is looked up as Linux tells it")
@pytest.mark.parametrize(
    ("events", "expected", "budget"),
    [
        (200_000, 2000, 300e6),
        pytest.param(1_000_000, 5000, 500e6, marks=pytest.mark.full),
        pytest.param(5_000_000, 20_000, 2e9, marks=pytest.mark.full),
    ],
)
def test_a_search_stays_within_its_budget(events: int, expected: int, budget: float, tmp_path: Path) -> None:
    """And 250 MB for the interpreter and its libraries."""
    rng = np.random.default_rng(1)
    for name, number in (("reference", events), ("data", expected)):
        write_columns(tmp_path / f"{name}.parquet", {f"x{j}": rng.normal(size=number) for j in range(3)})
    arguments = ["search", "--reference", tmp_path / "reference.parquet", "--data", tmp_path / "data.parquet"]
    arguments += [
        "--expected",
        expected,
        "--toys",
        90,
        "--memory",
        f"{budget:.0f}",
        "--output",
        tmp_path / "out",
        "--quiet",
    ]
    done = subprocess.run(
        [sys.executable, "-c", _SEARCH, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "2"},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) < budget + 250e6
