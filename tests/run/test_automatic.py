"""A search that is told nothing makes toys until its answer is known."""

import json
from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.inference.combination import AUTO_MAP_TOYS
from lanner.inference.sequential import FIRST
from tests.conftest import exponential

R, D = exponential(8000, 200, seed=1)
SIGNAL = np.vstack([D, np.linspace(0.70, 0.74, 6)[:, None]])


def test_unremarkable_data_take_the_first_toys_alone() -> None:
    result = lanner.search(R, D, expected=200, seed=1)
    assert not result.empirical.sequential
    assert result.empirical.toys == FIRST
    assert result.combined is not None
    assert result.combined.n_map_toys == AUTO_MAP_TOYS
    counted = result.null.statistics[:FIRST]
    k = np.count_nonzero(counted >= result.statistic)
    assert result.p_value == (k + 1) / (FIRST + 1)


def test_remarkable_data_take_as_many_as_it_takes_to_know_p() -> None:
    result = lanner.search(R, SIGNAL, expected=200, seed=1)
    p = result.empirical
    assert p.sequential
    assert p.exceedances == 12
    assert p.toys > FIRST
    counted = result.null.statistics[: p.toys]
    assert np.count_nonzero(counted >= result.statistic) == 12
    assert counted[-1] >= result.statistic  # the toy that decided


def test_the_number_depends_on_neither_folder_nor_interruption(tmp_path: Path) -> None:
    folder = tmp_path / "search"
    lanner.search(R, SIGNAL, expected=200, seed=1, toys=500, output=folder)
    resumed = lanner.search(R, SIGNAL, expected=200, seed=1, output=folder)
    alone = lanner.search(R, SIGNAL, expected=200, seed=1)
    assert resumed.p_value == alone.p_value
    assert resumed.empirical == alone.empirical


def test_the_result_is_read_back_with_its_stopping(tmp_path: Path) -> None:
    result = lanner.search(R, SIGNAL, expected=200, seed=1)
    lanner.save_result(result, tmp_path)
    assert json.loads((tmp_path / "result.json").read_text())["null"]["stopping"]["first"] == FIRST
    assert lanner.load_result(tmp_path).empirical == result.empirical


def test_a_number_and_fits_mean_what_they_meant() -> None:
    assert lanner.search(R, D, expected=200, seed=1, toys=90).stopping is None
    fits = lanner.search(R, D, expected=200, seed=1, width=0.3, penalty=1e-5)
    assert (fits.stopping, len(fits.null)) == (None, 300)
    with pytest.raises(InputError, match=r"toys='many': give a whole number .*or 'auto'"):
        lanner.search(R, D, expected=200, toys="many")
