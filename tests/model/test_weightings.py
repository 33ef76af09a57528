import numpy as np
import pytest

from lanner.model.weightings import DATA, REFERENCE, UNUSED, Draw, Weightings, roles_of

DOUBLE = np.dtype(np.float64)
# Seven rows, of which five are of the reference: one of those is data, one is left out; so is the sixth row.
DRAW = Draw(rows=7, reference=5, data=np.array([1, 6]), left_out=np.array([3]))
ROLES = np.array([[REFERENCE, DATA], [REFERENCE, REFERENCE], [DATA, REFERENCE], [UNUSED, REFERENCE]], dtype=np.int8)


def test_a_draw_says_what_each_row_is() -> None:
    assert DRAW.roles().tolist() == [REFERENCE, DATA, REFERENCE, UNUSED, REFERENCE, UNUSED, DATA]


def test_its_reference_is_what_the_data_and_the_left_out_leave() -> None:
    assert DRAW.reference_size == np.count_nonzero(DRAW.roles() == REFERENCE) == 3


def test_its_data_are_as_many_events_as_their_rows_hold() -> None:
    assert DRAW.data_size == 2
    bunched = Draw(rows=7, reference=5, data=DRAW.data, left_out=DRAW.left_out, sizes=np.array([5, 5, 5, 1, 1, 9, 40]))
    assert bunched.data_size == 45


def test_several_draws_are_columns() -> None:
    other = Draw(rows=7, reference=5, data=np.array([5]), left_out=np.array([], dtype=np.intp))
    roles = roles_of([DRAW, other])
    np.testing.assert_array_equal(roles[:, 0], DRAW.roles())
    np.testing.assert_array_equal(roles[:, 1], other.roles())


def test_every_reference_adds_up_to_the_expected_number() -> None:
    v0, v1 = Weightings.of(ROLES, expected=10.0).block(slice(None), DOUBLE)
    np.testing.assert_allclose(3 * v0, [[15, 0], [15, 10], [0, 10], [0, 10]])
    np.testing.assert_array_equal(v1, [[0, 1], [0, 0], [1, 0], [0, 0]])


def test_event_weights_share_the_expected_number_out() -> None:
    weights = np.array([1.0, 3.0, 5.0, -2.0])
    v0, v1 = Weightings.of(ROLES, expected=12.0, weights=weights).block(slice(None), DOUBLE)
    np.testing.assert_allclose(v0, [[3, 0], [9, 6], [0, 10], [0, -4]])
    np.testing.assert_array_equal(v1, ROLES == DATA)  # a toy's data count as one each, whatever they weighed


def test_data_may_have_weights_of_their_own() -> None:
    _, v1 = Weightings.of(ROLES, expected=1.0, data_weights=np.array([0.5, 1, 2, 3])).block(slice(None), DOUBLE)
    np.testing.assert_array_equal(v1, [[0, 0.5], [0, 0], [2, 0], [0, 0]])


@pytest.mark.parametrize("unit", [1e-60, 1.0, 1e60])
def test_huge_and_tiny_weights_survive_single_precision(unit: float) -> None:
    weightings = Weightings.of(ROLES, expected=12.0, weights=unit * np.array([1.0, 3.0, 5.0, 2.0]))
    v0, _ = weightings.block(slice(None), np.dtype(np.float32))
    np.testing.assert_allclose(v0[:, 0], [3, 9, 0, 0], rtol=1e-6)


def test_the_objective_counts_the_events_that_are_used() -> None:
    assert Weightings.of(ROLES, expected=1.0).events.tolist() == [3, 4]


def test_some_of_the_fits_weigh_as_before() -> None:
    whole = Weightings.of(ROLES, expected=10.0)
    part = whole.take(np.array([False, True]))
    assert len(part) == 1
    np.testing.assert_array_equal(part.block(slice(None), DOUBLE)[0], whole.block(slice(None), DOUBLE)[0][:, 1:])


def test_a_block_is_some_of_the_rows() -> None:
    whole = Weightings.of(ROLES, expected=10.0, weights=np.arange(1.0, 5.0), data_weights=np.arange(2.0, 6.0))
    for part, all_rows in zip(whole.block(slice(1, 3), DOUBLE), whole.block(slice(None), DOUBLE), strict=True):
        np.testing.assert_array_equal(part, all_rows[1:3])
