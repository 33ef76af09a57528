"""Objects that events do not have: a search in the default units takes them, in others it is refused in plain words."""

from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.events.missing import ABSENT

SETTINGS: dict[str, Any] = {"toys": 40, "seed": 1, "width": 0.5, "penalty": 1e-5}


def events(n: int, share: float, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    pt1, pt2 = rng.exponential(30, (2, n))
    return {"pt1": pt1, "pt2": np.where(np.arange(n) < share * n, ABSENT, pt2)}


def test_reference_and_data_are_relabelled_in_the_default_units() -> None:
    reference, data = events(150, 0.6, 1), events(100, 0.6, 2)
    assert lanner.search(reference, data, expected=None, null="permutation", **SETTINGS).p_value > 0.02


@pytest.mark.parametrize("scaling", ["standard", "authors", "none"])
def test_relabelled_in_other_units_they_are_refused_as_those_of_both(scaling: str) -> None:
    reference, data = events(150, 0.0, 1), events(100, 0.6, 2)
    said = r"column 'pt2' of reference and data together is missing in 60 of 250 events.*use scaling='robust' with miss"
    with pytest.raises(InputError, match=said) as caught:
        lanner.search(reference, data, expected=None, null="permutation", scaling=scaling, **SETTINGS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("test", ["mmd", "ks", "one-width"])
def test_tests_are_compared_in_the_default_units_and_refused_in_others(test: str) -> None:
    reference, signal = events(2000, 0.6, 1), events(500, 0.6, 2)
    how: dict[str, Any] = {
        "expected": 100,
        "signal_events": [20],
        "toys": 20,
        "experiments": 3,
        "tests": [test],
        "seed": 1,
    }
    assert len(lanner.compare(reference, signal, **how).to_dict()) > 0
    with pytest.raises(InputError, match=r"column 'pt2' of reference is missing in 1200 of 2000 events"):
        lanner.compare(reference, signal, scaling="standard", **how)


def test_an_object_that_the_reference_always_has_and_the_data_lack_is_a_departure() -> None:
    found = lanner.search(events(3000, 0.0, 1), events(100, 0.5, 2), expected=100, toys=60, seed=1)
    assert found.p_value <= 1 / 20
    assert found.out_of_reach is not None
