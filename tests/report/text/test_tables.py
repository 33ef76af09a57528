from dataclasses import replace

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events import Scaling
from lanner.events.missing import Missing
from lanner.report.text.tables import (
    cell,
    configuration,
    scales,
    spread,
    terms,
    tuning_tables,
    units,
    units_caption,
)
from lanner.run.result import SearchResult
from tests.report.showcase import the_case
from tests.report.text.test_verdict import kept, with_terms


def test_every_scale_has_a_row_and_one_a_star() -> None:
    rows = scales(kept("combined"))
    assert len(rows) == 12
    assert [k for k, row in enumerate(rows) if "*" in row["local Z"]] == [kept("combined").combined.dominant_scale]
    assert {row["tuned to"] for row in rows} == {"20 %", "a factor 2", "a factor 7"}
    assert scales(kept("single")) == []


def test_every_term_has_a_row_and_the_leading_one_a_star() -> None:
    rows = terms(with_terms())
    assert [row["what"] for row in rows] == ["number of events", "out of reach, width 0.23", "out of reach, width 1.52"]
    assert [row["local Z"] for row in rows] == ["0.52", "3.72 *", "0.00"]
    assert rows[0]["toys above"] == "63 of 220"
    assert terms(kept("combined")) == terms(kept("single")) == []


def test_the_spread_is_shown_part_by_part() -> None:
    rows = spread(with_terms())
    assert [row["standard deviation of Z"] for row in rows] == ["0.03", "0.04", "0.12", "0.13"]
    assert spread(kept("single")) == []


def test_what_moments_come_from_is_named() -> None:
    def setting(name: str, **changes: object) -> str:
        result = kept("combined")
        rows = configuration(replace(result.plan, **changes))  # type: ignore[arg-type]
        return next(row["value"] for row in rows if row["setting"] == name)

    assert setting("blocks of the reference for the moments", moment_blocks=16) == "16"
    assert setting("blocks of the reference for the moments", moment_blocks=None).startswith("not needed")
    assert setting("centres are never a toy's data", centers_barred=False) == "no"


def test_settings_have_names_that_say_what_they_are() -> None:
    settings = {row["setting"]: row["value"] for row in configuration(kept("single").plan)}
    assert settings["features"] == "x"
    assert settings["width"] == "0.8"
    assert settings["fixed number of data events"] == "no: the number of events is tested too"
    assert "newton steps" in settings
    assert "newton steps" not in {row["setting"] for row in configuration(kept("combined").plan)}


def test_units_are_those_of_the_scaling() -> None:
    assert [row["feature"] for row in units(the_case().result.plan.units)] == ["mass", "eta", "charge"]


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


def with_gaps_and_angle() -> SearchResult:
    scaling = Scaling(
        np.array([1.0, 0.0]), np.array([2.0, 1.0]), "robust", ("pt3", "phi"), (Missing("pt3", -999.0, 0.05),), ("phi",)
    )
    case = the_case().result
    return replace(case, plan=replace(case.plan, units=scaling))


def test_units_say_what_is_missing_and_what_is_periodic() -> None:
    first, second = units(with_gaps_and_angle().plan.units)
    assert first["and"] == "-999 is missing (5 %): an indicator of its own"
    assert second["and"] == "periodic, with 6.28319: its cosine and sine"


def test_the_caption_of_the_units_has_the_rule_in_words() -> None:
    assert "the median, and half of the central 68 % interval" in units_caption(with_gaps_and_angle())


def test_no_angles_are_called_none() -> None:
    assert {"setting": "periodic", "value": "none"} in configuration(the_case().result.plan)
