"""Which events a region selects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events import Sample
from lanner.events.regions import Region, check_names, no_events, regions_of

REFERENCE = Sample.of({"pt": [10.0, 20.0, 30.0], "eta": [0.0, 1.0, 2.0]})
DATA = Sample.of({"pt": [15.0, 25.0], "eta": [1.0, 0.0]})


def test_a_formula_selects_events_of_both_samples() -> None:
    (one,) = regions_of({"high": "pt > 12 && eta < 1.5"}, REFERENCE, DATA)
    assert one.reference.tolist() == [False, True, False]
    assert one.data.tolist() == [True, True]
    assert one.selection == "pt > 12 && eta < 1.5"


def test_masks_and_regions_are_taken_as_they_are() -> None:
    masks = (REFERENCE.features[:, 0] > 15, DATA.features[:, 0] > 15)
    by_masks, given = regions_of({"a": masks, "b": Region("other", *masks, "pt > 15")}, REFERENCE, DATA)
    np.testing.assert_array_equal(by_masks.reference, masks[0])
    np.testing.assert_array_equal(given.data, masks[1])
    assert (by_masks.selection, given.name, given.selection) == ("", "b", "pt > 15")


def test_columns_without_names_are_called_by_their_number() -> None:
    (one,) = regions_of({"high": "x1 > 0"}, Sample.of([[1.0, 2.0], [3.0, -1.0]]), Sample.of([[0.0, 1.0]]))
    assert one.reference.tolist() == [True, False]


@pytest.mark.parametrize(
    ("regions", "said"),
    [
        ({}, "give a mapping of names to formulas"),
        (["pt > 3"], "give a mapping of names to formulas"),
        ({"high": "px > 3"}, "'px'"),
        ({"high": "pt + 3"}, "yields numbers"),
        ({"high": "pt >"}, "region 'high'"),
        ({"high": 3}, "region 'high' is 3: give a formula"),
        ({"high": ([True, False, True], [True])}, "the mask of the data has the shape"),
        ({"high": ([1, 0, 1], [1, 0])}, "the mask of the reference has the shape .* and the type int64"),
        ({"../up": "pt > 3"}, "a name has up to 60 letters"),
        ({"": "pt > 3"}, "a name has up to 60 letters"),
        ({"High": "pt > 3", "high": "pt > 4"}, "'High' and 'high' would have the same folder"),
    ],
)
def test_what_is_no_region_is_refused(regions: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        regions_of(regions, REFERENCE, DATA)


def test_names_that_folders_can_have_are_taken() -> None:
    check_names(["barrel", "high-mass", "2jets", "v1.2_b"])


def test_a_sample_of_nothing_has_the_columns_and_no_events() -> None:
    weighted = Sample.of({"pt": [1.0, 2.0], "w": [-1.0, 2.0]}, weights="w")
    for like in (DATA, weighted.take([1])):
        empty = no_events(like)
        assert (len(empty), empty.names) == (0, like.names)
        assert empty.features.shape == (0, like.dimensions)
    assert len(DATA) == 2
