"""Where the events of an experiment come from: a cache of generated samples, or the published files.

Generated samples are kept as Parquet files in $LANNER_CACHE or the user's cache folder, each with the settings of the
generator. A sample that is long enough is read, one that is too short is made anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from lanner._util.progress import begin, heard, named
from lanner.errors import InputError
from lanner.paper.generators.mixing import check_sample
from lanner.typing import Columns, Progress

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
    known = ("background", *experiment_module(experiment).SIGNALS)
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
    """Where generated samples are kept: $LANNER_CACHE, or the user's cache folder on this operating system."""
    chosen = os.environ.get("LANNER_CACHE")
    # Otherwise the folder would be lanner/lanner on Windows, after an author and a program of one name.
    return Path(chosen) if chosen else user_cache_path("lanner", appauthor=False)


@dataclass(frozen=True)
class Library:
    """The samples of one of the paper's experiments.

    Collisions are generated with Pythia 8 and kept on disk, so that they are made only once. Samples can be read from
    the published files instead.

    Parameters
    ----------
    experiment : {"one-dimensional", "dimuon", "susy", "higgs"}
        The experiment whose events are wanted.
    folder : Path, optional
        Where generated collisions are kept as Parquet files. By default the folder ``samples`` in ``$LANNER_CACHE``
        or, if that is not set, in the user's cache folder (on Linux ``~/.cache/lanner``). Events of the 1-D example
        are made anew each time.
    seed : int, default 1
        Seed of the generator.
    processes : int, default 1
        How many processes generate events. The events do not depend on it.
    published : mapping of str to Path, optional
        Files that are read instead of generating a sample, by the sample's name: "background" or that of a signal.
    cuts : mapping of str to float, optional
        Cuts that differ from the experiment's own, in GeV where they are on momenta and masses.

    See Also
    --------
    lanner.reproduce : Runs an experiment with the events of a library.

    Examples
    --------
    >>> library = Library("one-dimensional", seed=3)
    >>> library.events("background", 1000)["x"].shape
    (1000,)
    """

    experiment: str
    folder: Path = field(default_factory=lambda: cache_folder() / "samples")
    seed: int = 1
    processes: int = 1
    published: Mapping[str, Path] = field(default_factory=dict)
    cuts: Mapping[str, float] = field(default_factory=dict)

    def events(self, name: str, n: int, progress: Progress | None = None) -> Columns:
        """Return the first events of a sample.

        They are read from a published file if there is one, or from the cache if it has enough of them, and generated
        otherwise.

        Parameters
        ----------
        name : str
            "background" or the name of a signal.
        n : int
            How many events. More events of a sample begin with those that fewer have.
        progress : callable, optional
            Called with the number of events that are generated, and how many there will be. Default: whoever hears of
            the work that this is a part of.

        Returns
        -------
        dict of str to ndarray
            The columns of the sample, each of length `n`.

        Raises
        ------
        InputError
            If the sample is not known, a file is damaged, too short or made with other settings, or the generator is
            needed and not installed.

        See Also
        --------
        described : What the events depend on.

        Examples
        --------
        >>> Library("one-dimensional").events("tail", 5)["x"].round(1).tolist()
        [0.8, 0.8, 0.8, 0.8, 0.8]
        """
        module, progress = experiment_module(self.experiment), progress or heard()
        if name in self.published:
            from lanner.paper.datasets.published import load

            begin(progress, f"reading {self.published[name]}")
            return load(self.experiment, name, self.published[name], rows=n)
        check_sample(name, module.SIGNALS)
        if self.experiment == "one-dimensional":
            rng = np.random.default_rng([self.seed, len(name)])
            made = module.background(n, rng)[:, 0] if name == "background" else module.SIGNALS[name].sample(n, rng)
            return {"x": made}
        changed = "".join(f"-{cut}{value:g}" for cut, value in self.cuts.items())
        path = self.folder / f"{self.experiment}{changed}-{name}.parquet"
        options = {"cuts": replace(module.CUTS, **self.cuts)} if self.cuts else {}
        settings = module.settings(name, **options)
        if path.exists():
            begin(progress, f"reading {path}")
        found = _read_cached(path, n, settings) if path.exists() else None
        if found is None:
            from lanner.events.io.write import write_columns

            told = named(progress, f"generating events of {self.experiment}, {name}")
            found = module.sample(name, n, seed=self.seed, processes=self.processes, progress=told, **options)
            begin(progress, f"writing {path}")
            write_columns(path, found, note=json.dumps(settings))
        return found

    def described(self) -> dict[str, Any]:
        """Return what the events depend on.

        It is ready for JSON, to be written beside results.

        Returns
        -------
        dict
            The seed, the published files and the cuts.

        See Also
        --------
        events : The events themselves.

        Examples
        --------
        >>> Library("susy", seed=2).described()
        {'seed': 2, 'published': {}, 'cuts': {}}
        """
        published = {name: str(path) for name, path in self.published.items()}
        return {"seed": self.seed, "published": published, "cuts": dict(self.cuts)}


def _read_cached(path: Path, n: int, settings: dict[str, Any]) -> Columns | None:
    """The first n events of a cached file; None if it holds fewer. A file made with other settings is refused."""
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
