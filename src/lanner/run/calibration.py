"""A calibration that is kept: null toys of one reference and configuration, for any number of data sets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from lanner._util.files import arrays_as_bytes, arrays_from_bytes, read_bytes
from lanner._util.progress import begin, shown
from lanner.errors import FolderError, InputError
from lanner.events import Sample
from lanner.inference.plan import Plan
from lanner.inference.sequential import AUTO
from lanner.run.execution.local import Executor, executor_of
from lanner.run.expected_error import with_expected_error
from lanner.run.fingerprint import numbers_version, sample_digest
from lanner.run.kept_widths import keep_widths
from lanner.run.manifest import FolderWriter, Manifest, read_together, written_together
from lanner.run.prepare import prepare
from lanner.run.toy_maker import ToyRun, open_store, read_toys, run_toys
from lanner.run.varied_calibration import UncertainCalibration, calibrate_uncertain, read_uncertain
from lanner.settings import FitKeywords, FitSettings, checked, spelled_out
from lanner.typing import PathLike
from lanner.uncertainties.declared import Uncertainty

FORMAT = "lanner.calibration/8"
KIND = "calibration"
_DESCRIPTION, _REFERENCE = "calibration.json", "reference.npz"
CALIBRATION_TOYS = 3000  # of the score statistic, if nobody says


@dataclass(frozen=True, eq=False)
class Calibration:
    """Toys of a plan at each of its scales, the reference they were drawn from, and where they are kept.

    `calibrate` makes one, `load_calibration` reads one, and `apply` tests data against it. Its length is the number of
    toys.

    Parameters
    ----------
    plans : tuple of Plan
        How every fit is made, at each scale.
    reference : Sample
        The events that the toys were drawn from.
    toys : ToyRun
        The test statistic of every toy at every scale.
    folder : Path
        Where the calibration is kept.
    kept : tuple of str
        Digests of what is kept of each width, by which data are judged without the features of the reference.
    uncertain : UncertainCalibration or None
        The nuisance parameters of the uncertainties, and toys at a fixed design of them; `toys` are those at the
        centre. None where the reference is taken as exact.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> reference = np.random.default_rng(1).exponential(size=(4000, 1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     calibration = lanner.calibrate(reference, expected=200, output=folder, toys=60, width=0.5, penalty=1e-5)
    >>> len(calibration), calibration.plan.statistic
    (60, 'likelihood-ratio')
    """

    plans: tuple[Plan, ...]
    reference: Sample
    toys: ToyRun
    folder: Path
    kept: tuple[str, ...] = ()
    uncertain: UncertainCalibration | None = None

    def __len__(self) -> int:
        return int(self.toys.statistics.shape[1])

    @property
    def plan(self) -> Plan:
        """What the scales have in common."""
        return self.plans[0]

    @property
    def combination(self) -> str:
        """How several scales become one p-value."""
        return self.plan.combination


@spelled_out
def calibrate(
    reference: Any,
    *,
    expected: float | str,
    output: PathLike,
    toys: int | str = AUTO,
    uncertainties: Sequence[Uncertainty] = (),
    memory: float | str | None = None,
    executor: Executor | str = "local",
    device: str = "cpu",
    progress: Callable[..., None] | bool | None = None,
    **settings: Unpack[FitKeywords],
) -> Calibration:
    """Make and keep the null toys of a reference, to apply to any number of data sets later.

    A calibration that is there already, of the same reference and settings, is extended to `toys`.

    Parameters
    ----------
    reference : array_like, mapping, data frame or Sample
        Events of the reference model, one a row.
    expected : float or "weights"
        N(0), the number of data events that the reference predicts; "weights": the sum of the reference's weights,
        with its statistical error, by which the toys' expectation fluctuates as well.
    output : path_like
        The folder of the calibration.
    toys : int or "auto", default "auto"
        How many null toys. "auto" makes 3000 of the score statistic, and 300 of fits, which are costly.
    uncertainties : sequence of Normalisation, Weights, Shifted or Process, optional
        Systematic uncertainties of the reference; see `search`. So many toys are then made at each point of a fixed
        design of nuisance parameters: the centre, and 1 and 2 up and down of each that shapes the reference.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    executor : {"local", "dask"} or Dask, default "local"
        Who makes the toys; see `search`.
    device : str, default "cpu"
        Where features are kept and multiplied; see `search`.
    progress : callable or bool, optional
        Called with what is being done, how much of it is done and how much there is; see `search`.
    <the settings of a fit>

    Returns
    -------
    Calibration
        The toys, the reference they were drawn from, and where they are kept.

    Raises
    ------
    InputError
        If the reference or the settings cannot be used as they are.
    StoreError
        If the folder holds toys of another reference or of other settings.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     calibration = lanner.calibrate(reference, expected=200, output=folder, toys=90)
    ...     result = lanner.apply(calibration, data)
    >>> len(calibration), 0 < result.p_value <= 1
    (90, True)
    """
    fit, folder = FitSettings(**settings), Path(output)
    with shown(progress) as told:
        begin(told, "planning")
        number_expected, uncertainties = with_expected_error(expected, reference, uncertainties)
        job = prepare(reference, expected=number_expected, settings=fit, memory=memory, device=device, progress=told)
        sample = job.recipe.reference
        number = checked("toys", toys)
        if number == AUTO:
            number = CALIBRATION_TOYS if job.plans[0].statistic == "score" else job.toys
        digest = sample_digest(sample)
        if uncertainties:
            with written_together(folder, KIND) as files:
                doing = executor_of(executor)
                uncertain = calibrate_uncertain(
                    job, uncertainties, number, executor=doing, folder=folder, digest=digest, files=files, progress=told
                )
                if uncertain is not None:
                    _write(files, job.plans, sample, number, [], uncertain)
                    return Calibration(job.plans, sample, uncertain.points[0].toys, folder, (), uncertain)
        with executor_of(executor).start(job.recipe, memory=job.memory, progress=told) as workers:
            made = run_toys(workers, number, folder=folder / "toys", events_digest=digest, progress=told)
            begin(told, "keeping what judges data")
            with written_together(folder, KIND) as files:
                kept = keep_widths(files, workers.prepared, number)
                _write(files, job.plans, sample, number, kept)
    return Calibration(job.plans, sample, made, folder, tuple(kept))


def _write(
    files: FolderWriter,
    plans: tuple[Plan, ...],
    sample: Sample,
    toys: int,
    kept: list[str],
    uncertain: UncertainCalibration | None = None,
) -> None:
    """Write the reference, and what the calibration is."""
    optional = {"weights": sample.weights, "toy_weights": sample.toy_weights}
    arrays = {"features": sample.features} | {name: w for name, w in optional.items() if w is not None}
    files.write(_REFERENCE, arrays_as_bytes(arrays))
    description = {
        "format": FORMAT,
        "numbers": numbers_version(),
        "plan": plans[0].to_dict(),
        "scales": [[p.width, p.penalty] for p in plans],
        "reference": sample_digest(sample),
        "toys": toys,
        "kept": kept,
        "uncertainties": None if uncertain is None else uncertain.description(),
    }
    files.write(_DESCRIPTION, json.dumps(description, indent=1))


def load_calibration(folder: PathLike) -> Calibration:
    """Read a calibration; one whose files do not belong together is refused.

    Parameters
    ----------
    folder : path_like
        The folder that `calibrate` wrote.

    Returns
    -------
    Calibration
        The toys, the reference they were drawn from, and where they are kept.

    Raises
    ------
    InputError
        If there is no calibration, or a damaged one.
    StoreError
        If toys are missing, or are those of something else.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> reference = np.random.default_rng(1).exponential(size=(4000, 1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = lanner.calibrate(reference, expected=200, output=folder, toys=60)
    ...     len(lanner.load_calibration(folder))
    60
    """
    folder = Path(folder)
    try:
        return read_together(folder, lambda: _read(folder))
    except FolderError as error:
        raise FolderError(f"{error}. Calibrate again into this folder: it is made anew from its toys") from error


def _read(folder: Path) -> Calibration:
    path = folder / _DESCRIPTION
    if not path.exists():
        raise InputError(f"{folder} holds no {_DESCRIPTION}; make one with `lanner calibrate` or lanner.calibrate")
    try:
        found = json.loads(read_bytes(path))
        if found["format"] != FORMAT:
            raise InputError(
                f"{path} is of another version ({found['format']}, not {FORMAT}), whose toys were of another test; "
                "calibrate again"
            )
        manifest = Manifest.read(folder, KIND)
        found = json.loads(manifest.content(_DESCRIPTION))
        if found["numbers"] != numbers_version():
            raise InputError(
                f"{path} is of another version of the statistic ({found['numbers']}, not {numbers_version()}); "
                "calibrate again, into a new folder"
            )
        plan = Plan.from_dict(found["plan"])
        plans = tuple(replace(plan, width=float(w), penalty=float(p)) for w, p in found["scales"])
        arrays = arrays_from_bytes(manifest.content(_REFERENCE))
        reference = Sample(arrays["features"], plan.names, arrays.get("weights"), toy_weights=arrays.get("toy_weights"))
    except InputError:
        raise
    except Exception as error:
        raise FolderError(
            f"{folder} holds a damaged calibration ({path.name}: {type(error).__name__}: {error})"
        ) from error
    if sample_digest(reference) != found["reference"]:
        raise FolderError(f"{folder / _REFERENCE} is not the reference that the toys were drawn from")
    if found["uncertainties"] is not None:
        uncertain = read_uncertain(
            manifest, found["uncertainties"], plans, folder, found["reference"], int(found["toys"])
        )
        return Calibration(plans, reference, uncertain.points[0].toys, folder, (), uncertain)
    store = open_store(folder / "toys", plans, found["reference"])
    return Calibration(plans, reference, read_toys(store, int(found["toys"])), folder, tuple(found["kept"]))
