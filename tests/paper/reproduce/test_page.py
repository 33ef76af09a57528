from pathlib import Path

import numpy as np
import pytest

from lanner.paper.reproduce.cases import case
from lanner.paper.reproduce.page import summary, write_page
from tests.paper.reproduce.invented import numbers_of

CASE = case("one-dimensional")


def tables(text: str) -> list[list[list[str]]]:
    """The cells of every table of a page."""
    found: list[list[list[str]]] = []
    for block in text.split("\n\n"):
        lines = block.strip().splitlines()
        if lines[0].startswith("|"):
            found.append([[cell.strip() for cell in line.strip("|").split("|")] for line in lines])
    return found


@pytest.fixture
def page(tmp_path: Path) -> str:
    figures = {"observed": tmp_path / "figures" / "observed.png"}
    return write_page(CASE, numbers_of(CASE), figures, tmp_path / "results.md", scale="paper").read_text()


def test_rows_are_as_long_as_their_headers(page: str) -> None:
    found = tables(page)
    assert len(found) == 3
    assert all(len(row) == len(table[0]) for table in found for row in table)


def test_the_paper_is_quoted_at_its_own_strength_only(page: str) -> None:
    _, strengths, _ = tables(page)
    quoted = {(row[0], row[1]): row[-1] for row in strengths[2:] if row[-1] != "–"}
    assert quoted == {
        ("peak in the tail", "10"): "4.7, 2.43",
        ("peak in the bulk", "90"): "4.1, 2.82",
        ("non-resonant", "90"): "4.4, 3.04",
    }


def test_numbers_are_those_of_the_toys(page: str) -> None:
    numbers = numbers_of(CASE)
    null, strengths, sizes = tables(page)
    t = np.array(numbers["low"]["null"]["t"])
    row = dict(zip(null[0], null[2], strict=True))
    assert (row["number"], row["mean t"], row["spread"]) == ("200", f"{t.mean():.2f}", f"{t.std(ddof=1):.2f}")
    assert (row["χ² dof"], row["goodness of fit p"], row["paper's dof"]) == ("10.00 ± 0.30", "0.400", "9.58")
    z = np.array(numbers["low"]["strengths"][0]["z_chi2"])
    row = dict(zip(strengths[0], strengths[2], strict=True))
    assert row["observed Z, χ² (68 %)"].startswith(f"{np.median(z):.2f} (")
    assert row["P(2σ)"] == f"{np.mean(z >= 2):.2f}"
    assert [line[0] for line in sizes[2:]] == [f"{ratio:g}" for ratio in CASE.sizes]


def test_a_null_that_is_no_chi2_says_so(tmp_path: Path) -> None:
    numbers = numbers_of(CASE, fits=False)
    page = write_page(CASE, numbers, {}, tmp_path / "results.md", scale="paper").read_text()
    assert "| 10.00, closest | none: 1 of 200 toys has t ≤ 0 |" in page
    assert "closest chi2 10.00 dof (1 of 200 toys has t ≤ 0)" in summary(CASE, numbers)


def test_figures_are_linked_from_where_the_page_is(page: str) -> None:
    assert "![Observed against ideal significance.](figures/observed.png)" in page
    assert "`lanner reproduce one-dimensional --scale paper`" in page


def test_the_summary_has_a_line_for_each_strength() -> None:
    lines = summary(CASE, numbers_of(CASE)).splitlines()
    assert lines[0] == "1-D example: 200 null toys, chi2 dof 10.00 +- 0.30"
    assert len(lines) == 2 + 12 + 1
    assert lines[-1] == "0.01 s a toy after 0.5 s of preparation, rank 40"
