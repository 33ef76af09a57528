"""Pieces that are merged pairwise, always the same pairs."""

import itertools

import pytest

from lanner._util.merging import MergeTree


def merged(order: tuple[int, ...]) -> str:
    tree = MergeTree[str](len(order), lambda a, b: f"({a}{b})")
    for place in order:
        tree.add(place, "abcdefgh"[place])
    return tree.result()


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_the_result_does_not_depend_on_who_comes_first(number: int) -> None:
    found = {merged(order) for order in itertools.permutations(range(number))}
    assert len(found) == 1
    assert [c for c in found.pop() if c.isalpha()] == list("abcdefgh"[:number])


def test_pieces_are_merged_as_soon_as_both_are_there() -> None:
    made: list[str] = []
    tree = MergeTree[str](4, lambda a, b: made.append(a + b) or a + b)
    tree.add(3, "d")
    assert not made
    tree.add(2, "c")
    assert made == ["cd"]
