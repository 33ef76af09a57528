"""Nothing public is undocumented, and no link in the documentation is broken."""

import re
import runpy
from pathlib import Path

import pytest

import lanner
from lanner.cli import main

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("name", list(main.commands))
def test_every_command_has_a_page_with_its_python_twin(name: str) -> None:
    page = (ROOT / "docs" / "commands" / f"{name}.md").read_text()
    assert f"lanner {name} " in page
    assert "import lanner" in page


@pytest.mark.parametrize("name", lanner.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert f"`lanner.{name}`" in (ROOT / "docs" / "api.md").read_text()
    assert getattr(lanner, name).__doc__


def test_the_page_of_names_is_what_the_docstrings_say() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "make_api.py"))["page"]()
    assert (ROOT / "docs" / "api.md").read_text() == made, "a docstring changed: run `make api`"


def test_the_page_of_names_has_a_group_for_each() -> None:
    grouped = runpy.run_path(str(ROOT / "docs" / "make_api.py"))["groups"]()
    assert "Other names" not in grouped, "give these a group in docs/make_api.py"
    assert sorted(name for names in grouped.values() for name in names) == sorted(lanner.__all__)


def test_links_within_the_page_of_names_have_their_anchors() -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= set(re.findall(r'<a id="([^"]+)"></a>', page))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_options_in_the_documentation_exist(page: Path) -> None:
    known = {option for command in main.commands.values() for p in command.params for option in p.opts}
    for line in re.findall(r"lanner \w+ .*", page.read_text()):
        for option in re.findall(r"(--[a-z-]+)", line):
            assert option in known | {"--help"}, option


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_modules_that_the_maps_name_exist(page: str) -> None:
    files = [f"/{path.relative_to(ROOT)}" for path in (*ROOT.glob("src/**/*.*"), *ROOT.glob("tests/**/*.*"))]
    for named in re.findall(r"`([\w./]+\.(?:py|pyi|json))`", (ROOT / page).read_text()):
        assert any(path.endswith(f"/{named}") for path in files), named


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_what_the_documentation_imports_can_be_imported(page: Path) -> None:
    for line in re.findall(r"^from lanner[\w.]* import [\w, ]+$", page.read_text(), re.MULTILINE):
        exec(line, {})


def test_the_tests_that_show_what_is_promised_exist() -> None:
    named = re.findall(r"`(tests/[\w./]+)`", (ROOT / "docs" / "guarantees.md").read_text())
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []
