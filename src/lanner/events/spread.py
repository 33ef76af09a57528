"""A reference that stays in its files: read part by part, here or by whoever is near it, and never held as a whole.

`spread` says which files, columns and rows are meant. A mapper (`RowMapper`: one after another in this process, or the
workers of a cluster) reads the parts and applies some work to each; what comes back is small or is added up. Events
keep the places that they would have if all files were read one after another, where whoever plans or draws finds them.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import worker_threads
from lanner._util.merging import MergeTree
from lanner.errors import ColumnWarning, InputError
from lanner.events.columns import as_names
from lanner.events.effective_size import EffectiveSize, chosen_by_digest, part_by_digest, size_by_part
from lanner.events.expressions import Expression
from lanner.events.io.parquet import rows_of_groups
from lanner.events.io.paths import File, describe, files_of
from lanner.events.io.read import read_sample
from lanner.events.io.request import make_request, told_left_out, with_names
from lanner.events.io.roles import no_features
from lanner.events.io.table import reading
from lanner.events.sample import Sample
from lanner.typing import Array, Progress

_ROWS = 1_000_000  # of a part, about: row groups of a file are read together up to so many
T = TypeVar("T")
Work = Callable[[Array], T]  # what is done with the events of a part
Told = Callable[[float], None]  # of the part of the work that is done


class RowMapper(Protocol):
    """Whoever reads the parts of a spread reference and works on them."""

    def each(self, spread: Spread, works: Sequence[Work[T]], told: Told | None = None) -> list[T]:
        """What the work of each part makes of its events, in the order of the parts."""

    def reduced(
        self, spread: Spread, works: Sequence[Work[T]], merge: Callable[[T, T], T], told: Told | None = None
    ) -> T:
        """The same, merged pairwise in a fixed order, so that the result does not depend on who was faster."""


@dataclass(frozen=True, eq=False)
class Spread:
    """Files of reference events that are read part by part. Made with `spread`.

    Parameters
    ----------
    names : tuple of str
        What the features are called.
    features : tuple of str
        The features, as columns or ``name=formula``.
    parts : tuple of File
        What is read together: a file, or row groups of a Parquet file.
    where : str or None
        Selection.
    drop_nan : bool
        Whether rows with missing values are dropped.
    description : str
        Where the events come from, in words.
    left_out : dict of str to str
        Columns that are no features although nobody named the features, each with the reason.

    See Also
    --------
    spread : Name the files.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "reference.npy"
    >>> np.save(file, np.zeros((10, 2)))
    >>> spread(file).read(0).shape
    (10, 2)
    """

    names: tuple[str, ...]
    features: tuple[str, ...]
    parts: tuple[File, ...]
    where: str | None
    drop_nan: bool
    description: str
    left_out: dict[str, str] = field(default_factory=dict)

    def read(self, part: int) -> Array:
        """The features of the events of a part, (events, features); of none an empty array.

        Parameters
        ----------
        part : int
            Which part.

        Returns
        -------
        ndarray
            A row for each event.

        Raises
        ------
        InputError
            If the part cannot be read, or has values that are no finite numbers.

        Examples
        --------
        >>> import numpy as np, tempfile, pathlib
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "reference.npy"
        >>> np.save(file, np.arange(3.0))
        >>> spread(file).read(0).ravel().tolist()
        [0.0, 1.0, 2.0]
        """
        try:
            found = read_sample(
                self.parts[part],
                features=self.features,
                where=self.where,
                drop_nan=self.drop_nan,
                all_missing=True,  # in a part; other parts may have it
                label="reference",
            )
        except InputError as error:
            if "selects none of" in str(error):
                return np.empty((0, len(self.names)))
            raise
        return found.sample.features


def spread(
    source: Any,
    *,
    features: Iterable[str] | str | None = None,
    where: str | Expression | None = None,
    drop_nan: bool = False,
) -> Spread:
    """Name a reference that stays in its files, for `search`: it may be larger than the memory of any machine.

    Parquet files are read by row groups, other files as a whole. With ``executor=lanner.Dask(...)`` the workers read
    them, each its own parts, so that they need the same paths; otherwise this process reads one part after another.

    Parameters
    ----------
    source : str, path, or list of them
        Files or patterns, as for `read_sample`.
    features : str or iterable of str or None, default None
        Columns to test, or ``name=formula``. None takes those of `read_sample`.
    where : str or Expression or None, default None
        Selection, as for `read_sample`.
    drop_nan : bool, default False
        Whether to drop rows with missing values instead of refusing them.

    Returns
    -------
    Spread
        The files and what is taken from them; nothing is read yet but the names of the columns.

    Raises
    ------
    InputError
        If a file cannot be found or read, or a column is not there.

    See Also
    --------
    search : Takes it as its reference.
    read_sample : Read events into memory.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "reference.npy"
    >>> np.save(file, np.zeros((10, 2)))
    >>> lanner.spread(file).names
    ('x0', 'x1')
    """
    files = files_of(source, "reference")
    chosen = None if features is None else as_names(features, "reference")
    text = where.text if isinstance(where, Expression) else where
    with files[0].open() as table:
        what = f"reference {table.what}"
        table = with_names(table, chosen, what)
        unfit = {} if chosen is not None else no_features(file.open() for file in files)
        request = make_request(table, features=chosen, weight=None, where=text, what=what, no_features=unfit)
    if request.left_out:
        warnings.warn(told_left_out(request, what), ColumnWarning, stacklevel=2)
    names = tuple(feature.name for feature in request.features)
    parts = tuple(part for file in files for part in _parts(file))
    words = f"{describe(source)} (left in its files)"
    return Spread(names, chosen or names, parts, text, drop_nan, words, dict(request.left_out))


def _parts(file: File) -> list[File]:
    """A file as parts of about as many rows."""
    if file.format != "Parquet":
        return [file]
    with reading(file.path, "Parquet"):
        rows = rows_of_groups(file.path)
    parts: list[list[int]] = [[]]
    held = 0
    for group, number in enumerate(rows):
        if parts[-1] and held + number > _ROWS:
            parts.append([])
            held = 0
        parts[-1].append(group)
        held += number
    return [File(file.path, file.inside, file.suffix, tuple(part)) for part in parts if part]


@dataclass(frozen=True)
class _About:
    """What there is to know of the events of a part before anything is planned."""

    number: int
    low: Array
    high: Array
    digest: str


def _about(features: Array) -> _About:
    if not len(features):
        none = np.full(features.shape[1], np.nan)
        return _About(0, none, none, "none")
    digest = hashlib.sha256(np.ascontiguousarray(features).data).hexdigest()
    return _About(len(features), features.min(axis=0), features.max(axis=0), digest)


class SpreadTable:
    """The features of a spread reference, to be taken by places; all of them at once nobody gets."""

    def __init__(self, source: Spread, mapper: RowMapper, about: Sequence[_About]) -> None:
        self.source, self.mapper = source, mapper
        self.starts = np.concatenate([[0], np.cumsum([part.number for part in about])])
        self.shape = (int(self.starts[-1]), len(source.names))
        some = [part for part in about if part.number] or list(about)
        self.low: Array = np.min([part.low for part in some], axis=0)
        self.high: Array = np.max([part.high for part in some], axis=0)
        self.digest = hashlib.sha256("".join(part.digest for part in about).encode()).hexdigest()
        self._last: tuple[NDArray[np.intp], Array] | None = None

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> Array:
        places = np.arange(len(self))[rows] if isinstance(rows, slice) else np.asarray(rows)
        if self._last is not None and np.array_equal(self._last[0], places):
            return self._last[1]  # every width asks for the same centres
        part = np.searchsorted(self.starts, places, side="right") - 1
        wanted = [places[part == k] - self.starts[k] for k in range(len(self.starts) - 1)]
        parts = self.mapper.each(self.source, [partial(np.take, indices=some, axis=0) for some in wanted])
        found = np.empty((len(places), self.shape[1]))
        for k, features in enumerate(parts):
            found[part == k] = features
        self._last = places, found
        return found

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise InputError(
            "the reference is left in its files, and this needs all of its events in memory: read it with read_sample, "
            "or without --spread"
        )

    def min(self, axis: int) -> Array:
        """The smallest value of each column; `axis` is 0, as for an array."""
        return self.low

    def max(self, axis: int) -> Array:
        """The largest value of each column."""
        return self.high

    def parts(self) -> list[slice]:
        """The places of each part's events."""
        return [slice(int(a), int(b)) for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]


