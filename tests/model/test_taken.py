"""What draws take from the rows of a pool, row by row."""

import numpy as np
import pytest

from lanner.model.bunches import Bunches
from lanner.model.taken import Taken
from lanner.model.weightings import Draw

EXPECTED = 12.0
NOBODY = np.empty(0, dtype=np.intp)
# Ninety events in bunches of three: thirty less twenty are whole, sixty are single. Beside them a row of eight events
# of the reference, which a draw leaves out, and a row of five others, the data.
BUNCHES = (
    Bunches.dealt(np.random.default_rng(1).permutation(90), 3)
    .with_rows([np.arange(8)], inside=True)
    .with_rows([np.arange(90, 95)], inside=False)
)
LEFT_OUT, DATA = len(BUNCHES) - 2, len(BUNCHES) - 1
WEIGHTS = np.random.default_rng(2).uniform(0.5, 2.0, 20)


def draw(data: list[int], left_out: list[int], split: int | None = None) -> Draw:
    rows = (np.array(data, dtype=np.intp), np.array(left_out, dtype=np.intp))
    return Draw(len(BUNCHES), BUNCHES.drawn, *rows, split, BUNCHES.sizes)


DRAWS = [draw([0, 4, 15], [2, 3], 1), draw([DATA], [LEFT_OUT]), draw([], [7], 0), draw([9, 20, 21, 22], [])]


def taken() -> Taken:
    return Taken.of(BUNCHES, DRAWS, expected=EXPECTED, mass=90.0)


def test_each_draw_has_its_split_and_the_part_of_its_data_that_was_reference() -> None:
    assert len(taken()) == 4
    assert taken().splits == (1, None, 0, None)
    inside = [sum(BUNCHES.sizes[r] for r in d.data if BUNCHES.inside[r]) for d in DRAWS]
    np.testing.assert_allclose(taken().inside * EXPECTED, inside)
    assert max(inside) > 0 == min(inside)


def test_the_reference_is_scaled_to_the_expected_number_whatever_is_taken_of_it() -> None:
    # Of the ninety events are missing 13, 8, 3 and 6. The data's own are none of them.
    np.testing.assert_allclose(EXPECTED / taken().scale, [77, 82, 87, 84])


def test_the_matrix_turns_sums_by_row_into_data_less_reference(rng: np.random.Generator) -> None:
    """Of any number for each event: the sum over the data less N(0) times the mean over the reference."""
    of_events = rng.normal(size=95)
    rows = np.add.reduceat(of_events[BUNCHES.events], BUNCHES.starts[:-1])
    whole = taken().part(slice(0, 4), np.dtype(np.float64)) @ rows - taken().scale * of_events[:90].sum()
    for found, one in zip(whole, DRAWS, strict=True):
        data, left_out = (
            np.concatenate([NOBODY, *(BUNCHES.events[BUNCHES.starts[r] : BUNCHES.starts[r + 1]] for r in some)])
            for some in (one.data, one.left_out)
        )
        reference = np.setdiff1d(np.arange(90), np.concatenate([data, left_out]))
        assert found == pytest.approx(of_events[data].sum() - EXPECTED * of_events[reference].mean(), abs=1e-9)


def test_weights_count_in_the_reference_and_not_in_the_data(rng: np.random.Generator) -> None:
    bunches, of_events = Bunches.single(20, 3, WEIGHTS), rng.normal(size=23)
    draws = [Draw(23, 20, np.array([3, 8]), np.array([1])), Draw(23, 20, np.array([20, 21, 22]), np.array([5, 6]))]
    found = Taken.of(bunches, draws, expected=EXPECTED, mass=WEIGHTS.sum())
    u = found.part(slice(0, 2), np.dtype(np.float64)) @ of_events - found.scale * (WEIGHTS @ of_events[:20])
    for value, one in zip(u, draws, strict=True):
        reference = np.setdiff1d(np.arange(20), np.concatenate([one.data, one.left_out]))
        mean = np.average(of_events[reference], weights=WEIGHTS[reference])
        assert value == pytest.approx(of_events[one.data].sum() - EXPECTED * mean, abs=1e-9)


def test_relabelled_data_are_missing_in_the_reference() -> None:
    bunches = Bunches.dealt(np.arange(50), 1).with_rows([np.arange(40, 50)], inside=True)
    found = Taken.of(bunches, [Draw(51, 50, np.array([50]), NOBODY)], expected=EXPECTED, mass=50.0)
    assert EXPECTED / found.scale[0] == pytest.approx(40)
    assert found.inside * EXPECTED == pytest.approx([10])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_part_of_the_matrix_is_some_of_its_rows(dtype: type) -> None:
    whole = taken().part(slice(0, 4), np.dtype(dtype)).toarray()
    assert whole.dtype == dtype
    assert whole.shape == (4, len(BUNCHES))
    for part in (slice(0, 1), slice(1, 3), slice(3, 4)):
        np.testing.assert_array_equal(taken().part(part, np.dtype(dtype)).toarray(), whole[part])


def test_which_rows_are_data_of_which_draw() -> None:
    found = taken().data.toarray()
    truth = np.zeros((4, len(BUNCHES)))
    for k, one in enumerate(DRAWS):
        truth[k, one.data] = 1
    np.testing.assert_array_equal(found, truth)


def test_rows_among_a_draws_data_are_told_also_if_they_are_asked_for_twice() -> None:
    rows = np.array([4, 2, 9, 4, DATA])  # the second is left out by the first draw, which is not the same
    np.testing.assert_array_equal(taken().among(rows).T, [[1, 0, 0, 1, 0], [0, 0, 0, 0, 1], [0] * 5, [0, 0, 1, 0, 0]])
