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

from lanner._util.files import write_atomically
from lanner._util.machine import memory_budget
from lanner._util.warnings import collected_warnings
from lanner.errors import InputError
from lanner.events import Sample, match_columns
from lanner.inference.combination import frozen_toys
from lanner.inference.multiscale import Recipe
from lanner.inference.plan import Plan
from lanner.model.backend import arrays_on
from lanner.model.fit import MIN_DATA, MIN_REFERENCE
from lanner.run.evaluate import Evaluation
from lanner.run.execution.local import Executor, executor_of
from lanner.run.planning import (
    FitOptions,
    check_count,
    check_expected,
    check_ratio,
    check_sample,
    default_toys,
    plan_search,
)
from lanner.run.result import SearchResult
from lanner.run.toy_maker import ToyRun, run_toys
from lanner.run.toy_store import array_digest

FORMAT = "lanner.calibration/3"


@dataclass(frozen=True, eq=False)
class Calibration:
    """Toys of a plan at each of its scales, the reference they were drawn from, and where they are kept."""

    plans: tuple[Plan, ...]
    combination: str
    reference: Sample
    toys: ToyRun
    folder: Path

    def __len__(self) -> int:
        return int(self.toys.statistics.shape[1])

    @property
    def plan(self) -> Plan:
        """What the scales have in common."""
        return self.plans[0]


def calibrate(
    reference: Any,
    *,
    expected: float,
    output: str | Path,
    toys: int | None = None,
    memory: float | str | None = None,
    executor: Executor | str = "local",
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Calibration:
    """Make and keep the null toys of a reference, to apply to data later. `options` are those of `search`.

    A calibration that is there already, of the same reference and settings, is extended to `toys`.
    """
    check_expected(expected)
    arrays_on(device)
    reference = check_sample(reference, "reference", MIN_REFERENCE)
    fit = FitOptions(**options)
    if fit.null not in (None, "reference"):
        raise InputError(f"null={fit.null!r} needs the data; a calibration that is kept needs null='reference'")
    budget = memory_budget(memory)
    plans = plan_search(reference, None, expected=expected, options=fit, memory=budget)
    check_ratio(plans[0], reference)
    toys = default_toys(plans) if toys is None else toys
    folder = Path(output)
    with executor_of(executor).start(Recipe(plans, reference, device=device), memory=budget) as workers:
        made = run_toys(workers, toys, folder=folder / "toys", events_digest=_digest(reference), progress=progress)
    buffer = io.BytesIO()
    arrays = {"features": reference.features} | ({} if reference.weights is None else {"weights": reference.weights})
    np.savez(buffer, **arrays)
    write_atomically(folder / "reference.npz", buffer.getvalue())
    description = {
        "format": FORMAT,
        "plan": plans[0].settings() | {"chosen": list(plans[0].chosen)},
        "scales": [[p.width, p.penalty] for p in plans],
        "combination": fit.combination,
        "reference": _digest(reference),
        "toys": toys,
    }
    write_atomically(folder / "calibration.json", json.dumps(description, indent=1))
    return Calibration(plans, fit.combination, reference, made, folder)


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
        plans = tuple(replace(plan, width=float(w), penalty=float(p)) for w, p in found["scales"])
        combination = str(found["combination"])
        with open(folder / "reference.npz", "rb") as raw, np.load(raw, allow_pickle=False) as file:
            reference = Sample(file["features"], plan.names, file["weights"] if "weights" in file.files else None)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{folder} holds a damaged calibration ({type(error).__name__}: {error})") from error
    if _digest(reference) != found["reference"]:
        raise InputError(f"{folder}/reference.npz is not the reference that the toys were drawn from; calibrate again")
    return Calibration(plans, combination, reference, _stored_toys(folder, plans, found), folder)


def apply(
    calibration: Calibration | str | Path,
    data: Any,
    *,
    expected: float | None = None,
    memory: float | str | None = None,
    device: str = "cpu",
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
        recipe = Recipe(calibration.plans, calibration.reference, data, device=device)
        result = Evaluation(recipe.prepare(memory_budget(memory)), calibration.combination).result(
            calibration.toys, frozen_toys(len(calibration))
        )
    return replace(result, warnings=tuple(said), seconds=time.perf_counter() - start)


def _digest(reference: Sample) -> str:
    return array_digest(reference.features, reference.weights)


def _stored_toys(folder: Path, plans: tuple[Plan, ...], found: dict[str, Any]) -> ToyRun:
    from lanner.run.toy_maker import open_store, read_toys

    store = open_store(folder / "toys", plans, found["reference"])
    return read_toys(store, int(found["toys"]))
