"""What angles and missing values become among the columns, there and back again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lanner.events.extra_columns import narrowed, widened
from lanner.events.missing import Missing

ONE = Missing("x", -999.0, 0.5)


def test_features_come_first_then_sines_then_indicators() -> None:
    table = np.array([[0.0, 5.0], [np.pi / 2, -999.0]])
    found = widened(table, table.copy(), np.ones(2), [0], [(1, ONE)])
    root = 2**0.5
    np.testing.assert_allclose(found, [[root, 5.0, 0.0, -1.0], [0.0, 0.0, root, 1.0]], atol=1e-12)


def test_a_missing_angle_is_at_the_centre_of_the_circle() -> None:
    table = np.array([[-999.0]])
    assert widened(table, table.copy(), np.ones(1), [0], [(0, ONE)]).tolist() == [[0.0, 0.0, 1.0]]


@given(x=st.floats(-3.1, 3.1), turns=st.integers(-3, 3))
def test_an_angle_comes_back_without_its_turns(x: float, turns: int) -> None:
    table = np.array([[x + 2 * np.pi * turns]])
    wide = widened(table, table.copy(), np.ones(1), [0], [])
    np.testing.assert_allclose(narrowed(wide, np.zeros((1, 1)), np.ones(1), [0], []), [[x]], atol=1e-12)


def test_a_missing_value_comes_back() -> None:
    table = np.array([[-999.0], [4.0]])
    wide = widened(table, table.copy(), np.ones(1), [], [(0, ONE)])
    assert narrowed(wide, wide[:, :1].copy(), np.ones(1), [], [(0, ONE)]).tolist() == table.tolist()
