"""The house keeps its order: tests beside their modules, modules of a few screens, errors in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "lanner"
MIRRORED = ("events", "model", "inference", "run")
MOST_LINES = 350

# What does not keep to the rules yet. Both sets only get smaller: whoever mends a module takes its line out here.
MISSING: set[str] = {
    "model/objective.py",
    "model/pool.py",
    "model/single_fit.py",
    "model/solvers/newton.py",
    "model/weightings.py",
    "inference/experiment.py",
    "inference/null.py",
    "inference/plan.py",
    "inference/scales.py",
    "inference/seeds.py",
    "run/execution/dask_worker.py",
    "run/execution/local.py",
    "run/prepare.py",
    "run/toy_maker.py",
    "run/tune.py",
}
TOO_LONG: set[str] = set()


def modules(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*.py")) if path.name != "__init__.py")


def name_of(path: Path) -> str:
    return path.relative_to(SRC).as_posix()


def test_every_module_has_its_own_test_file() -> None:
    without = set()
    for folder in MIRRORED:
        for path in modules(SRC / folder):
            mirror = ROOT / "tests" / path.relative_to(SRC).with_name(f"test_{path.name}")
            if not mirror.exists():
                without.add(name_of(path))
    assert without == MISSING, "write the test file, or take what has one now out of MISSING"


def test_no_module_is_longer_than_a_few_screens() -> None:
    long = {name_of(path) for path in SRC.rglob("*.py") if len(path.read_text().splitlines()) > MOST_LINES}
    assert long == TOO_LONG, "split it, or take what is short now out of TOO_LONG"


def test_every_error_and_warning_is_defined_in_one_module() -> None:
    elsewhere = [
        f"{name_of(path)}: {node.name}"
        for path in SRC.rglob("*.py")
        if path != SRC / "errors.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).endswith(("Error", "Warning", "Exception")) for base in node.bases)
    ]
    assert elsewhere == [], "define it in lanner/errors.py"
