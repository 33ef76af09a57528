"""A result as a folder: `result.json` to be read, `ratio.npz` and `null.npz` for the arrays."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from lanner._util.files import arrays_as_bytes, arrays_from_bytes, read_bytes
from lanner.errors import FolderError, InputError, StoreWarning
from lanner.model.ratio import LearnedRatio
from lanner.run.blinded import refuse_blind
from lanner.run.manifest import FolderWriter, Manifest, read_together, written_together
from lanner.run.result import SearchResult
from lanner.run.result_plain import EARLIER, finite, result_of, result_to_json, upgraded_result
from lanner.run.systematics import Systematics

KIND = "result"
RESULT, NULL, RATIO, REPORT, CONFIG = "result.json", "null.npz", "ratio.npz", "report.html", "config.yaml"
UNCERTAINTIES = "uncertainties.npz"  # the reference at nu^, where there are uncertainties


def save_result(result: SearchResult, folder: str | Path) -> Path:
    """Write a result to a folder, from which `load_result` reads it.

    Parameters
    ----------
    result : SearchResult
        What `search` or `apply` returned.
    folder : str or Path
        Where to write `result.json`, `ratio.npz` and `null.npz`; made if it is not there.

    Returns
    -------
    Path
        Of `result.json`.

    Raises
    ------
    lanner.errors.FileError
        If a file cannot be written; an earlier one is then left as it was.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> result = lanner.search(reference, data, expected=200, toys=90, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lanner.save_result(result, folder).name
    'result.json'
    """
    with written_together(Path(folder), KIND) as files:
        return write_result(result, files)


def write_result(result: SearchResult, files: FolderWriter) -> Path:
    """Write the files of a result, beside others that belong to it; the path of `result.json`."""
    # The report of an earlier result must not stand beside this one, not even if this process dies now.
    files.remove(REPORT)
    files.remove(UNCERTAINTIES)
    analytic = result.null.analytic
    arrays = {
        "statistic": np.array(result.statistic),  # to the last bit
        "statistics": result.null.statistics,
        "converged": result.null.converged,
        "analytic_weights": None if analytic is None else analytic.weights,
        "null_coefficients": result.null_coefficients,
    }
    files.write(RATIO, arrays_as_bytes(result.ratio.to_arrays()))
    files.write(NULL, arrays_as_bytes({name: values for name, values in arrays.items() if values is not None}))
    if result.systematics.fitted is not None:
        files.write(UNCERTAINTIES, arrays_as_bytes(result.systematics.fitted.to_arrays()))
    return files.write(RESULT, result_to_json(result))


def load_result(folder: str | Path) -> SearchResult:
    """Read a result from the folder to which `save_result` or `lanner search` wrote it.

    Parameters
    ----------
    folder : str or Path
        The folder that holds `result.json`.

    Returns
    -------
    SearchResult
        The result as it was: its p-value, its null toys and its learned ratio.

    Raises
    ------
    lanner.errors.InputError
        If there is no result, if it is damaged, or if its format is older than the last one.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> result = lanner.search(reference, data, expected=200, toys=90, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = lanner.save_result(result, folder)
    ...     lanner.load_result(folder).p_value == result.p_value
    True
    """
    try:
        return _whole(Path(folder), _warn)
    except FolderError as error:
        again = "Run the same search again into this folder: the result is made anew from its toys"
        raise FolderError(f"{error}. {again}") from error


def harm_of(folder: Path) -> str | None:
    """What is wrong with the result in a folder, if anything is."""
    try:
        _whole(folder, lambda _: None)
    except InputError as error:
        return str(error)
    return None


def data_of(folder: Path) -> tuple[str | None, str]:
    """The digest and the description of the data whose result a folder holds, as far as that can be read."""
    try:
        plain = json.loads(read_bytes(folder / RESULT))
        return plain["samples"]["digests"]["data"], str(plain["inputs"].get("data", "unknown"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, "unknown"


def _whole(folder: Path, warn: Callable[[str], None]) -> SearchResult:
    return read_together(folder, lambda: _read_result(folder, warn))


def _read_result(folder: Path, warn: Callable[[str], None]) -> SearchResult:
    path, plain = folder / RESULT, {}
    if not path.exists():
        refuse_blind(folder)
        raise InputError(f"{folder} holds no {RESULT}; give the output folder of `lanner search` or `lanner apply`")
    try:
        plain = json.loads(read_bytes(path))
        earlier = plain["schema"] in EARLIER
        plain = upgraded_result(plain, path)
        if earlier:
            warn(
                f"{folder} was written by an earlier version, which kept no manifest: whether its files belong "
                "together was checked by their numbers alone. Run the search again into this folder to have one"
            )
            content = {name: read_bytes(folder / name) for name in (NULL, RATIO)}
        else:
            content = _checked(folder, warn)
            plain = json.loads(content[RESULT])
        found = result_of(plain, arrays_from_bytes(content[NULL]), LearnedRatio.load(RATIO, content=content[RATIO]))
        fitted = arrays_from_bytes(content[UNCERTAINTIES]) if UNCERTAINTIES in content else None
        found = replace(found, systematics=Systematics.from_dict(plain, fitted))
    except FolderError:
        raise
    except InputError as error:
        if plain.get("schema") in EARLIER:
            raise FolderError(f"{folder} holds a damaged result: {error}") from error
        raise
    except Exception as error:
        raise FolderError(
            f"{folder} holds a damaged result ({_harmed(folder)}{type(error).__name__}: {error})"
        ) from error
    if found.p_value != plain["p_value"] or finite(found.statistic) != plain["statistic"]:
        raise FolderError(f"{path} and {folder / NULL} are of different results")
    return found


def _checked(folder: Path, warn: Callable[[str], None]) -> dict[str, bytes]:
    """What the files of a result hold, if they belong together."""
    manifest = Manifest.read(folder, KIND)
    further = [UNCERTAINTIES] if UNCERTAINTIES in manifest.files else []
    content = {name: manifest.content(name) for name in (RESULT, NULL, RATIO, *further)}
    for name, remedy in ((REPORT, "`lanner report` writes it again"), (CONFIG, "see that it names the right files")):
        if not manifest.fits(name):
            warn(f"{folder / name} is not the one of the result beside it: it was changed, lost or copied; {remedy}")
    return content


def _harmed(folder: Path) -> str:
    """The file that does not fit, where a manifest tells."""
    try:
        _checked(folder, lambda _: None)
    except FolderError as error:
        return f"{error}; "
    return ""


def _warn(text: str) -> None:
    warnings.warn(text, StoreWarning, stacklevel=7)
