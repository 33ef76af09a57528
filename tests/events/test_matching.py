"""Columns of two samples, matched by name or by position."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanner.errors import InputError
from lanner.events import Sample, match_columns
from lanner.events.matching import match_names

TABLE = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
COLUMNS = {"pt": [1.0, 2.0, 3.0], "eta": [10.0, 20.0, 30.0]}


def refusal(*parts):
    """Match a message that has all the parts, in any order."""
    return "".join(f"(?=.*{re.escape(part)})" for part in parts)


@given(order=st.permutations(["pt", "eta", "phi", "m"]))
def test_the_order_of_named_columns_does_not_matter(order):
    columns = {"pt": [1, 5], "eta": [2, 6], "phi": [3, 7], "m": [4, 8]}
    reference = Sample.of(columns)
    data = Sample.of({name: columns[name] for name in order}, weights=[2, 3])
    matched = match_columns(reference, data)
    assert matched.names == reference.names
    np.testing.assert_array_equal(matched.features, reference.features)
    assert matched.weights.tolist() == [2, 3]


def test_unnamed_data_take_the_names_of_the_reference_by_position():
    matched = match_columns(Sample.of(COLUMNS), Sample.of(TABLE, weights=[1, 2, 3]))
    assert matched.names == ("pt", "eta")
    np.testing.assert_array_equal(matched.features, TABLE)
    assert matched.weights.tolist() == [1, 2, 3]


def test_named_data_keep_their_names_beside_an_unnamed_reference():
    data = Sample.of(COLUMNS)
    assert match_columns(Sample.of(TABLE), data) is data


def test_two_unnamed_samples_match_by_position():
    data = Sample.of(TABLE)
    assert match_columns(Sample.of(TABLE + 1), data) is data


def test_missing_and_extra_columns_are_listed_with_the_nearest_name():
    reference = Sample.of({"pt1": [1], "pt2": [1], "eta": [1]})
    data = Sample.of({"pt1": [1], "pt_2": [1], "run": [1], "eta": [1]})
    said = refusal("B does not have the columns of A", "missing: 'pt2' (nearest: 'pt_2')", "extra: 'pt_2', 'run'")
    with pytest.raises(InputError, match=said):
        match_columns(reference, data, labels=("A", "B"))


def test_extra_columns_alone_are_refused():
    with pytest.raises(InputError, match=refusal("missing: none; extra: 'run'", "names=[...]")):
        match_columns(Sample.of({"pt": [1]}), Sample.of({"pt": [1], "run": [1]}))


@pytest.mark.parametrize("swap", [False, True])
def test_unnamed_samples_of_another_width_are_refused(swap):
    named, plain = Sample.of(COLUMNS), Sample.of(np.ones((2, 3)))
    with pytest.raises(InputError, match=refusal("data", "reference", "'pt', 'eta'", "3", "without names")):
        match_columns(*((plain, named) if swap else (named, plain)))


def test_two_unnamed_samples_of_different_width_are_refused():
    with pytest.raises(InputError, match=refusal("data does not have the columns of reference", "missing: 'x2'")):
        match_columns(Sample.of(np.ones((2, 3))), Sample.of(TABLE))


names = st.lists(st.sampled_from("abcd"), min_size=1, unique=True)


@given(names, names)
def test_names_alone_are_enough_and_other_names_are_refused(wanted, there):
    data = Sample.of({name: [float(ord(name))] for name in there})
    if set(wanted) == set(there):
        matched = match_names(tuple(wanted), data, labels=("reference", "data"))
        assert matched.names == tuple(wanted)
        assert matched.features[0].tolist() == [ord(name) for name in wanted]
    else:
        with pytest.raises(InputError, match="data does not have the columns of reference"):
            match_names(tuple(wanted), data, labels=("reference", "data"))
