"""Pieces of work that become one, pairwise and in a fixed order, whoever finishes first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class MergeTree(Generic[T]):
    """Merges numbered pieces pairwise, always the same pairs, as soon as both are there.

    >>> tree = MergeTree[str](5, lambda a, b: f"({a}{b})")
    >>> for k in (4, 1, 0, 3, 2):
    ...     tree.add(k, "abcde"[k])
    >>> tree.result()
    '(((ab)(cd))e)'
    """

    def __init__(self, number: int, merge: Callable[[T, T], T]) -> None:
        self._sizes = [number]
        while self._sizes[-1] > 1:
            self._sizes.append(-(-self._sizes[-1] // 2))
        self._merge = merge
        self._waiting: dict[tuple[int, int], T] = {}

    def add(self, place: int, piece: T, level: int = 0) -> None:
        """One more piece."""
        while level < len(self._sizes) - 1:
            other = place ^ 1
            if other < self._sizes[level]:
                if (level, other) not in self._waiting:
                    break
                held = self._waiting.pop((level, other))
                piece = self._merge(*((piece, held) if place < other else (held, piece)))
            place, level = place // 2, level + 1
        self._waiting[level, place] = piece

    def result(self) -> T:
        """What all pieces were merged to."""
        (found,) = self._waiting.values()
        return found
