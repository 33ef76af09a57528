"""Notebooks of the gallery run; all of them in `make docs`, the quick ones here."""

import runpy
from pathlib import Path

import pytest

GALLERY = Path(__file__).parent.parent / "docs" / "gallery"
NOTEBOOKS = sorted(path.name for path in GALLERY.glob("*.py"))


@pytest.mark.parametrize("name", ["scikit_learn.py", "reading_the_report.py"])
def test_quick_notebooks_run(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    runpy.run_path(str(GALLERY / name))
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_notebook_is_on_the_site_and_in_its_index(name: str) -> None:
    assert f"gallery/{name}" in (GALLERY.parent.parent / "mkdocs.yml").read_text()
    assert f"]({name})" in (GALLERY / "index.md").read_text()


def test_every_page_is_on_the_site() -> None:
    site = (GALLERY.parent.parent / "mkdocs.yml").read_text()
    pages = [path.relative_to(GALLERY.parent) for path in GALLERY.parent.rglob("*.md")]
    assert [str(page) for page in pages if str(page) not in site] == []
