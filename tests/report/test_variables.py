"""Variables for plots may lack a value in some events: these are left out of the plot, and that is said."""

import json

import numpy as np
import pytest

from lanner.errors import ColumnWarning, InputError
from lanner.events import Sample
from lanner.events.missing import ABSENT
from lanner.report.characterise import Characterisation, characterise
from lanner.report.page import render
from lanner.report.profiles import contents
from lanner.report.variables import columns_to_show, is_complete, with_values
from tests.report.showcase import the_case, the_findings


def with_gaps() -> Characterisation:
    """The same events, with energies of which every seventh, in the data every fifth, is missing."""
    case = the_case()
    energies = [columns["energy"].copy() for columns in (case.extra_reference, case.extra_data)]
    energies[0][::7], energies[1][::5] = np.nan, np.inf
    njets = [columns["njet"] for columns in (case.extra_reference, case.extra_data)]
    with pytest.warns(
        ColumnWarning, match="'energy' is missing, NaN or infinite in 1143 of 8000 reference events and 85 of 425"
    ):
        return characterise(
            case.result,
            case.reference,
            case.data,
            extra_reference={"energy": energies[0], "njet": njets[0]},
            extra_data={"energy": energies[1], "njet": njets[1]},
        )


def test_a_variable_with_gaps_is_shown_without_these_events() -> None:
    case, profile = the_case(), with_gaps().profile("energy")
    kept = np.delete(case.extra_data["energy"], np.s_[::5])
    assert profile.without == (1143, 85)
    assert contents(profile.data).sum() == len(kept)
    assert contents(profile.reference).sum() == pytest.approx(400 * (8000 - 1143) / 8000)
    inside = (kept >= profile.edges[0]) & (kept < profile.edges[-1])
    assert contents(profile.data)[1:-1].sum() == np.count_nonzero(inside)
    assert profile.null_ratios.shape[0] == len(profile.edges) + 1


def test_other_variables_do_not_change_and_maps_take_only_complete_ones() -> None:
    found, whole = with_gaps(), the_findings()
    for name in ("mass", "njet"):
        np.testing.assert_array_equal(
            contents(found.profile(name).reweighted), contents(whole.profile(name).reweighted)
        )
        np.testing.assert_array_equal(found.profile(name).null_ratios, whole.profile(name).null_ratios)
    assert "energy" not in found.maps[0].names
    assert all(cut.name != "energy" for cut in found.region.cuts)
    with pytest.raises(InputError, match="'energy' is NaN in some events"):
        found.map_2d("mass", "energy")


def test_the_findings_and_the_report_say_what_is_missing() -> None:
    found = with_gaps()
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    (energy,) = (p for p in plain["profiles"] if p["name"] == "energy")
    assert energy["without_value"] == {"reference": 1143, "data": 85}
    assert "1143 reference and 85 data events without a value are left out" in render(
        the_case().result, characterisation=found
    )


def test_a_variable_without_any_value_is_left_out_by_name() -> None:
    reference, data = {"a": np.ones(3), "b": np.full(3, np.nan)}, {"a": np.ones(2), "b": np.ones(2)}
    assert not is_complete(reference, data, "b")
    with pytest.warns(
        ColumnWarning, match="'b' is missing, NaN or infinite in 3 of 3 reference events: it is left out"
    ):
        shown = with_values(reference, data)
    assert [list(columns) for columns in shown] == [["a"], ["a"]]
    with pytest.warns(ColumnWarning), pytest.raises(InputError, match="no variable has a value"):
        with_values({"b": reference["b"]}, {"b": data["b"]})


@pytest.mark.parametrize("extra", [{"e": [1.0, np.nan]}, np.array([[1.0], [np.nan]]), Sample.of({"e": [1.0, 2.0]})])
def test_further_variables_come_in_any_form(extra: object) -> None:
    columns = columns_to_show(Sample.of({"a": [1.0, 2.0]}), extra, "data", None)
    assert list(columns) in (["a", "e"], ["a", "x0"])
    with pytest.raises(InputError, match="2 rows for 1 events"):
        columns_to_show(Sample.of({"a": [1.0]}), extra, "data", None)


def test_objects_that_events_do_not_have_are_not_drawn_as_numbers() -> None:
    sample = Sample.of({"pt2": [1.0, ABSENT, 3.0], "met": [1.0, 2.0, 3.0]})
    columns = columns_to_show(sample, None, "data", None)
    np.testing.assert_array_equal(columns["pt2"], [1, np.nan, 3])
    assert np.shares_memory(columns["met"], sample.features)
