"""What is cited is what CITATION.cff says."""

from pathlib import Path

import yaml

import lanner
from lanner.report.export import citation

CFF = yaml.safe_load((Path(__file__).parents[3] / "CITATION.cff").read_text())


def test_the_paper_is_that_of_citation_cff() -> None:
    said, paper = " ".join(citation().split()), CFF["preferred-citation"]
    authors = " and ".join(f"{one['family-names']}, {one['given-names']}" for one in paper["authors"])
    for field, value in {
        "author ": authors,
        "title  ": paper["title"],
        "journal": paper["journal"],
        "volume ": paper["volume"],
        "pages  ": paper["start"],
        "year   ": paper["year"],
        "doi    ": paper["doi"],
    }.items():
        assert f"{field.strip()} = {{{value}}}" in said


def test_the_version_is_the_one_that_runs() -> None:
    said = citation()
    assert f"version = {{{lanner.__version__}}}" in said
    assert "{Lanner}" in said
    assert said.count("{") == said.count("}")
