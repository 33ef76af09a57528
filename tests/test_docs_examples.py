"""Python in the documentation is Python, and calls what Lanner has by the keywords that it has."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import lanner

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^( *)```python\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def blocks() -> Iterator[tuple[str, str]]:
    for path in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        for number, found in enumerate(BLOCK.finditer(path.read_text())):
            yield f"{path.relative_to(ROOT)}:{number}", textwrap.dedent(found[2])


def parsed(code: str) -> ast.Module:
    """A block; in the page of names they are signatures without a body or sessions of an interpreter."""
    if code.lstrip().startswith(">>>"):
        lines = [line[4:] for line in code.splitlines() if line.startswith((">>>", "..."))]
        return ast.parse("\n".join(lines))
    return ast.parse(code)


BLOCKS = [(name, code) for name, code in blocks() if not name.startswith("docs/api.md")]


@pytest.mark.parametrize(("name", "code"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_examples_call_what_there_is(name: str, code: str) -> None:
    for call in ast.walk(parsed(code)):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if not isinstance(call.func.value, ast.Name) or call.func.value.id != "lanner":
            continue
        function = getattr(lanner, call.func.attr)
        given = {keyword.arg: None for keyword in call.keywords if keyword.arg is not None}
        splat = any(keyword.arg is None for keyword in call.keywords)
        ellipsis = any(isinstance(a, ast.Constant) and a.value is Ellipsis for a in call.args)
        bind = inspect.signature(function).bind_partial if splat or ellipsis else inspect.signature(function).bind
        bind(*([None] * len(call.args)), **given)


def test_there_are_examples() -> None:
    assert len(BLOCKS) > 20
