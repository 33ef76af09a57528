"""A result as plain JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lanner.inference.plan import Plan
from lanner.run.result_plain import finite
from tests.run.test_result_io import small


def test_the_result_is_plain_json_with_the_names_outside_checks_use() -> None:
    plain = json.loads(small().to_json())
    assert {
        "statistic",
        "p_value",
        "p_value_interval",
        "z_score",
        "chi2",
        "analytic",
        "null",
        "versions",
        "seed",
    } <= set(plain)
    assert plain["null"]["toys"] == 60
    assert plain["configuration"]["width"] == 0.3
    assert json.loads(json.dumps(Plan.from_dict(plain["configuration"]).to_dict())) == plain["configuration"]


@pytest.mark.parametrize("t", [-1.0, 0.0, 1e-3, 1e5, float("nan")])
def test_any_statistic_makes_a_result_that_is_json(t: float) -> None:
    result = replace(small(toys=20), statistic=t)
    plain = json.loads(result.to_json())
    assert 0 < plain["p_value"] <= 1
    assert str(result)


def test_what_json_lacks_is_none_however_deep_it_is() -> None:
    assert finite({"a": [1.0, float("inf"), {"b": float("nan")}], "c": "nan"}) == {
        "a": [1.0, None, {"b": None}],
        "c": "nan",
    }
