"""What a result keeps of its uncertainties beside the nuisances, there and back."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import lanner
from lanner.errors import FolderError
from lanner.inference.significance import EmpiricalP
from lanner.run.parts import Extrapolation
from lanner.run.systematics import Systematics, WithoutUncertainties
from tests.report.uncertain_showcase import the_uncertain_case

SCHEMA: dict[str, Any] = json.loads(resources.files("lanner.run").joinpath("result.schema.json").read_text("utf-8"))


@pytest.mark.parametrize(
    "law", [None, Extrapolation(1e-7, 5.2), Extrapolation(1e-7, 5.2, z_error=0.4, is_bound=True)], ids=str
)
def test_the_test_without_uncertainties_is_kept(law: Extrapolation | None) -> None:
    before = WithoutUncertainties(12.5, EmpiricalP(3, 1000), None if law is None else "analytic null", law)
    plain = json.loads(json.dumps(before.to_dict()))
    assert WithoutUncertainties.from_dict(plain) == before
    assert plain["z_score"] == pytest.approx(2.65, abs=0.01)


def test_a_folder_keeps_everything_that_a_report_draws(tmp_path: Path) -> None:
    case = the_uncertain_case()
    result = case.result
    result.save(tmp_path)
    again = lanner.load_result(tmp_path)
    assert again.to_json() == result.to_json()
    assert again.nuisances == result.nuisances
    assert [n.kind for n in again.nuisances] == ["normalisation", "samples", "weights"]
    assert again.systematics.without == result.systematics.without
    for before, after in zip(result.systematics.closures, again.systematics.closures, strict=True):
        assert str(before) == str(after)
        assert (before.level, before.tells, before.closes) == (after.level, after.tells, after.closes)
        np.testing.assert_array_equal(before.pulls[1].bias, after.pulls[1].bias)
    drawn = [lanner.characterise(one, case.reference, case.data).profiles for one in (result, again)]
    for p, q in zip(*drawn, strict=True):
        np.testing.assert_array_equal(p.learned_ratio, q.learned_ratio)
        np.testing.assert_array_equal(p.ratio_uncertainty, q.ratio_uncertainty)


def test_the_json_is_as_described_and_all_of_it_is() -> None:
    plain = json.loads(the_uncertain_case().result.to_json())
    jsonschema.Draft202012Validator(SCHEMA).validate(plain)
    closure, without = plain["closures"][0], plain["without_uncertainties"]
    described = SCHEMA["properties"]
    assert set(closure) == set(described["closures"]["items"]["properties"])
    assert set(closure["pulls"][0]) == set(described["closures"]["items"]["properties"]["pulls"]["items"]["properties"])
    assert set(without) == set(described["without_uncertainties"]["oneOf"][1]["properties"])
    assert set(plain["nuisances"][0]) == set(described["nuisances"]["items"]["properties"])
    broken = plain | {"closures": [closure | {"direction": "sideways"}]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(broken)


def test_the_reference_at_nu_is_bound_to_the_result(tmp_path: Path) -> None:
    result = the_uncertain_case().result
    result.save(tmp_path)
    path = tmp_path / "uncertainties.npz"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(FolderError, match=r"uncertainties\.npz does not belong"):
        lanner.load_result(tmp_path)
    replace(result, nuisances=(), systematics=Systematics()).save(tmp_path)
    assert not path.exists()  # it would not fit
    assert lanner.load_result(tmp_path).systematics.fitted is None


def test_results_of_before_have_none_of_it(tmp_path: Path) -> None:
    result = the_uncertain_case().result
    plain = result.to_dict()
    del plain["closures"], plain["without_uncertainties"]
    found = Systematics.from_dict(plain, None)
    assert (found.closures, found.without, found.fitted) == ((), None, None)
    assert found.closure_of("energy scale") == ()
