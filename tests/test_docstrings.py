"""Every public name says what it takes, what it returns, what can go wrong, and shows itself at work."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cached_property

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import ERROR_MSGS, validate

import lanner

CHECKS = {
    "GL03",  # no two blank lines
    "GL06",  # no unknown section
    "GL07",  # sections in their order
    "GL08",  # a docstring
    "SS01",  # a summary
    "SS02",  # that starts with a capital letter
    "SS03",  # and ends with a full stop
    "PR01",  # every parameter
    "PR02",  # none that does not exist
    "PR03",  # in the order of the signature
    "PR04",  # with its type
    "PR05",  # without a full stop after it
    "PR06",  # under Python's own name
    "PR07",  # with a description
    "PR08",  # that starts with a capital letter
    "PR09",  # and ends with a full stop
    "PR10",  # a space before the colon
    "RT01",  # what is returned
    "RT03",  # with a description
    "RT04",  # that starts with a capital letter
    "RT05",  # and ends with a full stop
    "YD01",  # what is yielded
}
# A class says what can go wrong with it where something can; what its constructor returns is clear.
SECTIONS = {"function": ("Parameters", "Returns", "Raises", "Examples"), "class": ("Parameters", "Examples")}
NAMES = [name for name in lanner.__all__ if name != "errors"]


def members(name: str) -> Iterator[str]:
    """The public methods and properties that a class defines itself."""
    kinds = (property, cached_property, classmethod, staticmethod)
    for member, value in vars(getattr(lanner, name)).items():
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, kinds)):
            yield f"{name}.{member}"


MEMBERS = [member for name in NAMES if inspect.isclass(getattr(lanner, name)) for member in members(name)]


def violations(name: str) -> list[tuple[str, str]]:
    return [(code, words) for code, words in validate(f"lanner.{name}")["errors"] if code in CHECKS]


def test_the_checks_exist() -> None:
    assert set(ERROR_MSGS) >= CHECKS


@pytest.mark.parametrize("name", [*NAMES, *MEMBERS])
def test_a_public_name_is_documented_in_numpydoc_form(name: str) -> None:
    assert violations(name) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_has_all_its_sections(name: str) -> None:
    found = getattr(lanner, name)
    documented = NumpyDocString(inspect.getdoc(found) or "")
    kind = "class" if inspect.isclass(found) else "function"
    assert [section for section in SECTIONS[kind] if not documented[section]] == []


@pytest.mark.parametrize("name", NAMES)
def test_its_example_is_a_doctest(name: str) -> None:
    # Doctests are run where they stand; an example without a prompt would not be.
    assert ">>> " in "\n".join(NumpyDocString(inspect.getdoc(getattr(lanner, name)) or "")["Examples"])


def test_a_parameter_that_nobody_describes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    documented = inspect.getdoc(lanner.tune) or ""
    monkeypatch.setattr(lanner.tune, "__doc__", documented.replace("memory : float or str", "memories : float or str"))
    assert {code for code, _ in violations("tune")} == {"PR01", "PR02"}
