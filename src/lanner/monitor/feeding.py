"""From files to verdicts: what is counted already is passed over, what cannot be counted is recorded."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from lanner.errors import BatchError
from lanner.events.io.paths import File, describe, files_of
from lanner.monitor.batches import Batch, Origin, Reader, names_of, origin_of, stem
from lanner.monitor.history import Entry
from lanner.monitor.quarantine import Refusal
from lanner.monitor.rates import Rates, stamp_of
from lanner.monitor.store import BatchStore
from lanner.monitor.watching import Watch, looks
from lanner.typing import Array

_FLUSH = 0.2  # seconds after which batches have to be on disk


@dataclass(frozen=True)
class Fed:
    """What became of a batch: counted now, counted before, or refused."""

    entry: Entry | None
    refusal: Refusal | None = None
    is_new: bool = True


def feed_files(store: BatchStore, reader: Reader, sources: tuple[str, ...]) -> Iterator[Fed]:
    """Files in their order, each a batch or all together split into batches."""
    files = files_of(list(sources), "batches")
    if reader.by or reader.size is not None:
        what = describe(sources)
        yield from _fed(store, reader.split(list(sources), what, {"path": what}))
        return

    def made() -> Iterator[Batch | list[Entry]]:
        for file, name in zip(files, names_of(files), strict=True):
            origin = origin_of(file)
            known = store.of_file(origin)
            yield known or reader.batch(file, name, origin)

    yield from _fed(store, made())


def follow(store: BatchStore, reader: Reader, source: str, *, poll: float, idle: float | None) -> Iterator[Fed | None]:
    """Files of a folder as they come; None after each look, when there is time for other things."""
    seen: dict[str, Origin] = {}  # in this run
    splits = bool(reader.by) or reader.size is not None

    def marked(origin: Origin) -> Origin:
        """With what else decides whether a file can be used."""
        return origin if reader.rates is None else origin | {"rates": list(reader.rates.stamp or ())}

    def is_done(origin: Origin) -> bool:
        if splits:  # some batches of a file say nothing of the others: it is read once in each run
            return seen.get(str(origin["path"])) == marked(origin)
        return bool(store.of_file(origin)) or store.has_refused(marked(origin))

    watch = Watch(source, is_done)
    for found in looks(watch, poll=poll, idle=idle):
        if reader.rates is not None and stamp_of(reader.rates.path) != reader.rates.stamp:
            reader = replace(reader, rates=Rates.read(reader.rates.path, reader.rate))
        for file, origin in found:
            batches = list(_of_file(reader, file, marked(origin)))
            if _now(file) != origin:
                continue  # it was written to while it was read
            seen[str(origin["path"])] = marked(origin)
            yield from _fed(store, iter(batches))
        yield None


def _of_file(reader: Reader, file: File, origin: Origin) -> Iterator[Batch]:
    name = stem(file.path)
    if reader.by or reader.size is not None:
        yield from reader.split(file, f"batch {name!r}", origin, f"{name}: ")
    else:
        yield reader.batch(file, name, origin)


def _fed(store: BatchStore, batches: Iterator[Batch | list[Entry]] | Iterator[Batch]) -> Iterator[Fed]:
    flushed, waits = time.monotonic(), False
    try:
        for batch in batches:
            if not isinstance(batch, Batch):
                yield from (Fed(entry, is_new=False) for entry in batch)
                continue
            before = len(store)
            try:
                entry = store.count(
                    batch.name,
                    lambda batch=batch: _features(batch),  # type: ignore[misc]
                    expected=batch.expected,
                    key=batch.key,
                    origin=batch.origin,
                    wait=False,
                )
            except BatchError:
                yield Fed(None, store.last_refusal(batch.name))
                continue
            waits = True
            if time.monotonic() - flushed > _FLUSH:
                store.flush()
                flushed, waits = time.monotonic(), False
            yield Fed(entry, is_new=len(store) > before)
    finally:
        if waits:
            store.flush()


def _features(batch: Batch) -> Array:
    if batch.features is None:
        raise BatchError(batch.reason)
    return batch.features


def _now(file: File) -> Origin | None:
    try:
        return origin_of(file)
    except OSError:
        return None
