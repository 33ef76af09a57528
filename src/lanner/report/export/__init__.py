"""`export`: what a search found, in the forms in which others take it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lanner._util.files import write_atomically
from lanner._util.text import with_nearest
from lanner.errors import InputError, LannerWarning
from lanner.events.io.write import check_suffix
from lanner.report.characterise import Characterisation
from lanner.report.export import hepdata
from lanner.report.export.arrays import write_ratios, write_toys
from lanner.report.export.citation import citation
from lanner.report.export.histograms import histograms_of, write_histograms
from lanner.report.export.tables import tables_of
from lanner.run.result import SearchResult
from lanner.typing import PathLike

__all__ = ["KINDS", "citation", "export"]

KINDS = ("hepdata", "histograms", "toys", "ratios", "citation")


def export(
    result: SearchResult,
    folder: PathLike,
    *,
    characterisation: Characterisation | None = None,
    events: Mapping[str, Any] | None = None,
    only: Iterable[str] | None = None,
    suffix: str = ".npz",
) -> tuple[Path, ...]:
    """Write what a search found in the forms in which others take it.

    Parameters
    ----------
    result : SearchResult
        What `search`, `apply` or `load_result` returned.
    folder : path_like
        Where to write; made if it is not there. Files of an earlier export are replaced.
    characterisation : Characterisation, optional
        What `characterise` returned: the distributions of the variables, and the learned ratio of every event.
    events : mapping of str to (array, mapping of columns, data frame or Sample), optional
        Further events at which the learned ratio is wanted, by the name of their file.
    only : iterable of str, optional
        What to write of "hepdata", "histograms", "toys", "ratios" and "citation"; by default all of it, HEPData tables
        if hepdata_lib is installed.
    suffix : str, default ".npz"
        The format of arrays: ".npz", ".parquet", ".csv", ".h5" or ".root".

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    lanner.errors.InputError
        If something is asked for that is not there, or events lack a feature of the search.

    See Also
    --------
    characterise : Gives the distributions.
    save_result : Writes a result so that it can be loaded again.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> result = lanner.search(reference, data, expected=200, toys=90, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = lanner.export(result, folder, only=["toys", "citation"])
    ...     [file.name for file in files]
    ['toys.npz', 'citation.bib']
    """
    wanted = _wanted(only)
    check_suffix(f"array{suffix}" if suffix.startswith(".") else suffix)
    if events is not None and "ratios" not in wanted:
        raise InputError("events are given, but only= has no 'ratios': leave out one or the other")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    if "hepdata" in wanted:
        comment = f"{result.verdict()} Made with Lanner; doi:10.1140/epjc/s10052-022-10830-y has the method."
        written += hepdata.write_submission(folder, tables_of(result, characterisation), comment=comment)
    if "histograms" in wanted:
        written.append(write_histograms(folder / "histograms.json", histograms_of(result, characterisation)))
    if "toys" in wanted:
        written.append(write_toys(result, folder / f"toys{suffix}"))
    if "ratios" in wanted:
        written += write_ratios(result, folder, suffix, characterisation, events or {})
    if "citation" in wanted:
        written.append(write_atomically(folder / "citation.bib", citation()))
    return tuple(written)


def _wanted(only: Iterable[str] | None) -> tuple[str, ...]:
    """What to write; HEPData tables by default only where that is possible."""
    if only is None:
        if hepdata.is_there():
            return KINDS
        warnings.warn(
            "no HEPData tables are written, which need hepdata_lib: pip install 'lanner[hepdata]'",
            LannerWarning,
            stacklevel=3,
        )
        return KINDS[1:]
    wanted = (only,) if isinstance(only, str) else tuple(only)
    unknown = [name for name in wanted if name not in KINDS]
    if unknown or not wanted:
        raise InputError(
            f"only={list(wanted)}: {with_nearest(unknown, KINDS) or 'nothing'} is no part of an export; there are "
            f"{', '.join(KINDS)}"
        )
    return wanted
