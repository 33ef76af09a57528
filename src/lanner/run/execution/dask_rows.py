"""The rows of a spread reference on the workers of a Dask cluster: each reads parts of the files and sums over them.

Results of parts are merged on the workers, pairwise and always the same pairs; this process gets the last one alone. Of
a worker that dies, Dask gives the parts to another, and what it had merged is made again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any, TypeVar

from lanner._util.merging import MergeTree
from lanner.errors import LannerError, MemoryBudgetError
from lanner.events.spread import Spread, Told, Work
from lanner.run.execution.dask_cluster import result_of
from lanner.run.execution.delivery import refused_here
from lanner.run.fingerprint import Maker

T = TypeVar("T")
_AHEAD = 2  # parts handed out for each thread of the workers: one that it works on and one that waits


class DaskRows:
    """The workers of a cluster as those who read a spread reference."""

    def __init__(self, client: Any, *, wait: Callable[[SimpleQueue[Any]], Any], threads: Callable[[], int]) -> None:
        self._client, self._wait, self._threads = client, wait, threads
        self._maker = Maker.here().to_dict()  # whose code is asked for, also of workers that join later

    def each(self, spread: Spread, works: Sequence[Work[T]], told: Told | None = None) -> list[T]:
        """What the work of each part makes of its events, in the order of the parts."""
        found: dict[int, T] = {}
        for part, future in self._finished(spread, works, told):
            found[part] = self._result(future)
        return [found[part] for part in range(len(works))]

    def reduced(
        self, spread: Spread, works: Sequence[Work[T]], merge: Callable[[T, T], T], told: Told | None = None
    ) -> T:
        """The same, merged pairwise on the workers."""

        def merged(a: Any, b: Any) -> Any:
            # Before further parts: what waits to be merged takes memory.
            return self._client.submit(merge_on, self._maker, merge, a, b, pure=False, priority=10)

        tree = MergeTree[Any](len(works), merged)
        for part, future in self._finished(spread, works, told):
            kind = future.type
            if kind is not None and issubclass(kind, LannerError):
                self._result(future)  # which raises it
            tree.add(part, future)
        made: T = self._result(tree.result())
        return made

    def _finished(self, spread: Spread, works: Sequence[Work[T]], told: Told | None) -> Iterator[tuple[int, Any]]:
        """The parts as they are finished. Not all are handed out at once: each that is done takes memory."""
        done: SimpleQueue[Any] = SimpleQueue()
        pending: dict[Any, int] = {}
        parts, ended = iter(range(len(works))), 0
        try:
            while ended < len(works):
                while len(pending) < _AHEAD * self._threads() and (part := next(parts, None)) is not None:
                    future = self._submitted(work_on, self._maker, spread, part, works[part], pure=False)
                    pending[future] = part
                    future.add_done_callback(done.put)
                future = self._wait(done)
                part = pending.pop(future)
                if future.status == "error":
                    self._result(future)
                ended += 1
                if told is not None:
                    told(ended / len(works))
                yield part, future
                del future  # its result goes as soon as nobody needs it
        finally:
            if pending and self._client.status == "running":
                self._client.cancel(list(pending))

    def _submitted(self, *work: Any, **how: Any) -> Any:
        with warnings.catch_warnings():  # what a part needs is meant to be sent with it, some megabytes
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            return self._client.submit(*work, **how)

    def _result(self, future: Any) -> Any:
        found = result_of(future, over="part of the reference", remedy="or smaller row groups")
        if isinstance(found, LannerError):
            raise found
        return found


def merge_on(maker: dict[str, Any], merge: Callable[[T, T], T], a: T, b: T) -> T | LannerError:
    """As a task: merge the results of parts, or why there are none."""
    for found in (refused_here(maker), a, b):
        if isinstance(found, LannerError):
            return found
    return merge(a, b)


def work_on(maker: dict[str, Any], spread: Spread, part: int, work: Work[T]) -> T | LannerError:
    """As a task: read a part and work on it, or why that cannot be done.

    Errors that Lanner raises on purpose come back as values: raised, Dask would bring some of them under another name.
    """
    from threadpoolctl import threadpool_limits

    from lanner.run.execution.dask_worker import keep_freed_memory

    if (refused := refused_here(maker)) is not None:
        return refused
    keep_freed_memory()
    try:
        with threadpool_limits(limits=1):  # a worker of several threads works on several parts
            return work(spread.read(part))
    except LannerError as error:
        return type(error)(str(error))
    except MemoryError:
        return MemoryBudgetError(f"a worker ran out of memory over {spread.parts[part].path}: give the workers more")
