"""The same test without uncertainties: what it finds is what a search without them finds."""

from typing import Any

import numpy as np
import pytest

import lanner
from lanner.run import cost

REFERENCE = np.random.default_rng(1).exponential(size=(20_000, 1))
DATA = np.random.default_rng(2).exponential(1.2, size=(400, 1))
YIELD = [lanner.Normalisation("yield", 0.1)]
HOW: dict[str, Any] = {"expected": 400, "toys": 150, "seed": 2}


def test_it_is_the_search_without_them() -> None:
    told: list[str] = []
    found = lanner.search(
        REFERENCE, DATA, uncertainties=YIELD, progress=lambda what, done, total: told.append(what), **HOW
    )
    plain = lanner.search(REFERENCE, DATA, progress=False, **HOW)
    without = found.systematics.without
    assert without is not None
    assert (without.statistic, without.empirical) == (plain.statistic, plain.empirical)
    assert without.statistic != found.statistic
    assert "toys without the uncertainties" in told
    assert "preparing scale 1 of 4 without the uncertainties" in told
    assert f"with them; Z {'≥' if plain.empirical.is_bound else '='}" in str(found)
    assert found.warnings == ()


def test_it_can_be_left_out_and_is_not_made_where_there_is_nothing_to_leave_out() -> None:
    found = lanner.search(REFERENCE, DATA, uncertainties=YIELD, uncertainty_cost=False, progress=False, **HOW)
    assert found.systematics.without is None
    assert "with them" not in str(found)
    assert lanner.search(REFERENCE, DATA, progress=False, **HOW).systematics.without is None


def test_its_toys_are_no_more_than_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "MOST", 90)
    found = lanner.search(REFERENCE, DATA, uncertainties=YIELD, progress=False, **HOW)
    assert found.systematics.without is not None
    assert found.systematics.without.empirical.toys == 60  # a third makes scales comparable


def test_of_the_likelihood_ratio_it_is_known_too() -> None:
    how: dict[str, Any] = HOW | {"toys": 20, "width": 0.5, "penalty": 1e-5, "centers": 100, "progress": False}
    found = lanner.search(REFERENCE, DATA, uncertainties=YIELD, **how)
    plain = lanner.search(REFERENCE, DATA, **how)
    without = found.systematics.without
    assert without is not None
    assert (without.statistic, without.empirical) == (plain.statistic, plain.empirical)
    assert found.nuisances[0].resemblance is not None
