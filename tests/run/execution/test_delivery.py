"""Toys of workers that run other code are refused, and reach no store. The foreign worker is a real process."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import ClusterError, InputError
from lanner.run.execution.delivery import Delivery, check_workers, refused_here, taken
from lanner.run.fingerprint import Maker
from lanner.run.toy_store import Batch
from tests.conftest import exponential

BATCH = Batch(0, np.zeros((1, 2)), np.ones((1, 2), bool), np.ones((1, 2), int), np.zeros((0, 0), np.float32))


class Cluster:
    """A client of workers that say these things of themselves."""

    def __init__(self, **said: Any) -> None:
        self._said = said

    def run(self, function: Any, on_error: str) -> dict[str, Any]:
        assert function() == Maker.here().to_dict()
        return self._said

    def who_has(self, futures: list[Any]) -> dict[str, list[str]]:
        return {future.key: ["tcp://w:3"] for future in futures}


def test_toys_of_this_code_are_taken() -> None:
    assert taken(Delivery("tcp://w:1", Maker.here(), BATCH), None, None) is BATCH


def test_errors_that_are_meant_are_raised() -> None:
    with pytest.raises(InputError, match="why"):
        taken(Delivery("tcp://w:1", Maker.here(), InputError("why")), None, None)


@pytest.mark.parametrize("change", [{"version": "0.0.1"}, {"statistic": 7}, {"scheme": 7}, {"source": "0123456789"}])
def test_toys_of_other_code_are_refused_by_address_and_version(change: dict[str, Any]) -> None:
    other = replace(Maker.here(), **change)
    with pytest.raises(ClusterError, match=rf"worker tcp://w:1 runs Lanner {other.version} .*none were taken"):
        taken(Delivery("tcp://w:1", other, BATCH), None, None)
    with pytest.raises(ClusterError, match=rf"worker tcp://w:2 runs Lanner {other.version}"):
        check_workers(Cluster(**{"tcp://w:1": Maker.here().to_dict(), "tcp://w:2": other.to_dict()}))


def test_toys_without_a_word_about_their_code_are_refused() -> None:
    future = SimpleNamespace(key="toys")
    with pytest.raises(ClusterError, match=r"worker tcp://w:3 runs no Lanner, or an older one"):
        taken(BATCH, Cluster(), future)  # it has gone meanwhile
    with pytest.raises(ClusterError, match=r"worker tcp://w:3 runs Lanner 0.0.1,"):
        taken(BATCH, Cluster(**{"tcp://w:3": {"version": "0.0.1"}}), future)


@pytest.mark.parametrize(
    ("said", "words"), [({}, "no Lanner, or an older one"), ({"version": "0.0.1"}, "Lanner 0.0.1")]
)
def test_workers_without_this_are_refused(said: dict[str, Any], words: str) -> None:
    with pytest.raises(ClusterError, match=rf"worker tcp://w:1 runs {words},.*Install the same Lanner"):
        check_workers(Cluster(**{"tcp://w:1": said}))


def test_workers_that_do_not_answer_are_waited_for() -> None:
    check_workers(Cluster(**{"tcp://w:1": OSError("gone"), "tcp://w:2": Maker.here().to_dict()}))


def test_a_worker_does_nothing_for_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a reference that is left in its files, whose parts are read and merged by workers that join later."""
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'lanner[dask]'")
    from lanner.run.execution.dask_rows import merge_on, work_on

    monkeypatch.setattr("distributed.get_worker", lambda: SimpleNamespace(address="tcp://w:4"))
    here, other = Maker.here().to_dict(), replace(Maker.here(), version="0.0.1").to_dict()
    assert refused_here(here) is None
    assert merge_on(here, max, 1, 2) == 2
    assert isinstance(merge_on(here, max, 1, InputError("why")), InputError)  # type: ignore[arg-type]
    for found in (refused_here(other), merge_on(other, max, 1, 2), work_on(other, None, 0, None)):
        assert isinstance(found, ClusterError)
        assert re.search(r"worker tcp://w:4 runs Lanner .*, and the process that asks Lanner 0\.0\.1", str(found))


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("late", [False, True], ids=["at the start", "joins later"])
def test_a_worker_with_a_halved_statistic_moves_no_p_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'lanner[dask]'")
    from tests.run.execution.test_dask import FIT, processes

    foreign = tmp_path / "site" / "lanner"
    shutil.copytree(Path(lanner.__file__).parent, foreign, ignore=shutil.ignore_patterns("__pycache__"))
    _edit(foreign / "__init__.py", lanner.__version__, "0.0.1")
    _edit(foreign / "run" / "execution" / "local.py", "s.statistic for s", "0.5 * s.statistic for s")
    samples, options = exponential(6000, 310, seed=7), {"expected": 300, "toys": 32, "output": tmp_path / "out", **FIT}
    if late:  # as if it had not been there when the others were asked
        monkeypatch.setattr("lanner.run.execution.dask.check_workers", lambda client: None)
    monkeypatch.setenv("PYTHONPATH", str(foreign.parent))
    with processes(tmp_path) as (address, *_):
        monkeypatch.undo() if not late else monkeypatch.delenv("PYTHONPATH")
        with pytest.raises(ClusterError, match=r"worker tcp://127\.0\.0\.1:\d+ runs Lanner 0\.0\.1 .*none were taken"):
            lanner.search(*samples, executor=lanner.Dask(scheduler=address), **options)
    assert not list((tmp_path / "out").rglob("batch-*.npz"))
    after = lanner.search(*samples, **options)
    here = lanner.search(*samples, **(options | {"output": None}))
    np.testing.assert_array_equal(after.null.statistics, here.null.statistics)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("late", [False, True], ids=["at the start", "joins later"])
def test_a_worker_without_lanner_is_refused_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'lanner[dask]'")
    from tests.run.execution.test_dask import FIT, processes

    with processes(tmp_path, worker_path=_hidden(tmp_path)) as (address, *_):
        monkeypatch.setattr("lanner.run.execution.dask.check_workers", _at_ease if late else check_workers)
        if not late:
            with distributed.Client(address, set_as_default=False) as client:
                client.wait_for_workers(1, timeout=100)
        with pytest.raises(ClusterError, match=r"worker tcp://127\.0\.0\.1:\d+ runs .*none were taken"):
            lanner.search(
                *exponential(6000, 310, seed=7),
                expected=300,
                toys=32,
                output=tmp_path / "out",
                executor=lanner.Dask(scheduler=address),
                **FIT,
            )
    assert not list((tmp_path / "out").rglob("batch-*.npz"))


def _at_ease(client: Any) -> None:
    """In place of the question at the start: those who are asked have not joined yet."""


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_scheduler_needs_no_lanner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'lanner[dask]'")
    from tests.run.execution.test_dask import FIT, processes

    samples, options = exponential(6000, 310, seed=7), {"expected": 300, "toys": 32, **FIT}
    monkeypatch.setenv("PYTHONPATH", str(_hidden(tmp_path)))
    with processes(tmp_path, worker_path=Path(lanner.__file__).parents[1]) as (address, *_):
        monkeypatch.undo()
        there = lanner.search(*samples, executor=lanner.Dask(scheduler=address), **options)
    here = lanner.search(*samples, **options)
    np.testing.assert_allclose(there.null.statistics, here.null.statistics, atol=0.01)


def _hidden(folder: Path) -> Path:
    """A path on which there is no Lanner, for whoever looks there first."""
    package = folder / "site" / "lanner"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'lanner'\", name='lanner')\n")
    return package.parent


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