class SpreadSample(Sample):
    """A spread reference with somebody who reads it, in the place of a sample in memory."""

    __slots__ = ("size",)
    size: EffectiveSize

    def __post_init__(self, label: str) -> None:  # nothing to check: every part was, when it was read
        pass

    def take(self, rows: Any) -> Sample:
        """Return the sample of some of the rows, by their places."""
        return Sample(self.features[rows], self.names)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a spread reference stays where it is; its description, a Spread, can be sent")


def read_by(source: Spread, mapper: RowMapper, progress: Progress | None = None) -> SpreadSample:
    """A spread reference whose parts somebody reads: counted, checked, and ready to be planned with."""

    def told(done: float) -> None:
        if progress is not None:
            progress("reading the reference's files", round(100 * done), 100)

    told(0.0)
    about = mapper.each(source, [_about] * len(source.parts), lambda done: told(done / 2))
    table = SpreadTable(source, mapper, about)
    if not len(table):
        raise InputError(f"the reference {source.description} has no events left: loosen the selection")
    sample = SpreadSample(table, source.names)  # type: ignore[arg-type]
    share = part_by_digest(len(table))
    works = [partial(chosen_by_digest, share=share)] * len(source.parts)
    some = mapper.each(source, works, lambda done: told((1 + done) / 2))
    object.__setattr__(sample, "size", size_by_part(np.vstack(some), len(table)))
    return sample


class InTurn:
    """This process: one part after another, or as many at a time as BLAS would use threads."""

    def each(self, spread: Spread, works: Sequence[Work[T]], told: Told | None = None) -> list[T]:
        """What the work of each part makes of its events."""
        return list(self._made(spread, works, told))

    def _made(self, spread: Spread, works: Sequence[Work[T]], told: Told | None) -> Iterator[T]:
        def submitted(part: int) -> Future[T]:
            return pool.submit(lambda: works[part](spread.read(part)))

        with worker_threads() as threads, ThreadPoolExecutor(threads) as pool:
            parts = iter(range(len(works)))
            waiting = deque(map(submitted, islice(parts, threads)))
            for done in range(1, len(works) + 1):
                made = waiting.popleft().result()
                waiting.extend(map(submitted, islice(parts, 1)))
                if told is not None:
                    told(done / len(works))
                yield made

    def reduced(
        self, spread: Spread, works: Sequence[Work[T]], merge: Callable[[T, T], T], told: Told | None = None
    ) -> T:
        """The same, merged pairwise."""
        tree = MergeTree[T](len(works), merge)
        for part, made in enumerate(self._made(spread, works, told)):
            tree.add(part, made)
        return tree.result()
