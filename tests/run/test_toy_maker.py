from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanner._util.progress import shown
from lanner.errors import InputError, StoreError
from lanner.events import Sample
from lanner.inference.multiscale import Ladder
from lanner.model.objective import Solution
from lanner.run.execution.local import InProcess
from lanner.run.prepare import plan_search
from lanner.run.toy_maker import BATCH, SCORE_BATCH, ToyMaker, batch_size, fair_share, open_store, read_toys, run_toys
from lanner.run.toy_store import Batch
from lanner.settings import FitSettings
from lanner.typing import ToysEnded
from tests.conftest import exponential

R = Sample.of(exponential(3000, 1, seed=1)[0])


def ladder(**settings: Any) -> Ladder:
    how = FitSettings(**({"width": 0.5, "penalty": 1e-5, "centers": 20} | settings))
    plans = plan_search(R, None, expected=100.0, settings=how, memory=10**8)
    return Ladder.prepare(plans, R, None, memory=10**8)


LADDER = ladder()


class Squares:
    """A task whose toys are the squares of their numbers, and which remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, prepared: Any, toys: Sequence[int], told: ToysEnded | None) -> list[Solution]:
        self.asked += toys
        n = len(toys)
        if told is not None:
            told(n)
        t = np.array([float(i) ** 2 for i in toys])
        return [Solution(np.zeros((3, n)), t, np.ones(n, bool), np.full(n, 2), np.zeros(n))]


def maker(task: Squares, folder: Path | None = None, toys: int = 8) -> ToyMaker:
    return ToyMaker.of(InProcess(LADDER), folder=folder, events_digest="abc", toys=toys, task=task)


def test_toys_are_known_by_their_numbers() -> None:
    made = maker(Squares()).first(8)
    assert made.statistics.tolist() == [[i**2 for i in range(8)]]


def test_more_toys_go_on_where_it_was() -> None:
    task = Squares()
    some = maker(task)
    some.first(8)
    made = some.first(20)
    assert made.statistics[0, -1] == 19**2
    assert task.asked == list(range(24))  # whole batches of eight, none of them twice


def test_what_is_kept_is_not_made_again(tmp_path: Path) -> None:
    maker(Squares(), tmp_path).first(8)
    again = Squares()
    made = maker(again, tmp_path).first(16)
    assert again.asked == list(range(8, 16))
    assert made.statistics[0].tolist() == [i**2 for i in range(16)]


def test_progress_counts_to_the_toys_asked_for() -> None:
    seen: list[tuple[str, int, int]] = []
    run_toys(
        InProcess(LADDER), 10, folder=None, events_digest="abc", task=Squares(), progress=lambda *x: seen.append(x)
    )
    assert seen[-1] == ("toys", 10, 10)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


def test_a_batch_that_another_run_has_finished_is_read(tmp_path: Path) -> None:
    task = Squares()
    ours = maker(task, tmp_path, toys=4)
    store = open_store(tmp_path, LADDER.plans, "abc", batch_size=4)
    other = Squares()
    solution = other(None, range(4, 8), None)[0]
    store.write(
        Batch(
            4,
            solution.statistic[None],
            solution.converged[None],
            solution.iterations[None],
            np.empty((3, 0), np.float32),
        )
    )
    made = ours.first(8)
    assert task.asked == [0, 1, 2, 3]
    assert made.statistics[0, 4:].tolist() == [16, 25, 36, 49]


def test_toys_that_another_run_is_making_are_waited_for_aloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanner._util.progress._MOMENT", 0.01)
    task, seen = Squares(), []
    ours = maker(task, tmp_path, toys=4)
    other = ExitStack()
    assert other.enter_context(open_store(tmp_path, LADDER.plans, "abc", batch_size=4).claim(4))

    def tell(what: str, done: int, total: int) -> None:
        seen.append((what, done, list(task.asked)))
        if what.startswith("waiting") and done == 0:
            other.close()  # the other run has died

    with shown(tell) as told:
        made = ours.first(8, told)
    words = f"waiting for the last toys, which another run is making in {tmp_path}"
    assert [said for said in seen if said[0] != "toys"] == [(words, 0, [0, 1, 2, 3]), (words, 1, list(range(8)))]
    assert made.statistics[0].tolist() == [i**2 for i in range(8)]


def test_toys_that_are_missing_are_an_error_where_none_are_made(tmp_path: Path) -> None:
    maker(Squares(), tmp_path).first(8)
    store = open_store(tmp_path, LADDER.plans, "abc")
    assert read_toys(store, 8).statistics.shape == (1, 8)
    with pytest.raises(StoreError, match="lacks toys 8 to 15"):
        read_toys(store, 9)


def test_a_store_knows_the_scales_it_was_made_for(tmp_path: Path) -> None:
    several = ladder(width=None, penalty=None).plans
    open_store(tmp_path, several, "abc")
    with pytest.raises(StoreError, match="another configuration"):
        open_store(tmp_path, several[:6], "abc")


def test_a_number_of_toys_is_checked() -> None:
    with pytest.raises(InputError, match=r"toys=0"):
        maker(Squares(), toys=0)


@pytest.mark.parametrize(("settings", "most"), [({}, BATCH), ({"statistic": "score"}, SCORE_BATCH)])
def test_a_batch_is_no_more_than_one_would_mind_to_lose(settings: dict[str, Any], most: int) -> None:
    found = ladder(**settings)
    assert batch_size(found, 50) == 50
    assert batch_size(found, 100_000) == min(most, found.batch_size(most))


def test_a_fair_share_is_the_one_that_ends_first() -> None:
    """By brute force over all sizes of whole matrix products."""
    for toys, workers in [(300, 3), (1000, 7), (50, 8)]:
        share = fair_share(toys, workers, 160)
        ends = {size: -(-toys // (size * workers)) * (size + 34) for size in range(16, 161, 16)}
        assert ends[share] == min(ends.values())
