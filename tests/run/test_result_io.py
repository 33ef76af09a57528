from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.inference.plan import Plan
from lanner.run.result_io import FORMAT
from tests.conftest import exponential

KEPT = Path(__file__).with_name("data") / "result_format_4"
R, D = exponential(6000, 300, seed=1)


def small(toys: int = 60) -> lanner.SearchResult:
    return lanner.search(R, D, expected=300, width=0.3, penalty=1e-6, centers=200, scaling=None, seed=5, toys=toys)


@pytest.mark.parametrize("kind", ["combined", "single"])
def test_a_result_of_the_last_format_is_read_and_written_in_this_one(kind: str, tmp_path: Path) -> None:
    old = json.loads((KEPT / kind / "result.json").read_text())
    result = lanner.load_result(KEPT / kind)
    assert old["schema"] == "lanner.result/4"
    assert (result.p_value, result.statistic, result.seconds) == (old["p_value"], old["statistic"], old["seconds"])
    assert result.null.statistics.tolist() == old["null"]["statistics"]
    if old["combined"] is not None:
        assert result.combined is not None
        assert result.combined.dominant_scale == old["combined"]["dominant_scale"]
        assert result.combined.n_map_toys == old["combined"]["n_map_toys"]
        assert result.combined.combination == old["combined"]["combination"]
        assert [s.local_z for s in result.combined.scales] == [s["local_z"] for s in old["combined"]["scales"]]
        assert result.combined.terms == ()
        assert result.tail is not None
        assert result.tail.z_score == pytest.approx(old["tail"]["z_score"], rel=1e-12)
    assert (result.spread, result.out_of_reach, result.looks) == (None, None, ())  # which it did not have
    lanner.save_result(result, tmp_path)
    again = lanner.load_result(tmp_path)
    assert json.loads((tmp_path / "result.json").read_text())["schema"] == FORMAT == "lanner.result/5"
    assert again.to_json() == result.to_json()
    assert again.combined == result.combined
    np.testing.assert_array_equal(again.null_coefficients, result.null_coefficients)


@pytest.mark.parametrize("number", [2, 3])
def test_an_older_format_says_in_one_line_how_to_remake_it(number: int, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(f'{{"schema": "lanner.result/{number}"}}')
    match = rf"lanner.result/{number}.*running the search again with the same settings"
    with pytest.raises(InputError, match=match) as error:
        lanner.load_result(tmp_path)
    assert "\n" not in str(error.value)


def test_no_result_and_a_damaged_one_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no result.json; give the output folder of `lanner search`"):
        lanner.load_result(tmp_path)
    shutil.copytree(KEPT / "single", tmp_path / "single")
    (tmp_path / "single" / "null.npz").write_bytes(b"PK nonsense")
    with pytest.raises(InputError, match=r"holds a damaged result.*run the search again"):
        lanner.load_result(tmp_path / "single")


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
