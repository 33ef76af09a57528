"""The page of the default test beside the paper's setting."""

from pathlib import Path

import pytest

from lanner.comparison.table import Comparison, Found, Row
from lanner.paper.reproduce.cases import Case, case
from lanner.paper.reproduce.default_page import summary, table, write_default_page
from lanner.paper.reproduce.stages import Numbers

CHI2: Numbers = {"dof": 9.5, "dof_error": 0.3, "goodness_of_fit": 0.25}


def invented(case: Case) -> tuple[Comparison, Numbers]:
    """Z of strength k is k + 1 in the paper's setting, and one more by the default, which shows no more than 3.5."""
    rows = []
    for test, shift, most in (("paper", 0.0, float("inf")), ("default", 1.0, 3.5)):
        found = [
            Found(
                s.name, n, (min(k + shift, most), min(k + 1 + shift, most), min(k + 2 + shift, most)), (0.5, 0.2), 0.1
            )
            for s in case.signals
            for k, n in enumerate(s.strengths)
        ]
        rows.append(Row(test, 2000, 3.3, most, seconds_preparing=4.0, seconds_per_toy=0.25, found=tuple(found)))
    return Comparison(tuple(rows), 100), CHI2 | {"median_z": [0.5] * len(rows[0].found)}


def test_a_row_for_each_strength_and_the_paper_at_its_own(tmp_path: Path) -> None:
    one = case("one-dimensional")
    header, *rows = table(one, *invented(one))
    assert all(len(row) == len(header) for row in rows)
    assert len(rows) == sum(len(s.strengths) for s in one.signals)
    assert header[-1] == "Z that the paper prints"
    printed = {(row[0], row[1]): row[-1] for row in rows if row[-1] != "–"}
    assert printed == {
        ("peak in the tail", "10"): "2.43",
        ("peak in the bulk", "90"): "2.82",
        ("non-resonant", "90"): "3.04",
    }


def test_medians_errors_and_limits() -> None:
    susy = case("susy")
    _, first, *_, last = table(susy, *invented(susy))
    assert first == ["charginos", "200", "1.00 (0.00, 2.00)", "0.10", "0.50", "2.00 (1.00, 3.00)", "0.10", "20%", "20%"]
    assert last[5] == "≥ 3.50 (≥ 3.50, ≥ 3.50)"


def test_the_page_says_how_many_toys_and_how(tmp_path: Path) -> None:
    susy = case("susy")
    page = write_default_page(susy, *invented(susy), tmp_path / "default.md", scale="paper").read_text()
    assert "`lanner reproduce susy --scale paper --default-test`" in page
    assert "2000 null toys of the paper's setting and 2000 of the default are counted" in page
    assert "100 data sets at each strength" in page
    assert "9.5 ± 0.3 degrees of freedom, goodness of fit p = 0.250" in page
    assert "(figures/default.png)" in page
    assert (tmp_path / "figures" / "default.png").stat().st_size > 10_000


def test_where_no_chi2_fits_the_page_says_so(tmp_path: Path) -> None:
    susy = case("susy")
    found, chi2 = invented(susy)
    none = chi2 | {"dof_error": None, "goodness_of_fit": None}
    page = write_default_page(susy, found, none, tmp_path / "default.md", scale="paper").read_text()
    assert "9.5 degrees of freedom, the closest to the toys, of which some have t ≤ 0" in page


@pytest.mark.parametrize("name", ["dimuon", "susy"])
def test_the_terminal_has_the_same_table(name: str) -> None:
    chosen = case(name)
    text = summary(chosen, *invented(chosen))
    assert text.startswith(f"{chosen.title}: null toys paper 2000, default 2000\n")
    assert len(text.splitlines()) >= 2 + sum(len(s.strengths) for s in chosen.signals)
