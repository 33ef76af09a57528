"""Power of a search whose reference has uncertainties."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import StoreError
from tests.conftest import exponential

R, _ = exponential(20_000, 1)
PEAK = np.random.default_rng(2).normal(0.3, 0.01, (800, 1))
MORE = exponential(2000, 1, seed=5)[0]
HOW: dict[str, Any] = {"expected": 500, "toys": 150, "experiments": 60, "seed": 1, "progress": False}
LUMI = lanner.Normalisation("lumi", 0.3)


def median(found: lanner.Power, k: int = 0) -> float:
    return found.strengths[k].band("empirical")[1]


def test_more_of_the_same_is_explained_and_a_peak_is_not() -> None:
    more = {"signal_events": [100]}
    assert median(lanner.power(R, MORE, **more, **HOW)) > 2  # type: ignore[arg-type]
    assert median(lanner.power(R, MORE, uncertainties=[LUMI], **more, **HOW)) < 0.7  # type: ignore[arg-type]
    peak = {"signal_events": [0, 45]}
    plain, uncertain = (lanner.power(R, PEAK, uncertainties=u, **peak, **HOW) for u in ((), [LUMI]))  # type: ignore[arg-type]
    assert abs(median(uncertain)) < 0.6
    assert median(uncertain, 1) > median(plain, 1) - 0.8
    assert median(uncertain, 1) > 1.5


def test_the_likelihood_ratio_has_them_too() -> None:
    how = HOW | {"width": 0.3, "penalty": 1e-5, "toys": 60, "experiments": 30, "signal_events": [100]}
    plain, uncertain = (lanner.power(R, MORE, uncertainties=u, **how) for u in ((), [LUMI]))
    assert median(uncertain) < median(plain) - 0.7


def test_toys_are_kept_for_these_uncertainties_alone(tmp_path: Path) -> None:
    how = HOW | {"signal_events": [20], "output": tmp_path}
    first = lanner.power(R, PEAK, uncertainties=[LUMI], **how)
    again = lanner.power(R, PEAK, uncertainties=[LUMI], **how)
    np.testing.assert_array_equal(first.strengths[0].statistics, again.strengths[0].statistics)
    with pytest.raises(StoreError):
        lanner.power(R, PEAK, **how)
