"""What `print` shows is kept as text files beside this one, so that a change of words is seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lanner.report.text.summary import findings, summary, summary_html
from tests.report.showcase import the_findings
from tests.report.text.test_verdict import TEXTS, kept


@pytest.mark.parametrize("kind", ["combined", "single"])
def test_the_summary_is_the_one_kept(kind: str) -> None:
    assert summary(kept(kind)) + "\n" == (TEXTS / f"summary_{kind}.txt").read_text(encoding="utf-8")


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
