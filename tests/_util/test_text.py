"""Texts for people: rows, tables, counts and lists of names."""

import math
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanner._util.text import (
    LISTED,
    as_html,
    as_text,
    at_most,
    count,
    first_line,
    is_beyond,
    joined,
    listed,
    markdown_table,
    shown,
    text_table,
    three_digits,
    with_nearest,
)

words = st.text("abc", min_size=1, max_size=6)
rows = st.lists(st.tuples(words, words), min_size=1, max_size=4)


@given(rows)
def test_values_stand_under_each_other(rows: list[tuple[str, str]]) -> None:
    heading, *lines = as_text("Fit", rows).splitlines()
    assert heading == "Fit"
    width = max(len(name) for name, _ in rows)
    assert [(line[2 : 2 + width].strip(), line[4 + width :]) for line in lines] == rows


@given(st.text("<>&'\"a", min_size=1), st.text("<>&'\"a", min_size=1))
def test_html_shows_names_and_values_as_they_are(name: str, value: str) -> None:
    root = ElementTree.fromstring(f"<div>{as_html('x < y', [(name, value)])}</div>")
    assert ["".join(cell.itertext()) for cell in root.iter() if cell.tag in ("b", "th", "td")] == ["x < y", name, value]


@given(st.lists(st.lists(words, min_size=3, max_size=3), min_size=1, max_size=4))
def test_tables_have_all_cells_in_order(lines: list[list[str]]) -> None:
    assert [line.split() for line in text_table(lines).splitlines()] == lines
    header, rule, *body = markdown_table(lines).splitlines()
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in (header, *body)] == lines
    assert rule == "|---|---|---|"


@given(st.floats(0.01, 1e9))
def test_three_digits_are_enough_for_half_a_percent(value: float) -> None:
    shown = three_digits(value)
    assert len(shown.replace(".", "").strip("0")) <= 3
    assert abs(float(shown) - value) <= max(0.005 * value, 0.0051)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_was_not_measured_is_left_empty(value: float) -> None:
    assert three_digits(value) == ""


@given(st.floats(-10, 10), st.floats(0, 10))
def test_a_significance_is_shown_or_its_limit(z: float, most: float) -> None:
    assert at_most(z, most).startswith("≥") == is_beyond(z, most)
    assert float(at_most(z, most).removeprefix("≥ ")) == pytest.approx(min(z, most), abs=0.0051)
    assert at_most(z, most) != "-0.00"


@pytest.mark.parametrize(("number", "wanted"), [(0, "0 toys"), (1, "1 toy"), (2, "2 toys")])
def test_a_count_has_its_plural(number: int, wanted: str) -> None:
    assert count(number, "toy") == wanted


@given(st.lists(words, max_size=3 * LISTED))
def test_long_lists_are_cut_and_counted(names: list[str]) -> None:
    first, _, more = joined(names).partition(" and ")
    assert first == ", ".join(names[:LISTED])
    assert more == (f"{len(names) - LISTED} more" if len(names) > LISTED else "")


def test_names_are_quoted() -> None:
    assert listed(["a", "it's"]) == "'a', \"it's\""


def test_a_missing_name_brings_those_that_look_like_it() -> None:
    assert with_nearest(["PT1", "zz"], ["pt1", "pt2", "eta"]) == "'PT1' (nearest: 'pt1', 'pt2'), 'zz'"


def test_a_value_in_a_message_is_short_and_on_one_line() -> None:
    assert shown("x") == "'x'"
    assert len(shown(["x" * 80] * 1000)) == 160
    assert shown(10**5000) == "a number of thousands of digits"
    assert len(listed(["x" * 5000])) == 160
    assert len(with_nearest(["x" * 5000], ["y"])) == 160
    assert first_line("a\nb") == "a"
    assert first_line("") == ""
