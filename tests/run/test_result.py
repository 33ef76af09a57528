from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lanner
from tests.conftest import exponential, kept_result


@pytest.fixture(scope="module")
def combined() -> lanner.SearchResult:
    return kept_result("combined")


@pytest.fixture(scope="module")
def single() -> lanner.SearchResult:
    return kept_result("single")


def test_p_and_z_are_those_of_the_toys(combined: lanner.SearchResult) -> None:
    k = int(np.count_nonzero(combined.null.statistics >= combined.statistic))
    assert combined.p_value == (k + 1) / (len(combined.null) + 1)
    low, high = combined.p_value_interval
    assert low < combined.p_value < high
    assert combined.z_score == combined.empirical.z_score


def test_a_single_statistic_has_its_laws_and_a_combination_its_tail(
    single: lanner.SearchResult, combined: lanner.SearchResult
) -> None:
    assert (single.tail, combined.analytic, combined.chi2) == (None, None, None)
    assert single.analytic is not None
    assert single.chi2 is not None
    assert combined.tail is not None
    assert combined.tail.z_error is not None


def test_only_a_law_that_the_toys_confirm_goes_beyond_them(
    single: lanner.SearchResult, combined: lanner.SearchResult
) -> None:
    assert single.beyond is None  # 20 toys confirm nothing
    assert combined.beyond == ("tail fitted to the toys", combined.tail)
    unremarkable = replace(combined, statistic=0.1)
    assert (unremarkable.beyond, unremarkable.tail) == (None, None)
    assert unremarkable.to_dict()["tail"]["p_value"] is None
    far = replace(combined, statistic=1e3)
    assert far.tail is not None
    assert far.tail.is_bound


def test_the_most_significant_scale_is_the_one_shown(combined: lanner.SearchResult) -> None:
    assert combined.combined is not None
    best = combined.combined.scales[combined.combined.dominant_scale]
    assert best.local_z == max(s.local_z for s in combined.combined.scales)
    assert (best.width, best.penalty) == (combined.plan.width, combined.plan.penalty)
    assert best.empirical.exceedances == best.exceedances


def test_it_draws_the_null_with_the_observed_statistic(single: lanner.SearchResult) -> None:
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert single.plot(ax=ax) is ax
    assert single.plot().get_xlabel() == "test statistic t"


def test_text_and_folder_are_those_of_the_functions(single: lanner.SearchResult, tmp_path: Path) -> None:
    assert str(single) == repr(single) == single.summary()
    assert single.summary().startswith(single.verdict())
    assert single.save(tmp_path) == tmp_path / "result.json"
    assert str(lanner.SearchResult.load(tmp_path)) == str(single)


def test_it_prints_and_shows() -> None:
    reference, data = ({"<b>x</b>": x[:, 0]} for x in exponential(6000, 300, seed=1))
    result = lanner.search(reference, data, expected=300, width=0.3, penalty=1e-6, centers=200, toys=20, seed=5)
    assert "analytic null" in str(result)
    assert "<b>x" not in result._repr_html_()
