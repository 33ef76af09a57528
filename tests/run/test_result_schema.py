"""`result.schema.json` describes what `SearchResult.to_dict` returns, and all of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

import jsonschema
import numpy as np
import pytest

from lanner.run.result import SearchResult
from lanner.run.search import search

SCHEMA: dict[str, Any] = json.loads(resources.files("lanner.run").joinpath("result.schema.json").read_text("utf-8"))


# A single scale, several, and several with toys until the p-value is known.
KINDS: dict[str, dict[str, Any]] = {
    "single": {"toys": 20, "width": "auto"},
    "combined": {"toys": 300},
    "sequential": {"until_z": 1.5},
}


@pytest.fixture(scope="module", params=list(KINDS))
def result(request: pytest.FixtureRequest) -> SearchResult:
    rng = np.random.default_rng(2)
    reference, data = rng.normal(size=(4000, 2)), rng.normal(size=(200, 2))
    return search(reference, data, expected=200, seed=1, centers=100, **KINDS[request.param])


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_result_is_valid(result: SearchResult) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(result.to_json()))


def test_nothing_in_a_result_is_left_undescribed(result: SearchResult) -> None:
    plain = result.to_dict()
    plain["configuration"] = {k: v for k, v in plain["configuration"].items() if k == "scaling"}  # `Plan` describes it
    assert list(_undescribed(plain, SCHEMA, "result")) == []


@pytest.mark.parametrize(
    "change", [{"p_value": 0.0}, {"p_value": 1.5}, {"schema": "other"}, {"statistic": "high"}, {"null": None}]
)
def test_what_is_no_result_is_refused(result: SearchResult, change: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(result.to_dict() | change)


def _undescribed(value: Any, schema: Any, where: str) -> Iterator[str]:
    if not isinstance(value, dict) or not isinstance(schema, dict) or "additionalProperties" in schema:
        return
    if "oneOf" in schema:  # null or this
        schema = schema["oneOf"][1]
        if "$ref" in schema:
            schema = SCHEMA["$defs"]["extrapolation"]
    if "properties" not in schema:
        return
    for key, inner in value.items():
        if key not in schema["properties"]:
            yield f"{where}.{key}"
        else:
            yield from _undescribed(inner, schema["properties"][key], f"{where}.{key}")
