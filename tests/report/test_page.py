import html
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from lanner.inference.terms import OutOfReach
from lanner.report.characterise import TopEvents
from lanner.report.page import render, write_report
from lanner.report.text.words import as_extreme
from lanner.run.tune import tune
from tests.report.showcase import HOSTILE, hostile_report, the_case, the_findings
from tests.report.text.test_verdict import kept, with_terms
from tests.report.uncertain_showcase import HOSTILE as HOSTILE_NUISANCES
from tests.report.uncertain_showcase import hostile_uncertain_case, the_uncertain_case


class Page(HTMLParser):
    """Every element with its attributes, and the text outside of them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes most of the time, and many tests are about words."""
    monkeypatch.setattr("lanner.report.page.pictures", lambda *_: [])


@pytest.fixture(scope="module")
def page() -> Page:
    few = replace(the_findings(), profiles=the_findings().profiles[:2])
    return Page(render(the_case().result, characterisation=few))


def test_it_is_well_formed_and_has_every_figure(page: Page) -> None:
    assert page.open == []
    # The null, the importance, two variables and a map.
    assert page.count("figure") == page.count("svg") == page.count("figcaption") == 5


def test_it_loads_and_runs_nothing(page: Page) -> None:
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "iframe", "object", "embed", "img", "base", "form", "foreignobject"}
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        for name in ("src", "href", "xlink:href", "srcset"):
            target = attributes.get(name)
            if target is not None and not target.startswith(("#", "data:image/png;base64,")):
                assert (tag, target) == ("a", "https://doi.org/10.1140/epjc/s10052-022-10830-y")
    policy = next(a["content"] for t, a in page.elements if t == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")


def test_the_verdict_comes_first_and_the_numbers_follow(page: Page) -> None:
    result = the_case().result
    verdict = page.text.index(result.verdict())
    assert verdict < page.text.index("empirical (the result)") < page.text.index("extrapolation")
    assert as_extreme(result.empirical).capitalize() in page.text
    assert page.text.count("extrapolation") >= 2
    assert "What this p-value means" in page.text
    assert "Eur. Phys. J. C 82 (2022) 879" in page.text
    assert "not corrected for the choice: a description, not a test" in page.text
    for name in ("width", "penalty", "seed", "centers"):
        assert name in page.text
    assert "numpy" in page.text


def test_hostile_names_are_shown_and_do_nothing() -> None:
    text = hostile_report()
    page = Page(text)
    assert page.open == []
    assert page.count("script") == page.count("img") == 0
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    for name in HOSTILE:
        assert name in page.text
    assert "<script>" not in text
    assert "\x00" not in text
    assert "\u202e" not in text  # which would turn the rest of the line around


def test_without_a_characterisation_the_test_stands_alone() -> None:
    page = Page(render(the_case().result))
    assert page.count("figure") == 1
    assert "Where the learned ratio departs" not in page.text


@pytest.mark.usefixtures("no_figures")
def test_every_warning_is_shown() -> None:
    warnings = ("3 of 40 toys have not converged", "<b>bold</b> & more")
    page = Page(render(replace(the_case().result, warnings=warnings)))
    assert all(w in page.text for w in warnings)


@pytest.mark.parametrize("t", [-4.0, 0.0, 1e6, float("nan")])
@pytest.mark.usefixtures("no_figures")
def test_odd_outcomes_are_told_too(t: float) -> None:
    result = the_case().result
    toys = np.append(result.null.statistics[:-2], [np.nan, -3.0])
    null = replace(result.null, statistics=toys, chi2=None)
    page = Page(render(replace(result, statistic=t, null=null)))
    assert "No χ² fits: 1 toy with t ≤ 0, 1 not finite" in page.text


@pytest.mark.usefixtures("no_figures")
def test_what_no_scale_can_see_stands_below_the_scales() -> None:
    page = Page(render(with_terms()))
    first, last = page.text.index("What no scale can see"), page.text.index("How much the result depends on chance")
    table = page.text[first:last]
    for row in ("number of events 1.204 63 of 220 0.52", "out of reach, width 0.23 9.210 0 of 220 3.72 *"):
        assert row in table
    assert page.open == []
    assert "What no scale can see" not in Page(render(kept("combined"))).text


@pytest.mark.usefixtures("no_figures")
def test_the_spread_of_z_is_shown_by_its_parts_where_it_is_known() -> None:
    page = Page(render(with_terms()))
    assert "which reference events a fit takes 0.03" in page.text
    assert "all together 0.13" in page.text
    assert "depends on chance" not in Page(render(kept("combined"))).text


@pytest.mark.usefixtures("no_figures")
def test_events_beyond_the_reference_have_a_section_that_names_their_rows() -> None:
    page = Page(render(with_terms()))
    section = page.text[page.text.index("Data events beyond the reference") :]
    assert section.index("4 data events beyond the reference (width 0.230), where 0.052 are expected.") < 100
    assert "counted from 0 in the data as they were given: 104, 7, 31, 2." in section
    unsurprising = replace(with_terms(), out_of_reach=OutOfReach(0.23, 3.0, 4, (104, 7, 31, 2)))
    assert "Data events beyond" not in Page(render(unsurprising)).text
    assert "Data events beyond" not in Page(render(kept("combined"))).text


@pytest.mark.usefixtures("no_figures")
def test_with_a_characterisation_they_are_listed_with_their_variables() -> None:
    found = the_findings()
    beyond = TopEvents(("mass", "eta"), np.array([411, 3]), np.array([0.1, 0.2]), np.array([[77.25, 1.5], [88.5, 0.5]]))
    page = Page(render(with_terms(), characterisation=replace(found, beyond=beyond)))
    assert "row mass eta 411 77.25 1.5 3 88.5 0.5" in page.text
    assert "in the data as they were given: 104" not in page.text


@pytest.mark.usefixtures("no_figures")
def test_a_law_that_the_toys_contradict_is_called_so() -> None:
    result = the_case().result
    assert "do not use it" not in Page(render(result)).text
    off = replace(result.null, statistics=3 * result.null.statistics)
    assert "The toys do not confirm it: do not use it." in Page(render(replace(result, null=off))).text


@pytest.mark.usefixtures("no_figures")
def test_a_search_of_the_shape_alone_says_so() -> None:
    result = the_case().result
    text = render(replace(result, plan=replace(result.plan, fixed=425)))
    assert "the shape alone counts" in Page(text).text


def test_a_tuning_is_shown_with_its_curves() -> None:
    reference = np.random.default_rng(1).exponential(size=(3000, 1))
    tuning = tune(reference, expected=200, penalty=1e-6, seed=1)
    page = Page(render(the_case().result, tuning=tuning))
    assert "How the settings were chosen" in page.text
    assert page.count("figure") == 2
    assert "smallest at which toys are stable" in page.text


@pytest.mark.usefixtures("no_figures")
def test_it_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.html"
    assert write_report(the_case().result, target, title="first") == target
    before = target.read_text()
    assert "<title>first</title>" in before

    def fail(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="no space"):
        write_report(the_case().result, target, title="second")
    assert target.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.usefixtures("no_figures")
def test_styles_are_not_escaped() -> None:
    text = render(the_case().result)
    styles = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert styles is not None
    assert html.unescape(styles[1]) == styles[1]
    assert '"Segoe UI"' in styles[1]


@pytest.fixture(scope="module")
def uncertain() -> Page:
    case = the_uncertain_case()
    return Page(render(case.result, characterisation=case.characterise()))


def test_which_uncertainties_are_in_is_said_right_after_the_verdict(uncertain: Page) -> None:
    after = uncertain.text.split(the_uncertain_case().result.verdict())[1]
    assert after.strip().startswith(
        "The p-value takes 3 systematic uncertainties of the reference into account: luminosity, energy scale, parton "
        "shower. Z "
    )
    assert " with them; Z " in after[:300]


@pytest.mark.usefixtures("no_figures")
def test_that_there_are_none_is_said_right_after_the_verdict() -> None:
    result = kept("combined")
    page = Page(render(result))
    after = page.text.split(result.verdict())[1]
    assert after.strip().startswith("No systematic uncertainties were given: the reference is taken as exact")
    assert "Pulls and constraints" not in page.text


def test_pulls_costs_closures_and_bands_are_on_the_page(uncertain: Page) -> None:
    result, text = the_uncertain_case().result, uncertain.text
    for words in (
        "What they cost, or explain",
        "Pulls and constraints",
        "nuisance given as ν̂ error closure p up closure p down resemblance",
        "The learned departure looks like",
        "Do the learned variations close?",
        "2 of 3 learned variations close, not parton shower up",
        "✗ fails:",
        "Closure of energy scale:",
        "Closure of parton shower:",
        "It does NOT close up",
        "The reference is drawn at the fitted nuisance parameters; the purple band is its error",
        "at the fitted nuisance parameters (grey)",
    ):
        assert words in text
    for nuisance in result.nuisances:
        assert f"{nuisance.name} {nuisance.kind} {nuisance.value:+.2f}".replace("-", "−") in text
    assert uncertain.open == []
    # The null, the nuisances, all closures, two of them, the scales, the importance, two variables and a map.
    assert uncertain.count("figure") == 10
    assert ("td", {"class": "fails"}) in uncertain.elements
    assert ("p", {"class": "warnings"}) in uncertain.elements


def test_hostile_names_of_nuisances_are_shown_and_do_nothing() -> None:
    case = hostile_uncertain_case()
    text = render(case.result, characterisation=case.characterise())
    page = Page(text)
    assert page.open == []
    assert page.count("script") == page.count("img") == 0
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert all(name in page.text for name in HOSTILE_NUISANCES)
    assert "<script>" not in text
