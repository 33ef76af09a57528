"""Data against a calibration that was kept."""

from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from tests.conftest import exponential

R, D = exponential(6000, 300, seed=1)
OPTIONS = {"expected": 300, "toys": 40, "seed": 5, "width": 0.3, "penalty": 1e-6, "centers": 200, "scaling": None}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibration")
    lanner.calibrate({"x": R[:, 0]}, output=folder, **OPTIONS)  # type: ignore[arg-type]
    return folder


def test_applied_it_gives_what_a_search_gives(kept: Path) -> None:
    applied = lanner.apply(kept, {"x": D[:, 0]})
    searched = lanner.search({"x": R[:, 0]}, {"x": D[:, 0]}, **OPTIONS)  # type: ignore[arg-type]
    assert applied.statistic == pytest.approx(searched.statistic, abs=1e-3)
    np.testing.assert_allclose(applied.null.statistics, searched.null.statistics, atol=1e-2)
    assert applied.p_value == searched.p_value


def test_other_data_are_refused(kept: Path) -> None:
    with pytest.raises(InputError, match="'y'"):
        lanner.apply(kept, {"y": D[:, 0]})
    with pytest.raises(InputError, match=r"expected=500, but the calibration was made for 300"):
        lanner.apply(kept, {"x": D[:, 0]}, expected=500)
