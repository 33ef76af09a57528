from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.inference.kept import BAND_TOYS
from lanner.model.objective import Solution
from lanner.run.execution.dask import Dask
from lanner.run.execution.local import InProcess, Local, executor_of, make_batch
from lanner.typing import Progress, ToysEnded


def numbers(prepared: int, toys: Sequence[int], told: ToysEnded | None, scales: int = 1) -> list[Solution]:
    """Toys whose statistic is their number, times what was prepared."""
    n = len(toys)
    if told is not None:
        told(n)
    t = prepared * np.array(toys, dtype=float)
    return [Solution(np.tile(t, (2, 1)), t + k, np.ones(n, bool), np.full(n, 3), np.zeros(n)) for k in range(scales)]


class Recipe:
    def prepare(self, memory: int, progress: Progress | None = None) -> int:
        return memory


def test_a_batch_holds_the_toys_from_its_first_on() -> None:
    batch = make_batch(numbers, 2, 10, 4, None)
    assert batch.first == 10
    assert batch.statistic.tolist() == [[20, 22, 24, 26]]
    assert batch.iterations.tolist() == [[3] * 4]


def test_every_scale_is_a_row() -> None:
    batch = make_batch(partial(numbers, scales=3), 1, 0, 2, None)
    assert batch.statistic.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert batch.coefficients.size == 0  # which scale will be shown is not known yet


@pytest.mark.parametrize(("first", "kept"), [(0, 40), (BAND_TOYS - 15, 15), (BAND_TOYS, 0), (5 * BAND_TOYS, 0)])
def test_coefficients_are_kept_of_the_first_toys(first: int, kept: int) -> None:
    assert make_batch(numbers, 1, first, 40, None).coefficients.shape == (2, kept)


def test_this_process_makes_batches_in_order_and_tells_of_each() -> None:
    told: list[tuple[int, int]] = []
    made = InProcess(1).batches(numbers, iter([8, 0, 4]), 4, lambda *said: told.append(said))
    assert [b.first for b in made] == [8, 0, 4]
    assert told == [(8, 4), (0, 4), (4, 4)]


def test_a_batch_is_taken_when_the_last_one_is_done() -> None:
    taken: list[int] = []

    def firsts() -> Iterator[int]:
        for first in (0, 4):
            taken.append(first)
            yield first

    made = InProcess(1).batches(numbers, firsts(), 4, lambda *_: None)
    next(made)
    assert taken == [0]


def test_the_recipe_is_prepared_within_the_budget() -> None:
    with Local().start(Recipe(), memory=77) as workers:
        assert (workers.prepared, workers.number) == (77, 1)


def test_an_executor_may_be_named() -> None:
    assert isinstance(executor_of("local"), Local)
    assert executor_of("dask") == Dask()
    own = Dask(workers=2)
    assert executor_of(own) is own


@pytest.mark.parametrize("wrong", ["slurm", 3, None])
def test_any_other_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"'dask', or .*lanner\.Dask\(\.\.\.\)"):
        executor_of(wrong)
