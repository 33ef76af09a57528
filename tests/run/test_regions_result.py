"""What several regions say, as data and as files."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import lanner
from lanner.inference.sequential import Stopping
from lanner.run.regions_result import RegionsResult

SCHEMA = json.loads(resources.files("lanner.run").joinpath("regions.schema.json").read_text("utf-8"))


@cache
def found(shift: float = 0.0) -> RegionsResult:
    rng = np.random.default_rng(3)
    reference, data = rng.normal(size=(4000, 1)), rng.normal(size=(60, 1)) + shift
    regions = {"right": "x0 > 0", "middle": "abs(x0) < 1"}
    return lanner.search_regions(reference, data, regions=regions, expected=60, toys=120, seed=1, centers=40)


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_the_json_obeys_its_schema(shift: float) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    plain = json.loads(found(shift).to_json())
    jsonschema.Draft202012Validator(SCHEMA).validate(plain)
    assert plain["p_value"] == found(shift).p_value
    assert plain["regions"]["right"]["observed"] == found(shift).regions["right"].observed


def test_p_values_count_toys() -> None:
    result = found()
    k = int(np.count_nonzero(result.null.statistics >= result.statistic))
    assert result.p_value == (k + 1) / (len(result.null) + 1)
    assert result.p_value_interval[0] < result.p_value < result.p_value_interval[1]
    assert (len(result.null), result.n_map_toys) == (80, 40)


def test_data_far_out_have_a_bound() -> None:
    result = found(3.0)
    assert result.empirical.is_bound
    assert "none of 80 toys is as extreme" in result.verdict()
    assert result.outside < result.data_size


def test_events_are_counted_where_they_lie() -> None:
    rng = np.random.default_rng(3)
    rng.normal(size=(4000, 1))
    x = rng.normal(size=60)
    right, middle = x > 0, abs(x) < 1
    result = found()
    assert result.shared == int(np.sum(right & middle))
    assert result.outside == int(np.sum(~right & ~middle))
    assert [one.observed for one in result.regions.values()] == [right.sum(), middle.sum()]


def test_a_sequential_p_value_is_that_of_its_own_rule() -> None:
    result = found()
    sequential = lanner.RegionsResult(**{**vars(result), "stopping": Stopping(2, 80)})
    second = np.flatnonzero(result.null.statistics >= result.statistic)[1]
    assert sequential.p_value == 2 / (second + 1)


def test_it_is_saved_with_every_region(tmp_path: Path) -> None:
    path = found().save(tmp_path)
    assert json.loads(path.read_text())["schema"] == "lanner.regions/1"
    again = lanner.load_result(tmp_path / "regions" / "right")
    assert again.p_value == found().regions["right"].p_value
    with pytest.raises(lanner.errors.InputError, match="of several regions: give the folder of one of them"):
        lanner.load_result(tmp_path)


def test_it_prints_well_anywhere() -> None:
    assert str(found()) == repr(found()) == found().summary()
    assert "<table>" in found()._repr_html_()
