import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import InputError, NullWarning
from lanner.events import Sample
from lanner.inference.plan import Plan
from lanner.run.prepare import prepare
from lanner.run.sizes import check_sizes
from lanner.settings import FitSettings
from tests.conftest import exponential

R, D = exponential(4000, 100, seed=1)
TWICE, HALF = np.repeat(R[:1000], 2, axis=0), np.repeat(D[:50], 2, axis=0)
HOW: dict[str, Any] = {"width": 0.5, "penalty": 1e-5, "centers": 40}


def plan(null: str = "reference") -> Plan:
    return prepare(R, D, expected=100, settings=FitSettings(null=null, **HOW)).plans[0]


@pytest.fixture
def no_warnings() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_a_reference_that_is_small_for_toys_of_its_own_warns() -> None:
    with pytest.warns(NullWarning, match="1999 events for 100 expected.*or null='permutation'"):
        check_sizes(plan(), Sample.of(R[:1999]))


@pytest.mark.usefixtures("no_warnings")
def test_a_reference_that_is_large_enough_is_fine() -> None:
    check_sizes(plan(), Sample.of(R[:2000]), Sample.of(D))


def test_copies_do_not_make_a_reference_larger() -> None:
    with pytest.warns(NullWarning, match=r"2000 events, worth 1000 because rows are repeated \(1000 differ\).*once"):
        check_sizes(plan(), Sample.of(TWICE))


def test_rows_of_no_weight_do_not_make_a_reference_larger() -> None:
    weighted = Sample.of(R, weights=np.arange(4000) < 1000)
    with pytest.warns(NullWarning, match="4000 events, worth 1000 because of their weights.*more even weights"):
        check_sizes(plan(), weighted)


def test_a_reference_worth_less_than_three_times_the_data_is_refused() -> None:
    with pytest.raises(InputError, match=r"4000 events, worth 200 .* for 100 expected: with fewer than 3 times"):
        check_sizes(plan(), Sample.of(np.repeat(R[:200], 20, axis=0)))


@pytest.mark.usefixtures("no_warnings")
def test_rounded_numbers_repeat_and_are_events_all_the_same() -> None:
    check_sizes(plan("permutation"), Sample.of(R[:1000].round(2)), Sample.of(D.round(2)))


def test_copies_in_a_relabelled_reference_warn() -> None:
    some = np.vstack([R[:1000], R[:150]])
    with pytest.warns(
        NullWarning, match=r"the reference has 1150 events, worth 912.*toys mix them.*give each event once"
    ):
        check_sizes(plan("permutation"), Sample.of(some), Sample.of(D))


def test_a_relabelling_of_nothing_but_copies_is_refused() -> None:
    with pytest.raises(InputError, match=r"no p-value would be right; give each event once"):
        check_sizes(plan("permutation"), Sample.of(TWICE), Sample.of(D))


def test_data_that_are_in_the_reference_as_well_warn() -> None:
    with pytest.warns(NullWarning, match=r"together have 1100 events, worth \d+ .*events of one are in the other"):
        check_sizes(plan("permutation"), Sample.of(np.vstack([D, R[:900]])), Sample.of(D))


@pytest.mark.parametrize("null", ["reference", "permutation", "generator"])
def test_data_that_were_counted_twice_are_refused(null: str) -> None:
    with pytest.raises(InputError, match=r"the data have 100 events, worth 50"):
        check_sizes(plan(null), Sample.of(R), Sample.of(HALF))


def test_a_few_data_that_were_counted_twice_warn() -> None:
    with pytest.warns(NullWarning, match="looks like a signal"):
        check_sizes(plan(), Sample.of(R), Sample.of(np.vstack([D, D[:5]])))


def test_a_generator_makes_no_copies() -> None:
    with pytest.raises(InputError, match="toys are generated and have no copies"):
        check_sizes(plan("generator"), Sample.of(TWICE), Sample.of(D))


def test_a_search_with_a_copied_reference_does_not_choose_toys_from_it() -> None:
    with pytest.raises(InputError, match="the reference has 4000 events, worth 1000"):
        lanner.search(np.repeat(R[:1000], 4, axis=0), D, expected=100, toys=20, **HOW)


def test_power_warns_of_a_small_reference() -> None:
    with pytest.warns(NullWarning, match="1500 events for 100 expected"):
        lanner.power(R[:1500], D, expected=100, signal_events=[5], toys=20, experiments=2, **HOW)


def test_a_calibration_warns_when_it_is_made_and_when_it_is_used(tmp_path: Path) -> None:
    with pytest.warns(NullWarning, match="1500 events for 100 expected"):
        made = lanner.calibrate(R[:1500], expected=100, output=tmp_path, toys=20, **HOW)
    with pytest.warns(NullWarning, match="1500 events for 100 expected"):
        result = lanner.apply(made, D)
    assert "1500 events" in " ".join(result.warnings)
