"""Which columns are identifiers, weights and labels, and which are features however whole their numbers are."""

import re

import numpy as np
import pytest

from lanner.events.roles import role_by_name, why_no_feature

RNG = np.random.default_rng(1)
ROWS = 5000


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Run", "a run number"),
        ("runNumber", "a run number"),
        ("event_number", "an event number"),
        ("luminosityBlock", "a luminosity block"),
        ("BCID", "a bunch crossing"),
        ("Unnamed: 0", "the number of a row"),
        ("genWeight", "event weights"),
        ("mcEventWeight", "event weights"),
        ("weight_pileup", "event weights"),
        ("w", "event weights"),
        ("isSignal", "a label"),
        ("pt1", None),
        ("W", None),
        ("runaway", None),
        ("nJets", None),
    ],
)
def test_names_say_what_columns_are_for(name: str, role: str | None) -> None:
    assert role_by_name(name) == role


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("Run", RNG.choice([163286, 163374, 165548], ROWS), r"a run number \(whole numbers up to 165548\)"),
        ("lumi", np.sort(RNG.integers(1, 400, ROWS)), "a luminosity block"),
        ("x", RNG.choice(10**9, ROWS, replace=False), "an identifier .*nearly all different"),
        ("x", np.arange(ROWS), "an identifier"),
        ("x", np.sort(RNG.integers(1, 400, ROWS)), "an identifier .*order of the rows"),
        ("weight", RNG.exponential(size=ROWS), "event weights"),
        ("label", RNG.integers(2, size=ROWS), "a label of the events"),
    ],
)
def test_what_is_no_feature_has_a_reason(name: str, values: np.ndarray, why: str) -> None:
    found = why_no_feature(name, values.astype(float))
    assert found is not None
    assert re.search(why, found)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Q1", RNG.choice([-1, 1], ROWS)),
        ("nJets", RNG.poisson(3, ROWS)),
        ("nTracks", RNG.poisson(150, ROWS)),
        ("pt_MeV", RNG.integers(0, 10**6, ROWS)),  # measured, and whole: some rows share a value
        ("mass", np.sort(RNG.exponential(size=ROWS))),  # sorted by a feature
        ("nJets", np.sort(RNG.poisson(3, ROWS))),
        ("few", np.arange(500)),  # too few rows to tell
        ("run", RNG.integers(1, 4, ROWS)),  # periods
        ("target", RNG.normal(size=ROWS)),
        ("run", np.full(ROWS, 163286)),  # an alarm where the data have another
        ("weight", np.ones(ROWS)),
        ("id", np.full(ROWS, np.nan)),
    ],
)
def test_measured_values_counts_and_what_never_varies_are_features(name: str, values: np.ndarray) -> None:
    assert why_no_feature(name, values.astype(float)) is None


def test_values_that_are_missing_do_not_hide_an_identifier() -> None:
    values = np.append(np.arange(float(ROWS)), np.nan)
    assert why_no_feature("x", values) is not None
