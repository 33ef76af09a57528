"""Regions of an analysis file, read and refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.events.analysis import read_analysis_file, read_simulated
from lanner.events.analysis.reference import read_data
from lanner.events.analysis.regions import formula_of_region, masks_of_regions, selection_with
from tests.events.analysis.conftest import TEXT

REGIONS = "regions:\n  high: pt > 40\n  wide: twice > 60 && `phi` > 0\nsettings:"


def written(folder: Path, regions: str = REGIONS) -> Path:
    (folder / "analysis.yaml").write_text(TEXT.replace("settings:", regions, 1))
    return folder / "analysis.yaml"


def test_every_sample_says_which_of_its_events_lie_where(folder: Path) -> None:
    analysis = read_analysis_file(written(folder))
    assert analysis.regions == {"high": "pt > 40", "wide": "twice > 60 && `phi` > 0"}
    reference, data = read_simulated(analysis), read_data(analysis)
    of_data = masks_of_regions(analysis, data)
    for sample, masks in ((reference.sample, reference.regions), (data.sample, of_data)):
        pt, twice, phi = sample.features.T
        np.testing.assert_array_equal(masks["high"], pt > 40)
        np.testing.assert_array_equal(masks["wide"], (twice > 60) & (phi > 0))


def test_features_that_are_formulas_are_written_out(folder: Path) -> None:
    analysis = read_analysis_file(written(folder))
    assert formula_of_region(analysis, "wide", ["pt", "phi"]) == "(2 * pt) > 60 && `phi` > 0"
    assert (
        formula_of_region(analysis, "wide", ["pt", "phi", "twice"]) == "twice > 60 && `phi` > 0"
    )  # a column comes first
    assert selection_with(analysis, "wide") == "(pt > 20) && ((2 * pt) > 60 && `phi` > 0)"
    assert selection_with(replace(analysis, selection=None), "high") == "pt > 40"


def test_only_whole_names_are_written_out(folder: Path) -> None:
    analysis = read_analysis_file(written(folder))
    for formula, wanted in (
        ("twice_as > 3", "twice_as > 3"),
        ("abs(twice) > 3", "abs((2 * pt)) > 3"),
        ("twice.x > 3", "twice.x > 3"),
        ("`twice` > 3", "(2 * pt) > 3"),
        ("`twice as` > 3", "`twice as` > 3"),
    ):
        found = replace(analysis, regions={"one": formula})
        assert formula_of_region(found, "one", ["pt"]) == wanted


BAD = [
    ("regions:\n  high: pt > 40\n  high: pt > 50\n", r"yaml:25 is not YAML that can be used: 'high' stands in line 24"),
    ("regions:\n  high: pt >\n", r"yaml:24: regions.high: .*region"),
    ("regions:\n  high: 3\n", r"yaml:24: regions.high: give a text, not 3"),
    ("regions: {}\n", r"yaml:23: regions: give at least one entry"),
    ("regions: pt > 3\n", r"yaml:23: regions: give `key: value` lines"),
    ("regions:\n  high: px > 3\n", r"yaml:24: regions.high: .*'px'"),
    ("regions:\n  high: 2 * pt\n", r"yaml:24: regions.high: '2 \* pt' yields numbers"),
    ("regions:\n  a/b: pt > 3\n", r"yaml:24: regions.a/b: .*letters, digits"),
    ("regions:\n  a: pt > 3\n  A: pt > 4\n", r"yaml:25: regions.A: .*the same folder"),
]


@pytest.mark.parametrize(("regions", "said"), BAD, ids=[text.strip()[:30] for text, _ in BAD])
def test_mistakes_name_the_line_and_the_key(folder: Path, regions: str, said: str) -> None:
    path = written(folder, regions + "settings:")
    with pytest.raises(InputError, match=said):
        read_simulated(read_analysis_file(path))


@pytest.mark.parametrize(("formula", "selected"), [("pt > 1e9", "0"), ("pt > 200", r"\d{1,2}")])
def test_a_region_of_too_little_names_its_line(folder: Path, formula: str, selected: str) -> None:
    path = written(folder, f"regions:\n  all: pt > 20\n  high: {formula}\nsettings:")
    analysis = lanner.read_analysis(path)
    with pytest.raises(
        InputError, match=rf"yaml:25: regions.high: it selects {selected} of \d+ reference events, and 20"
    ):
        analysis.search_regions(expected=60)


def test_an_analysis_without_regions_says_so(folder: Path) -> None:
    analysis = lanner.read_analysis(folder / "analysis.yaml")
    with pytest.raises(InputError, match=r"analysis.yaml has no regions"):
        analysis.search_regions()
    with pytest.raises(InputError, match=r"'high' is none of the regions"):
        analysis.in_region("high")
