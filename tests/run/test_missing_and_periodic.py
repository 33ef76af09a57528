"""Whole searches whose scaled rows have more columns than there are features."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from numpy.typing import NDArray

import lanner
from lanner.errors import ConstantWarning, InputError

Columns = dict[str, NDArray[np.float64]]


def events(n: int, seed: int, *, gaps: float = 0.1) -> Columns:
    """A momentum with some missing values, and an angle."""
    rng = np.random.default_rng(seed)
    pt, phi = rng.exponential(40, n), rng.uniform(-np.pi, np.pi, n)
    pt[rng.random(n) < gaps] = -999
    return {"pt3": pt, "phi": phi}


REFERENCE = events(4000, 1)


def search(data: Columns, **settings: Any) -> lanner.SearchResult:
    usual: dict[str, Any] = {"expected": 200, "toys": 200, "seed": 1, "periodic": ["phi"]}
    return lanner.search(REFERENCE, data, **usual | settings)


@pytest.fixture(scope="module")
def result() -> lanner.SearchResult:
    return search(events(200, 2))


def test_the_plan_says_what_is_missing(result: lanner.SearchResult) -> None:
    (one,) = [c for c in result.plan.chosen if c.setting == "missing values"]
    assert one.value.startswith("-999 in column 'pt3' (")


def test_data_like_the_reference_are_no_finding(result: lanner.SearchResult) -> None:
    assert result.p_value > 0.05


def test_another_share_of_missing_values_is_a_finding() -> None:
    assert search(events(200, 2, gaps=0.25)).p_value < 0.02


def turned(columns: Columns) -> Columns:
    return columns | {"phi": np.mod(columns["phi"] + 1.0, 2 * np.pi)}


@pytest.mark.parametrize("periodic", [["phi"], []])
def test_where_a_turn_begins_does_not_matter_for_an_angle(periodic: list[str]) -> None:
    settings: dict[str, Any] = {"expected": 200, "toys": 66, "periodic": periodic, "precision": "double"}
    found = lanner.search(REFERENCE, events(200, 2), **settings)
    again = lanner.search(turned(REFERENCE), turned(events(200, 2)), **settings)
    same = np.allclose(found.null.statistics, again.null.statistics, rtol=1e-6)
    assert same == bool(periodic)


@pytest.mark.parametrize("scaling", [None, "standard", "robust"])
@pytest.mark.parametrize("null", ["reference", "permutation"])
def test_every_rule_and_null_takes_angles(scaling: str | None, null: str) -> None:
    found = search(events(200, 2), scaling=scaling, null=null, toys=20, width=2.0, penalty=1e-4)
    assert found.ratio.centers.shape[1] == (4 if scaling == "robust" else 3)
    assert np.isfinite(found.ratio.log_ratio(REFERENCE)).all()


def test_a_generator_gives_features_not_scaled_columns() -> None:
    def make(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        made = events(n, int(rng.integers(2**31)))
        return np.column_stack([made["pt3"], made["phi"]])

    assert 0 < search(events(200, 2), null="generator", generator=make, toys=66).p_value <= 1


def test_a_result_is_the_same_after_saving(result: lanner.SearchResult, tmp_path: Path) -> None:
    lanner.save_result(result, tmp_path)
    again = lanner.load_result(tmp_path)
    assert again.plan.units.to_dict() == result.plan.units.to_dict()
    assert again.plan.to_dict() == result.plan.to_dict()
    np.testing.assert_array_equal(again.ratio.log_ratio(REFERENCE), result.ratio.log_ratio(REFERENCE))


def test_a_result_follows_the_schema(result: lanner.SearchResult, tmp_path: Path) -> None:
    lanner.save_result(result, tmp_path)
    schema = json.loads((resources.files("lanner.run") / "result.schema.json").read_text())
    jsonschema.validate(json.loads((tmp_path / "result.json").read_text()), schema)


def test_the_report_shows_angles_and_missing_values(result: lanner.SearchResult) -> None:
    found = lanner.characterise(result, REFERENCE, events(200, 2))
    assert {p.name for p in found.profiles} == {"pt3", "phi"}
    assert found.reference["phi"].max() > 3


def test_a_calibration_keeps_them(tmp_path: Path) -> None:
    lanner.calibrate(REFERENCE, expected=200, output=tmp_path, toys=90, seed=1, periodic=["phi"])
    assert lanner.apply(tmp_path, events(200, 2, gaps=0.4)).p_value < 0.05


def test_tests_of_a_comparison_take_them() -> None:
    found = lanner.compare(
        REFERENCE, data=events(200, 2, gaps=0.4), expected=200, tests=["score", "ks", "energy"], toys=66,
        periodic=["phi"],
    )  # fmt: skip
    assert all(row.p_value is not None and row.p_value < 0.05 for row in found.rows)


def test_trials_take_them() -> None:
    assert lanner.tune(REFERENCE, expected=200, periodic=["phi"], centers=100, penalty=1e-4).width > 0


def test_power_takes_them() -> None:
    signal = events(400, 3, gaps=1.0)
    found = lanner.power(
        REFERENCE, signal, expected=200, signal_events=[40], toys=66, experiments=8, seed=1, periodic=["phi"]
    )
    assert np.median(found.strengths[0].z_empirical) > 1


def test_an_angle_that_is_no_feature_is_refused() -> None:
    with pytest.raises(InputError, match="'phy' is not a feature; nearest: phi"):
        search(events(200, 2), periodic=["phy"])


def with_constant(columns: Columns, value: float) -> Columns:
    return columns | {"year": np.full(len(columns["phi"]), value)}


def test_data_that_differ_from_a_constant_column_are_a_finding_and_a_warning() -> None:
    reference = with_constant(REFERENCE, 2018)
    same, other = with_constant(events(200, 2), 2018), with_constant(events(200, 2), 2017)
    assert lanner.search(reference, same, expected=200, toys=200).p_value > 0.05
    with pytest.warns(ConstantWarning, match="'year' is always 2018 in the reference, but 200 of 200 data events"):
        assert lanner.search(reference, other, expected=200, toys=200).p_value < 0.01


def test_a_reference_that_is_constant_in_everything_is_refused() -> None:
    with pytest.raises(InputError, match=r"constant in column 'year'.*give a feature that varies"):
        lanner.search({"year": np.ones(1000)}, {"year": np.ones(50)}, expected=50)
