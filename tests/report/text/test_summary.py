"""What `print` shows is kept as text files beside this one, so that a change of words is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from lanner.report.text.summary import findings, out_of_reach, summary, summary_html
from lanner.run.result import SearchResult
from tests.report.showcase import the_findings
from tests.report.text.test_verdict import TEXTS, kept, with_terms

RESULTS: dict[str, Callable[[], SearchResult]] = {
    "combined": lambda: kept("combined"),
    "single": lambda: kept("single"),
    "terms": with_terms,
}


@pytest.mark.parametrize("kind", RESULTS)
def test_the_summary_is_the_one_kept(kind: str) -> None:
    assert summary(RESULTS[kind]()) + "\n" == (TEXTS / f"summary_{kind}.txt").read_text(encoding="utf-8")


def test_the_star_is_where_the_data_are_most_significant() -> None:
    def starred(result: SearchResult) -> list[str]:
        return [line for line in summary(result).splitlines() if line.rstrip().endswith("*") or "*," in line]

    (line,) = starred(with_terms())
    assert "out of reach, width 0.23" in line
    combined = with_terms().combined
    assert combined is not None
    quiet = replace(combined, terms=tuple(replace(t, local_p=0.5, local_z=0.0) for t in combined.terms))
    (line,) = starred(replace(with_terms(), combined=quiet))
    assert line.strip().startswith("width 1.52")


def test_events_out_of_reach_are_told_where_there_are_more_than_expected() -> None:
    assert out_of_reach(with_terms()) == "4 data events beyond the reference (width 0.230), where 0.052 are expected"
    found = with_terms().out_of_reach
    assert found is not None
    assert out_of_reach(replace(with_terms(), out_of_reach=replace(found, number=1, rows=(3,)))) is None
    assert out_of_reach(replace(with_terms(), out_of_reach=replace(found, expected=3.0))) is None
    assert out_of_reach(kept("combined")) is None


def test_warnings_come_last_and_a_notebook_sees_the_same() -> None:
    result = replace(kept("single"), warnings=("<b>beware</b>",))
    assert summary(result).splitlines()[-1].split() == ["warning", "<b>beware</b>"]
    shown = summary_html(result)
    assert "&lt;b&gt;beware&lt;/b&gt;" in shown
    assert shown.count("<tr>") == len(summary(result).splitlines()) - 1


def test_findings_name_every_variable_and_the_region() -> None:
    found = the_findings()
    text = findings(found)
    assert all(i.name in text for i in found.importance)
    assert found.region is not None
    assert found.region.selection in text
    assert text.count("not used in the fit") == 2
