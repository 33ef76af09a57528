"""Events where the reference has none are found, however far they lie, and are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import ConstantWarning, ReachWarning

EXPECTED, REFERENCE, TOYS = 400, 8000, 180
SMALLEST = 1 / 121  # of 180 toys a third makes the scales comparable
EXTRA = range(EXPECTED, EXPECTED + 30)


def events(far: float | None = None, dimensions: int = 1, number: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """A standard normal reference, and such data with a few events about so many standard deviations away."""
    rng = np.random.default_rng(1)
    reference, data = rng.normal(size=(REFERENCE, dimensions)), rng.normal(size=(EXPECTED, dimensions))
    if far is None:
        return reference, data
    extra = rng.normal(size=(number, dimensions))
    extra[:, 0] += far
    return reference, np.vstack([data, extra])


def search(reference: Any, data: Any, **changes: Any) -> lanner.SearchResult:
    return lanner.search(reference, data, **({"expected": EXPECTED, "toys": TOYS, "seed": 1} | changes))


# By the default and by fits, at several widths each; few centres make the latter a matter of a second.
WAYS: dict[str, dict[str, Any]] = {"default": {}, "fits": {"statistic": "likelihood-ratio", "centers": 150}}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dimensions", [1, 4])
@pytest.mark.parametrize("far", [15.0, 20.0, 50.0, 1e6])
def test_however_far_they_lie_they_are_found(far: float, dimensions: int, way: str) -> None:
    result = search(*events(far, dimensions), **WAYS[way])
    assert result.p_value == SMALLEST
    assert result.combined is not None
    assert result.combined.terms[0].local_p > 0.01  # not by their number
    assert result.out_of_reach is not None
    assert set(EXTRA) <= set(result.out_of_reach.rows)
    assert result.out_of_reach.surprising
    assert not any("out of reach" in text for text in result.warnings)  # where the test has a term for them


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dimensions", [1, 4])
@pytest.mark.parametrize("far", [15.0, 50.0])
def test_ten_of_them_are_enough(far: float, dimensions: int, way: str) -> None:
    assert search(*events(far, dimensions, number=10), **WAYS[way]).p_value < 0.01


@pytest.mark.parametrize("combination", ["harmonic", "smallest", "product"])
def test_whatever_the_combination(combination: str) -> None:
    assert search(*events(50.0), combination=combination).p_value == SMALLEST


def test_by_the_other_nulls_as_well() -> None:
    def make(n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.normal(size=(n, 1))

    reference, data = events(50.0)
    assert search(reference, data, null="permutation").p_value == SMALLEST
    assert search(reference[:3000], data, null="generator", generator=make, toys=66).p_value == 1 / 45


def test_beside_a_weighted_reference_too() -> None:
    rng, (_, data) = np.random.default_rng(2), events(50.0)
    reference = lanner.Sample.of(rng.normal(size=(10_000, 1)), weights=rng.uniform(0.5, 1.0, 10_000))
    result = search(reference, data)
    assert result.p_value == SMALLEST
    assert result.out_of_reach is not None
    assert set(EXTRA) <= set(result.out_of_reach.rows)


def test_against_a_calibration_that_has_never_seen_them(tmp_path: Path) -> None:
    reference, data = events(1e6, 4)
    lanner.calibrate(reference, expected=EXPECTED, output=tmp_path, toys=TOYS, seed=1)
    assert lanner.apply(tmp_path, data).p_value == SMALLEST
    assert lanner.apply(tmp_path, events(dimensions=4)[1]).p_value > 0.01


def test_data_like_the_reference_have_none_that_surprise() -> None:
    for dimensions in (1, 4):
        result = search(*events(dimensions=dimensions))
        assert result.p_value > 0.01
        assert result.out_of_reach is not None
        assert not result.out_of_reach.surprising


def test_the_report_names_them(tmp_path: Path) -> None:
    reference, data = ({"mass": x[:, 0]} for x in events(50.0))
    result = search(reference, data)
    assert "30 data events beyond the reference" in result.summary()
    found = lanner.characterise(result, reference, data)
    assert found.beyond is not None
    assert set(found.beyond.rows) <= set(EXTRA)
    assert len(found.beyond) == 20  # as many as are listed
    np.testing.assert_array_equal(found.beyond.values[:, 0], data["mass"][found.beyond.rows])
    assert json.loads(json.dumps(found.to_dict()))["beyond_the_reference"] == found.beyond.rows.tolist()
    for characterisation in (None, found):
        page = lanner.write_report(result, tmp_path / "report.html", characterisation=characterisation).read_text()
        section = page.split("<h2>Data events beyond the reference</h2>")[1].split("<h2>")[0]
        assert "30 data events beyond the reference" in section
        assert all(str(row) in section for row in found.beyond.rows)
    kept = lanner.load_result(result.save(tmp_path).parent)
    assert kept.out_of_reach == result.out_of_reach


def test_rows_are_those_of_the_file_where_a_selection_left_some_out() -> None:
    reference, data = ({"mass": x[:, 0]} for x in events(50.0))
    places = np.arange(len(data["mass"])) * 2 + 7
    found = lanner.characterise(search(reference, data), reference, data, data_rows=places)
    assert found.beyond is not None
    assert set(found.beyond.rows) <= {2 * row + 7 for row in EXTRA}


def test_nothing_is_listed_where_nothing_surprises() -> None:
    reference, data = events()
    result = search(reference, data)
    assert lanner.characterise(result, reference, data).beyond is None
    assert "out of reach  " not in result.summary().split("scales")[0]


@pytest.mark.parametrize("statistic", ["score", "likelihood-ratio"])
def test_a_single_width_warns_that_it_does_not_see_them(statistic: str) -> None:
    reference, data = events(50.0)
    with pytest.warns(ReachWarning, match=r"30 data events lie out of reach of the centres at this width"):
        result = search(reference, data, width=0.5, penalty=1e-5, toys=40, statistic=statistic)
    assert any("leave out the width to test at several" in text for text in result.warnings)
    assert result.out_of_reach is not None
    assert set(result.out_of_reach.rows) == set(EXTRA)


def test_a_single_width_that_sees_all_data_says_nothing() -> None:
    search(*events(), width=0.5, penalty=1e-5, toys=40)  # warnings are errors here


@pytest.mark.parametrize("way", WAYS)
def test_a_column_that_only_the_data_change_is_found(way: str) -> None:
    reference, data = events(dimensions=2)
    reference[:, 1], data[:, 1] = 3.0, 3.0
    data[:30, 1] = 4.0
    with pytest.warns(ConstantWarning, match="30 of 400 data events have another value"):
        result = search(reference, data, **WAYS[way])
    assert result.p_value == SMALLEST


def test_the_shape_alone_is_tested_without_their_number() -> None:
    reference, data = events(50.0)
    result = search(reference, data, expected=None)
    assert result.combined is not None
    labels = [term.label.partition(",")[0] for term in result.combined.terms]
    widths = len({s.width for s in result.combined.scales})
    assert labels == ["largest local excess"] * widths + ["out of reach"] * widths
    assert result.p_value == SMALLEST
    few = search(reference, events()[1][:250], expected=None)
    assert few.p_value > 0.01


def test_the_number_alone_is_found_by_its_term() -> None:
    reference, data = events()
    more = np.vstack([data, np.random.default_rng(5).normal(size=(95, 1))])
    result = search(reference, more)
    assert result.combined is not None
    count = result.combined.terms[0]
    assert count.label == "number of events"
    assert count.local_z > 4
    assert result.p_value == SMALLEST
