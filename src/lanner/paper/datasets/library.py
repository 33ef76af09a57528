"""Where the events of an experiment come from: a cache of generated samples, or the published files.

Generated samples are kept as Parquet files outside any checkout, in $LANNER_CACHE or the user's cache folder, with the
generator's settings in each file. A sample that is long enough is read, one that is too short is made anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from lanner.errors import InputError
from lanner.typing import Columns

Progress = Callable[[int, int], None]

MODULES = {
    "one-dimensional": "lanner.paper.datasets.one_dimensional",
    "dimuon": "lanner.paper.datasets.dimuon",
    "susy": "lanner.paper.datasets.susy",
    "higgs": "lanner.paper.datasets.higgs",
}


def experiment_module(name: str) -> Any:
    """The module that makes an experiment's events."""
    if name not in MODULES:
        raise InputError(f"{name!r} is not an experiment; choose one of {', '.join(MODULES)}")
    return import_module(MODULES[name])


def published_files(experiment: str, given: Iterable[str]) -> dict[str, Path]:
    """`SAMPLE=FILE` pairs as a mapping. "all" is a file that holds background and signal, as those of UCI do."""
    module = experiment_module(experiment)
    known = ("background", *module.SIGNALS)
    files: dict[str, Path] = {}
    for text in given:
        name, _, file = text.partition("=")
        if not file or name not in (*known, "all"):
            raise InputError(f"{text!r}: give SAMPLE=FILE, where SAMPLE is all or one of {', '.join(known)}")
        path = Path(file)
        if not path.exists():
            raise InputError(f"{path} does not exist")
        files |= dict.fromkeys(known, path) if name == "all" else {name: path}
    return files


def cache_folder() -> Path:
    """Where generated samples are kept: $LANNER_CACHE, or the user's cache folder."""
    chosen = os.environ.get("LANNER_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lanner"


@dataclass(frozen=True)
class Library:
    """Samples of one experiment. `published` maps sample names to files that are read instead of generated."""

    experiment: str
    folder: Path = field(default_factory=lambda: cache_folder() / "samples")
    seed: int = 1
    processes: int = 1
    published: Mapping[str, Path] = field(default_factory=dict)
    cuts: Mapping[str, float] = field(default_factory=dict)  # those that differ from the experiment's own

    def events(self, name: str, n: int, progress: Progress | None = None) -> Columns:
        """The first n events of "background" or of a signal."""
        if name in self.published:
            return self._read_published(name, n)
        module = experiment_module(self.experiment)
        if self.experiment == "one-dimensional":
            rng = np.random.default_rng([self.seed, len(name)])
            made = module.background(n, rng)[:, 0] if name == "background" else module.SIGNALS[name].sample(n, rng)
            return {"x": made}
        changed = "".join(f"-{cut}{value:g}" for cut, value in self.cuts.items())
        path = self.folder / f"{self.experiment}{changed}-{name}.parquet"
        options = {"cuts": replace(module.CUTS, **self.cuts)} if self.cuts else {}
        settings = module.settings(name, **options)
        found = _read_cached(path, n, settings) if path.exists() else None
        if found is None:
            from lanner.events.io.write import write_columns

            found = module.sample(name, n, seed=self.seed, processes=self.processes, progress=progress, **options)
            write_columns(path, found, note=json.dumps(settings))
        return found

    def described(self) -> dict[str, Any]:
        """What the events depend on."""
        published = {name: str(path) for name, path in self.published.items()}
        return {"seed": self.seed, "published": published, "cuts": dict(self.cuts)}

    def _read_published(self, name: str, n: int) -> Columns:
        from lanner.paper.datasets.published import load

        return load(self.experiment, name, self.published[name], rows=n)


def _read_cached(path: Path, n: int, settings: dict[str, Any]) -> Columns | None:
    """The first n events of a cached file; None if it holds fewer. One of other settings is not replaced unasked."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            note = (file.schema_arrow.metadata or {}).get(b"lanner", b"").decode()
            made = json.loads(note) if note else {}
            different = [k for k, v in json.loads(json.dumps(settings)).items() if made.get(k) != v]
            if different:
                raise InputError(
                    f"{path} was made with other settings ({', '.join(different)}): delete it, and its events are made "
                    "again, or keep samples elsewhere ($LANNER_CACHE, --samples)"
                )
            if file.metadata.num_rows < n:
                return None
            parts, rows = [], 0
            for batch in file.iter_batches():
                parts.append(batch)
                rows += batch.num_rows
                if rows >= n:
                    break
    except InputError:
        raise
    except (pa.ArrowException, ValueError, OSError) as error:
        raise InputError(f"{path} is damaged ({error}); delete it, and its events are made again") from None
    table = pa.Table.from_batches(parts).slice(0, n)
    return {column: table.column(column).to_numpy().astype(np.float64) for column in table.column_names}
