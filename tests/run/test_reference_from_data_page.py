"""The examples of docs/reference-from-data.md run, and what the page says of them is so."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import lanner

PAGE = (Path(__file__).parents[2] / "docs" / "reference-from-data.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def ran() -> list[dict[str, Any]]:
    names: dict[str, Any] = {}
    found = []
    for block in BLOCKS:
        exec(block, names)
        found.append(dict(names))
    return found


def test_a_control_region_expects_what_the_page_says(ran: list[dict[str, Any]]) -> None:
    result = ran[0]["result"]
    assert result.plan.null == "reference"
    assert result.plan.expected == pytest.approx(240)
    assert [one.name for one in result.nuisances] == ["transfer factor", "events simulated"]
    plain = lanner.search(ran[0]["reference"], ran[0]["data"], expected="weights", toys=60, seed=1)
    assert plain.plan.expected_error == pytest.approx(0.03 * 8000**0.5)
    assert f"{plain.plan.expected_error:.1f}" in PAGE
    assert result.p_value > 0.01


def test_a_sideband_is_relabelled_and_only_its_shape_tested(ran: list[dict[str, Any]]) -> None:
    result = ran[1]["result"]
    assert result.null.kind == result.plan.null == "permutation"
    assert result.plan.fixed is not None
    assert result.p_value > 0.01


def test_the_number_has_the_closed_form_of_the_page(ran: list[dict[str, Any]]) -> None:
    assert 0 < ran[2]["count"].pvalue <= 1
    rng = np.random.default_rng(3)
    on, off = rng.poisson(240, 400), rng.poisson(600, 400)
    p = [stats.binomtest(int(a), int(a + b), 0.4 / 1.4).pvalue for a, b in zip(on, off, strict=True)]
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_a_number_taken_as_exact_calls_the_fluctuation_of_the_sideband_a_departure() -> None:
    rng = np.random.default_rng(4)
    on, off = rng.poisson(240, 4000), rng.poisson(600, 4000)
    as_exact = stats.poisson.sf(on - 1, 0.4 * off)
    assert np.mean(as_exact < 0.01) > 0.02
