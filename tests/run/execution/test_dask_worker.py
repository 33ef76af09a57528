"""A worker's bench without a cluster; `test_dask.py` has the real processes."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest

from lanner.errors import InputError, LannerError, MemoryBudgetError
from lanner.model.objective import Solution
from lanner.typing import Progress

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'lanner[dask]'")

from lanner.run.execution import dask_worker
from lanner.run.execution.dask_worker import Bench
from lanner.run.fingerprint import Maker
from lanner.run.toy_store import Batch


class Recipe:
    """Counts how often it is prepared, and with how much."""

    def __init__(self, least: int = 0) -> None:
        self.budgets: list[int] = []
        self._least = least

    def prepare(self, memory: int, progress: Progress | None = None) -> int:
        self.budgets.append(memory)
        if memory < self._least:
            raise MemoryBudgetError("too little")
        return 5


def fives(prepared: int, toys: Sequence[int], told: Any) -> list[Solution]:
    told(len(toys))
    n = len(toys)
    return [Solution(np.zeros((1, n)), np.full(n, float(prepared)), np.ones(n, bool), np.ones(n, int), np.zeros(n))]


def bench(recipe: Recipe, limit: int | None = None, memory: int | None = 1000) -> Bench:
    made = Bench("name", recipe, memory, threads=1)
    made.setup(
        SimpleNamespace(  # type: ignore[arg-type]
            address="tcp://worker:1",
            memory_manager=SimpleNamespace(memory_limit=limit),
            state=SimpleNamespace(nthreads=1),
            log_event=lambda topic, message: None,
        )
    )
    return made


def test_features_are_built_once() -> None:
    recipe = Recipe()
    made = bench(recipe)
    made.prepare()
    made.batch(fives, 0, 3)
    made.batch(fives, 3, 3)
    assert recipe.budgets == [1000]


def test_a_batch_is_the_same_as_anywhere() -> None:
    found = bench(Recipe()).batch(fives, 6, 3)
    assert (found.first, found.statistic.tolist()) == (6, [[5, 5, 5]])


def test_they_go_when_the_search_has_ended() -> None:
    recipe = Recipe()
    made = bench(recipe)
    made.prepare()
    made.teardown(None)
    made.prepare()
    assert len(recipe.budgets) == 2


def test_the_budget_keeps_below_what_dask_would_pause_a_worker_at() -> None:
    recipe = Recipe()
    used = psutil.Process().memory_info().rss
    limit = 4 * used
    bench(recipe, limit=limit, memory=10**15).prepare()
    assert recipe.budgets[0] + used == pytest.approx(0.7 * limit, rel=0.1)


def test_a_worker_with_too_little_memory_says_which_and_what_helps() -> None:
    with pytest.raises(MemoryBudgetError, match=r"worker tcp://worker:1 \(memory limit .*too little; or give"):
        bench(Recipe(least=10**12), limit=10**6, memory=None).prepare()


@pytest.mark.parametrize(
    ("raised", "returned", "words"),
    [
        (InputError("why"), InputError, "why"),
        (MemoryBudgetError("small"), MemoryBudgetError, "small"),
        (MemoryError(), MemoryBudgetError, "worker tcp://worker:1 ran out of memory"),
    ],
)
def test_errors_that_are_meant_come_back_as_values(
    raised: Exception, returned: type, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Raised, Dask would bring some of them under another name."""

    def fails(*_: Any) -> list[Solution]:
        raise raised

    monkeypatch.setattr(dask_worker, "_bench", lambda name: bench(Recipe()))
    found = dask_worker.batch("name", fails, 0, 3).found
    assert isinstance(found, LannerError)
    assert type(found) is returned
    assert words in str(found)


def test_any_other_error_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> list[Solution]:
        raise ZeroDivisionError

    monkeypatch.setattr(dask_worker, "_bench", lambda name: bench(Recipe()))
    with pytest.raises(ZeroDivisionError):
        dask_worker.batch("name", fails, 0, 3)


def test_messages_about_progress_are_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    now, sent = [0.0], []
    monkeypatch.setattr(dask_worker, "time", SimpleNamespace(monotonic=lambda: now[0]))
    worker = SimpleNamespace(log_event=lambda topic, message: sent.append((topic, message)))
    tell = dask_worker._Messages(worker, "name", 40)  # type: ignore[arg-type]
    tell(3)
    assert sent == []
    now[0] = 1.0
    tell(2)
    tell(1)
    assert sent == [("name", {"first": 40, "toys": 5})]


def test_what_is_delivered_says_who_made_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_worker, "_bench", lambda name: bench(Recipe()))
    found = dask_worker.batch("name", fives, 6, 3)
    assert (found.address, found.maker) == ("tcp://worker:1", Maker.here())
    assert isinstance(found.found, Batch)


def test_a_worker_of_other_code_begins_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe()
    made = Bench("name", recipe, 1000, threads=1, maker=Maker("0.0.1", 1, 1, "abc"))
    made.setup(bench(recipe)._worker)
    monkeypatch.setattr(dask_worker, "_bench", lambda name: made)
    assert dask_worker.prepare("name") == 0.0
    found = dask_worker.batch("name", fives, 6, 3)
    assert (found.found, found.maker) == (None, Maker.here())
    assert recipe.budgets == []


def test_a_worker_of_an_earlier_version_can_read_what_it_is_asked() -> None:
    """Or it would die of it and be waited for, instead of being refused."""
    sent = pickle.dumps(Bench("name", Recipe(), 1000, threads=1, maker=Maker.here()))
    assert b"fingerprint" not in sent
    assert b"delivery" not in sent
