import numpy as np
import pytest

from lanner.errors import InputError
from lanner.report.text.tables import cell, configuration, scales, tuning_tables, units
from tests.report.showcase import the_case
from tests.report.text.test_verdict import kept


def test_every_scale_has_a_row_and_one_a_star() -> None:
    rows = scales(kept("combined"))
    assert len(rows) == 12
    assert [k for k, row in enumerate(rows) if "*" in row["local Z"]] == [kept("combined").combined.dominant_scale]
    assert {row["tuned to"] for row in rows} == {"20 %", "a factor 2", "a factor 7"}
    assert scales(kept("single")) == []


def test_settings_have_names_that_say_what_they_are() -> None:
    settings = {row["setting"]: row["value"] for row in configuration(kept("single"))}
    assert settings["features"] == "x"
    assert settings["width"] == "0.8"
    assert settings["fixed number of data events"] == "no: the number of events is tested too"
    assert "newton steps" in settings
    assert "newton steps" not in {row["setting"] for row in configuration(kept("combined"))}


def test_units_are_those_of_the_scaling() -> None:
    assert [row["feature"] for row in units(the_case().result)] == ["mass", "eta", "charge"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        (True, "yes"),
        (np.bool_(False), "no"),
        (np.int64(7), "7"),
        (0.1234567, "0.123457"),
        (["a", 2], "a, 2"),
        ("x" * 500, "x" * 399 + "…"),
    ],
)
def test_any_value_becomes_short_text(value: object, text: str) -> None:
    assert cell(value) == text


def test_a_tuning_may_be_values_and_tables() -> None:
    tables = tuning_tables({"width": 0.5, "trials": [{"t": 1.0}, {"t": 2.0, "note": "high"}]})
    assert tables[""] == [{"name": "width", "value": "0.5"}]
    assert tables["trials"] == [{"t": "1", "note": "none"}, {"t": "2", "note": "high"}]
    assert tuning_tables(None) == {}
    with pytest.raises(InputError, match="give what `tune` returned"):
        tuning_tables(3)
