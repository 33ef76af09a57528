import json
from dataclasses import replace

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.inference.terms import OutOfReach
from lanner.report.characterise import characterise
from tests.report.showcase import the_case, the_findings


def test_f_is_held_for_every_event() -> None:
    case, found = the_case(), the_findings()
    np.testing.assert_allclose(found.log_ratio_data, case.result.ratio.log_ratio(case.data))
    np.testing.assert_allclose(found.log_ratio_reference, case.result.ratio.log_ratio(case.reference))


def test_profiles_stand_in_the_order_of_importance() -> None:
    found = the_findings()
    assert [p.name for p in found.profiles] == [i.name for i in found.importance]


def test_the_region_is_around_the_bump() -> None:
    case, region = the_case(), the_findings().region
    assert region is not None
    names = {cut.name for cut in region.cuts}
    assert names & {"mass", "energy"}
    assert region.data > region.expected
    assert region.local_z > 3
    assert "not a test" in region.note
    # The numbers belong to the selection as printed: apply it with pandas.
    import pandas as pd

    data = pd.DataFrame(case.data | case.extra_data).query(region.selection)
    reference = pd.DataFrame(case.reference | case.extra_reference).query(region.selection)
    assert len(data) == region.data
    assert len(reference) * 400 / 8000 == pytest.approx(region.expected)


def test_top_events_are_those_with_the_highest_f() -> None:
    case, top = the_case(), the_findings().top_events(5)
    assert len(top) == 5
    assert top.names == ("mass", "eta", "charge", "energy", "njet")
    f = case.result.ratio.log_ratio(case.data)
    assert list(top.rows) == sorted(range(425), key=lambda row: -f[row])[:5]
    np.testing.assert_array_equal(top.values[:, 0], case.data["mass"][top.rows])


def test_findings_are_plain_json() -> None:
    found = the_findings()
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["region"]["selection"] == found.region.selection
    assert len(plain["profiles"]) == 5
    assert "not a test" in str(found)


def test_events_beyond_the_reference_are_listed_only_where_they_surprise() -> None:
    case = the_case()
    assert the_findings().beyond is None
    result = replace(case.result, out_of_reach=OutOfReach(0.7, 0.01, 3, (420, 5, 6)))
    found = characterise(result, case.reference, case.data, variables=["eta"], data_rows=np.arange(425) + 1000)
    assert found.beyond is not None
    assert found.beyond.rows.tolist() == [1420, 1005, 1006]
    np.testing.assert_array_equal(found.beyond.values[:, 0], case.data["eta"][[420, 5, 6]])
    np.testing.assert_array_equal(found.beyond.log_ratio, found.log_ratio_data[[420, 5, 6]])
    assert found.to_dict()["beyond_the_reference"] == [1420, 1005, 1006]


def test_variables_and_bins_can_be_chosen() -> None:
    case = the_case()
    found = characterise(case.result, case.reference, case.data, variables=["eta"], bins={"eta": [-2.0, 0.0, 2.0]})
    assert [p.name for p in found.profiles] == ["eta"]
    assert found.maps == ()
    np.testing.assert_array_equal(found.profile("eta").edges, [-2, 0, 2])
    with pytest.raises(InputError, match="a map needs two variables"):
        found.map_2d()


def test_an_unknown_variable_is_answered_with_the_nearest() -> None:
    case = the_case()
    with pytest.raises(InputError, match="nearest: 'mass'"):
        characterise(case.result, case.reference, case.data, variables=["masss"])
    with pytest.raises(InputError, match="nearest: 'njet'"):
        the_findings().profile("njets")


def test_other_samples_than_the_searchs_are_refused() -> None:
    case = the_case()
    short = {name: column[:-1] for name, column in case.data.items()}
    with pytest.raises(InputError, match="424 events, the search's had 425"):
        characterise(case.result, case.reference, short)


def test_extra_variables_must_come_for_both_samples_and_every_event() -> None:
    case = the_case()
    with pytest.raises(InputError, match="give both extra_reference and extra_data"):
        characterise(case.result, case.reference, case.data, extra_reference=case.extra_reference)
    with pytest.raises(InputError, match="one row per event"):
        characterise(case.result, case.reference, case.data, extra_reference={"y": [1.0]}, extra_data={"y": [1.0]})
    with pytest.raises(InputError, match="only one of the two samples has 'njet'"):
        characterise(
            case.result, case.reference, case.data,
            extra_reference=case.extra_reference, extra_data={"energy": case.extra_data["energy"]},
        )  # fmt: skip


def test_no_extra_variables_may_be_an_empty_dictionary() -> None:
    case = the_case()
    found = characterise(case.result, case.reference, case.data, extra_reference={}, extra_data={}, variables=["mass"])
    assert len(found.profiles) == 1
