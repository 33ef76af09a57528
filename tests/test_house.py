"""The house keeps its order: tests beside their modules, modules of a few screens, errors in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "lanner"
MIRRORED = ("events", "model", "uncertainties", "inference", "run", "monitor")
MOST_LINES = 350


def modules(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*.py")) if path.name != "__init__.py")


def name_of(path: Path) -> str:
    return path.relative_to(SRC).as_posix()


def test_every_module_has_its_own_test_file() -> None:
    without = [
        name_of(path)
        for folder in MIRRORED
        for path in modules(SRC / folder)
        if not (ROOT / "tests" / path.relative_to(SRC).with_name(f"test_{path.name}")).exists()
    ]
    assert without == [], "write the test file"


def test_no_module_is_longer_than_a_few_screens() -> None:
    long = [name_of(path) for path in SRC.rglob("*.py") if len(path.read_text().splitlines()) > MOST_LINES]
    assert long == [], "split it"


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
