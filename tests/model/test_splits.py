import numpy as np
import pytest

from lanner.model.splits import ALWAYS, NEVER, Splits

BLOCKS = [1, 2, 4, 8, 16]
ROWS, ALWAYS_ROWS = 500, 20


def split(blocks: int) -> tuple[Splits, np.ndarray, np.ndarray]:
    """Twenty rows always give moments, and the last thirty, the data, are in none; the others are free."""
    order = np.random.default_rng(blocks).permutation(ROWS - 30)
    always, free = order[:ALWAYS_ROWS], order[ALWAYS_ROWS:]
    return Splits.of(free, always, ROWS, blocks), free, always


@pytest.mark.parametrize("blocks", BLOCKS)
def test_every_free_row_is_in_one_block_and_blocks_are_of_equal_size(blocks: int) -> None:
    splits, free, always = split(blocks)
    assert set(np.flatnonzero(splits.labels == ALWAYS)) == set(always)
    assert set(np.flatnonzero(splits.labels == NEVER)) == set(range(ROWS - 30, ROWS))
    assert set(np.flatnonzero(splits.labels >= 0)) == set(free)
    sizes = np.bincount(splits.labels[free], minlength=blocks)
    assert len(sizes) == blocks
    assert np.ptp(sizes) <= 1


@pytest.mark.parametrize("blocks", BLOCKS[1:])
def test_splits_are_halves_and_each_stands_beside_its_complement(blocks: int) -> None:
    splits, _, _ = split(blocks)
    assert splits.number == len(splits.shaping) == 2 * (blocks - 1)
    assert (splits.shaping.sum(axis=1) == blocks // 2).all()
    np.testing.assert_array_equal(splits.shaping[::2], ~splits.shaping[1::2])
    assert len({tuple(row) for row in splits.shaping}) == splits.number


@pytest.mark.parametrize("blocks", BLOCKS[1:])
def test_they_are_balanced_over_blocks_and_over_pairs_of_them(blocks: int) -> None:
    shaping = split(blocks)[0].shaping.astype(int)
    together = shaping.T @ shaping
    assert (np.diag(together) == blocks - 1).all()  # half of the splits
    assert len(set(together[~np.eye(blocks, dtype=bool)])) == 1


@pytest.mark.parametrize("blocks", BLOCKS)
def test_a_toys_rows_have_no_part_in_the_moments_of_its_split(blocks: int) -> None:
    splits, free, always = split(blocks)
    for k, halves in enumerate(splits.shaping):
        shaping = {row for row in free if halves[splits.labels[row]]} | set(always)
        found = splits.free(k)
        assert not shaping & set(found)
        assert shaping | set(found) == set(free) | set(always)
        assert (np.diff(found) > 0).all()
        assert len(found) == (len(free) if blocks == 1 else pytest.approx(len(free) / 2, abs=blocks))


def test_a_single_block_gives_no_moments_but_all_toys() -> None:
    splits, free, _ = split(1)
    assert splits.number == 1
    assert not splits.shaping.any()
    assert set(splits.free(0)) == set(free)


@pytest.mark.parametrize("blocks", BLOCKS)
def test_over_all_splits_every_free_row_serves_equally_often(blocks: int) -> None:
    splits, free, _ = split(blocks)
    often = np.bincount(np.concatenate([splits.free(k) for k in range(splits.number)]), minlength=ROWS)
    assert set(often[free]) == {splits.number if blocks == 1 else splits.number // 2}
