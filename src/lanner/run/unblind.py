"""`unblind`: the data of a blind search, looked at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lanner.errors import LannerWarning
from lanner.events.io.roles import sample_like
from lanner.run.blinded import open_folder, opened_at, read_blinded
from lanner.run.execution.local import Executor
from lanner.run.fingerprint import sample_digest
from lanner.run.prepare import chosen_features
from lanner.run.result import SearchResult
from lanner.run.result_io import RESULT, load_result, save_result
from lanner.run.search import search
from lanner.settings import spelled_out
from lanner.typing import PathLike


@spelled_out
def unblind(
    folder: PathLike,
    reference: Any,
    data: Any,
    *,
    memory: float | str | None = None,
    executor: Executor | str = "local",
    device: str = "cpu",
    progress: Callable[..., None] | bool | None = None,
) -> SearchResult:
    """Look at the data of a blind search: the result is that of `search` with the settings that were fixed before.

    When this was done is written to the folder (`unblinded.json`) before the data are judged, and is in the result and
    its report. A folder that was unblinded already gives its result, with a warning, and nothing is run again.

    Parameters
    ----------
    folder : path_like
        The folder of `blind_search`.
    reference : array_like, mapping, data frame or Sample
        The reference that was blinded; another one is refused.
    data : array_like, mapping, data frame or Sample
        The measured events, with the columns of the reference.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    executor : {"local", "dask"} or Dask, default "local"
        Who makes the toys that are still needed; see `search`.
    device : str, default "cpu"
        Where features are kept and multiplied; see `search`.
    progress : callable or bool, optional
        Called with what is being done, how much of it is done and how much there is; see `search`.

    Returns
    -------
    SearchResult
        As `search` gives it, with the time at which the data were looked at in `unblinded`. It is saved in the folder.

    Raises
    ------
    InputError
        If the folder is not blind, the reference is another one, or other data were looked at before.

    See Also
    --------
    blind_search : All that comes before.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     blind = lanner.blind_search(reference, expected=200, output=folder, toys=90, seed=1)
    ...     result = lanner.unblind(folder, reference, data)
    >>> result.unblinded.endswith("UTC")
    True
    """
    folder = Path(folder)
    blinded = read_blinded(folder)
    when = opened_at(folder)
    if when is not None and (folder / RESULT).exists():
        words = f"{folder} was unblinded {when}: this is its result, and nothing is run again"
        warnings.warn(words, LannerWarning, stacklevel=3)
        return load_result(folder)
    sample, _ = chosen_features(reference, "reference")
    blinded.check_reference(sample_digest(sample), sample.names)
    open_folder(folder)
    measured = sample_like(sample.names, data, "data")
    open_folder(folder, sample_digest(measured))
    result = search(
        sample,
        measured,
        output=folder,
        memory=memory,
        executor=executor,
        device=device,
        progress=progress,
        **blinded.settings,
    )
    save_result(result, folder)
    return result
