"""A calibration that is kept: null toys of one reference and configuration, for any number of data sets."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lanner.errors import InputError
from lanner.events import Sample, match_columns
from lanner.files import write_atomically
from lanner.inference.experiment import Experiment
from lanner.inference.plan import Plan
from lanner.machine import memory_budget
from lanner.model.fit import MIN_DATA, MIN_REFERENCE
from lanner.run.collect import collected_warnings
from lanner.run.planning import FitOptions, check_count, check_expected, check_sample, plan_search
from lanner.run.result import SearchResult
from lanner.run.search import judge
from lanner.run.store import array_digest
from lanner.run.toys import ToyRun, run_toys

FORMAT = "lanner.calibration/1"


@dataclass(frozen=True, eq=False)
class Calibration:
    """Toys of a plan, the reference they were drawn from, and where they are kept."""

    plan: Plan
    reference: Sample
    toys: ToyRun
    folder: Path

    def __len__(self) -> int:
        return len(self.toys.statistics)


def calibrate(
    reference: Any,
    *,
    expected: float,
    output: str | Path,
    toys: int = 300,
    memory: float | str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Calibration:
    """Make and keep the null toys of a reference, to apply to data later. `options` are those of `search`.

    A calibration that is there already, of the same reference and settings, is extended to `toys`.
    """
    check_expected(expected)
    reference = check_sample(reference, "reference", MIN_REFERENCE)
    fit = FitOptions(**options)
    if fit.null != "reference":
        raise InputError(f"null={fit.null!r} needs the data; a calibration that is kept needs null='reference'")
    budget = memory_budget(memory)
    plan = plan_search(reference, None, expected=expected, options=fit, memory=budget)
    folder = Path(output)
    experiment = Experiment.prepare(plan, reference, None, memory=budget)
    made = run_toys(experiment, toys, folder=folder / "toys", events_digest=_digest(reference), progress=progress)
    buffer = io.BytesIO()
    arrays = {"features": reference.features} | ({} if reference.weights is None else {"weights": reference.weights})
    np.savez(buffer, **arrays)
    write_atomically(folder / "reference.npz", buffer.getvalue())
    description = {
        "format": FORMAT,
        "plan": plan.settings() | {"chosen": list(plan.chosen)},
        "reference": _digest(reference),
        "toys": toys,
    }
    write_atomically(folder / "calibration.json", json.dumps(description, indent=1))
    return Calibration(plan, reference, made, folder)


def load_calibration(folder: str | Path) -> Calibration:
    """Read a calibration; one whose files do not belong together is refused."""
    folder = Path(folder)
    path = folder / "calibration.json"
    if not path.exists():
        raise InputError(f"{folder} holds no calibration.json; make one with `lanner calibrate` or lanner.calibrate")
    try:
        found = json.loads(path.read_text())
        if found["format"] != FORMAT:
            raise InputError(f"{path} is of another version ({found['format']}, not {FORMAT})")
        plan = Plan.from_settings(found["plan"] | {"chosen": tuple(found["plan"]["chosen"])})
        with open(folder / "reference.npz", "rb") as raw, np.load(raw, allow_pickle=False) as file:
            reference = Sample(file["features"], plan.names, file["weights"] if "weights" in file.files else None)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{folder} holds a damaged calibration ({type(error).__name__}: {error})") from error
    if _digest(reference) != found["reference"]:
        raise InputError(f"{folder}/reference.npz is not the reference that the toys were drawn from; calibrate again")
    return Calibration(plan, reference, _stored_toys(folder, plan, found), folder)


def apply(
    calibration: Calibration | str | Path,
    data: Any,
    *,
    expected: float | None = None,
    memory: float | str | None = None,
) -> SearchResult:
    """Test data against a calibration: one fit, no toy. Data or an expectation it was not made for are refused."""
    start = time.perf_counter()
    with collected_warnings() as said:
        if not isinstance(calibration, Calibration):
            calibration = load_calibration(calibration)
        plan = calibration.plan
        if expected is not None and expected != plan.expected:
            raise InputError(
                f"expected={expected:g}, but the calibration was made for {plan.expected:g}; calibrate again"
            )
        data = match_columns(calibration.reference, check_sample(data, "data", MIN_DATA))
        check_count(plan, len(data))
        experiment = Experiment.prepare(plan, calibration.reference, data, memory=memory_budget(memory))
        result = judge(experiment, calibration.toys)
    return replace(result, warnings=tuple(said), seconds=time.perf_counter() - start)


def _digest(reference: Sample) -> str:
    return array_digest(reference.features, reference.weights)


def _stored_toys(folder: Path, plan: Plan, found: dict[str, Any]) -> ToyRun:
    from lanner.run.toys import open_store, read_toys

    store = open_store(folder / "toys", plan, found["reference"])
    return read_toys(store, int(found["toys"]))
