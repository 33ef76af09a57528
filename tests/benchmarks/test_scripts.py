"""Every script in benchmarks/ runs, at a size of seconds, and writes what it says it writes."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from lanner.paper.datasets import higgs

FOLDER = Path(__file__).parent.parent.parent / "benchmarks"
ONE = ("--processes", "1")
# Of each script: its command line, what it needs that is not always installed, and the files that it writes.
SCRIPTS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "bench_engine": (("--size", "smoke", "--write", "page.md"), (), ("page.md",)),
    "bench_rows": (("--smoke", "--write", "page.md"), ("distributed",), ("page.md",)),
    "bench_search": (("--size", "smoke", "--write", "page.md"), (), ("page.md",)),
    "blind_spots": (("--smoke", "--write", "page.md", *ONE), (), ("page.md",)),
    "calibration_study": (("--smoke", "--output", "out", *ONE), (), ("out/calibration.png", "out/calibration.json")),
    "compare_with_real": (
        ("--smoke", "--cms", "cms.csv", "--higgs", "higgs.csv", "--output", "out", *ONE),
        ("pythia8mc", "fastjet"),
        ("out/cms_z.png", "out/higgs_features.png"),
    ),
    "deep_nulls": (("--smoke", "--write", "page.md"), (), ("page.md",)),
    "deep_tails": (("--smoke", "--write", "page.md", *ONE), (), ("page.md",)),
    "files_as_they_are": (("--smoke",), (), ()),
    "ladders": (("--smoke", "--kept", "kept", "--write", "page.md"), (), ("page.md",)),
    "learned_ratios": (("--smoke", "--write", "page.md"), (), ("page.md",)),
    "monitor_delay": (("--smoke", "--write", "page.md"), (), ("page.md", "figures/monitor_delay.png")),
    "monitor_runs": (("--smoke", "--file", "runs.csv", "--kept", "kept.json", "--write", "page.md"), (), ("page.md",)),
    "monitor_speed": (("--smoke", "--write", "page.md"), (), ("page.md",)),
    "monitor_streams": (("--smoke", "--kept", "kept.json", "--write", "page.md"), (), ("page.md",)),
    "network_significances": (
        ("--smoke", "--kept", "kept", "--output", "out"),
        ("torch",),
        ("out/network_significances.png",),
    ),
    "network_times": (("--smoke", "--write", "page.md"), ("torch",), ("page.md",)),
    "null_study": (("--smoke", "--write", "page.md", *ONE), (), ("page.md",)),
    "regions_study": (("--smoke", "--kept", "kept.json", "--write", "page.md", *ONE), (), ("page.md",)),
    "uncertainty_dimuon": (("--smoke", "--folder", "kept", "--write", "page.md", *ONE), ("pythia8mc",), ("page.md",)),
    "uncertainty_network": (("--smoke", "--write", "page.md"), ("torch",), ("page.md",)),
    "uncertainty_power": (("--smoke", "--write", "page.md"), (), ("page.md",)),
    "uncertainty_study": (("--smoke", "--write", "page.md", *ONE), (), ("page.md",)),
    "precision": (("--smoke", "--only", "5-D", "--write", "page.md"), (), ("page.md",)),
    "rivals": (
        ("--smoke", "--higgs", "higgs.csv", "--kept", "kept.json", "--write", "page.md", *ONE),
        (),
        ("page.md",),
    ),
    "scales_study": (("--smoke", "--output", "out", *ONE), (), ("out/calibration_scales.png",)),
    "scaling_study": (("--smoke", "--write", "page.md"), ("torch", "distributed"), ("page.md",)),
    "simulated_samples": (("--smoke", "--kept", "kept.json", "--write", "page.md"), ("pythia8mc",), ("page.md",)),
    "small_references": (("--smoke",), (), ()),
    "tests_study": (("--smoke", "--output", "out", *ONE), ("torch",), ("out/calibration_tests.png",)),
}


def write_measured_rows(folder: Path) -> None:
    """In place of real events: pairs of muons back to back at half the Z's mass each, and noise for the HIGGS set."""
    rng = np.random.default_rng(1)
    n = 300
    phi = rng.uniform(-3, 3, n)
    muons = {
        "pt1": rng.normal(45, 3, n), "eta1": rng.normal(0, 0.3, n), "phi1": phi, "Q1": np.ones(n),
        "pt2": rng.normal(45, 3, n), "eta2": rng.normal(0, 0.3, n), "phi2": phi + 3, "Q2": -np.ones(n),
    }  # fmt: skip
    write_runs(folder, rng)
    noise = {name: rng.exponential(size=n) for name in (*higgs.LOW_LEVEL, *higgs.HIGH_LEVEL)}
    for file, columns in (("cms.csv", muons), ("higgs.csv", noise | {"label": np.arange(n) % 2})):
        table = np.column_stack(list(columns.values()))
        np.savetxt(folder / file, table, delimiter=",", header=",".join(columns), comments="")


def write_runs(folder: Path, rng: np.random.Generator) -> None:
    """Electrons of some runs, of which one is large."""
    n = 6000
    columns = {"Run": np.repeat([1, 2, 3, 4, 5, 6], [1000, 900, 3000, 500, 300, 300])}
    for k in ("1", "2"):
        eta = rng.uniform(-2.4, 2.4, n)
        columns |= {f"type{k}": np.where(np.abs(eta) < 1.479, "EB", "EE"), f"eta{k}": eta}
        columns |= {f"pt{k}": 25 + rng.exponential(15, n), f"sigmaEtaEta{k}": rng.normal(0.01, 0.001, n)}
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "runs.csv").write_text("\n".join(rows))


def test_every_script_is_run_here() -> None:
    scripts = {path.stem for path in FOLDER.glob("*.py") if "__main__" in path.read_text()}
    assert set(SCRIPTS) == scripts


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_still_runs(name: str, tmp_path: Path) -> None:
    arguments, needed, written = SCRIPTS[name]
    for package in needed:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    if {"higgs.csv", "runs.csv"} & set(arguments):
        write_measured_rows(tmp_path)
    done = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py", *arguments],
        cwd=tmp_path,  # so that nothing can come to lie in docs/
        env=os.environ | {"LANNER_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    for file in written:
        assert (tmp_path / file).stat().st_size > 0
    assert not (tmp_path / "docs").exists()


def test_a_smoke_run_never_replaces_what_the_docs_show(tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / "calibration_study.py"), "--smoke"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "--smoke needs another place" in done.stderr
