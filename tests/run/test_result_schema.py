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


@pytest.fixture(scope="module")
def result() -> SearchResult:
    rng = np.random.default_rng(2)
    return search(rng.normal(size=(3000, 2)), rng.normal(size=(200, 2)), expected=200, toys=20, seed=1, centers=100)


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
    if "oneOf" in schema:
        schema = {"properties": SCHEMA["$defs"]["extrapolation"]["properties"]}
    for key, inner in value.items():
        if key not in schema["properties"]:
            yield f"{where}.{key}"
        else:
            yield from _undescribed(inner, schema["properties"][key], f"{where}.{key}")
