"""A calibration whose reference has uncertainties: null toys at a fixed design of nuisance parameters.

Data are judged at the points around the nu^ that fits them (`inference/varied_design.py`), each from what was kept of
it. Where nu^ lies outside of the design they get toys of their own, made at nu^, as in a search.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.files import arrays_as_bytes, arrays_from_bytes
from lanner.errors import InputError, NullWarning
from lanner.events import Sample
from lanner.inference.combination import number_of_map_toys
from lanner.inference.multiscale import Recipe
from lanner.inference.null import Null
from lanner.inference.plan import Plan
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.tail import fit_tail
from lanner.inference.varied_design import Design, mixed
from lanner.inference.varied_experiment import VariedExperiment, VariedPlan
from lanner.inference.varied_kept import KeptAtNu, kept_ladder_at_nu
from lanner.run.evaluate import Combiner, Evaluation
from lanner.run.execution.local import Executor, Local
from lanner.run.kept_widths import digest_of_arrays, keep_arrays, read_kept
from lanner.run.manifest import FolderWriter, Manifest
from lanner.run.prepare import Job
from lanner.run.resemblance import with_systematics
from lanner.run.result import SearchResult
from lanner.run.systematics import Systematics
from lanner.run.toy_maker import ToyRun, open_store, read_toys, run_toys
from lanner.run.uncertain import learned_for, nuisances_of
from lanner.typing import Array, Progress
from lanner.uncertainties.closure import Closure
from lanner.uncertainties.declared import Uncertainty
from lanner.uncertainties.effects import Effects
from lanner.uncertainties.learned import LearnedNuisances
from lanner.uncertainties.matching import weights_of
from lanner.uncertainties.profile import Profile

_NUISANCES = "nuisances.npz"


@dataclass(frozen=True, eq=False)
class UncertainPoint:
    """One point of the design: its toys, and what judges data there."""

    toys: ToyRun
    kept: tuple[str, ...]  # digests of the files of each width


@dataclass(frozen=True, eq=False)
class UncertainCalibration:
    """The nuisance parameters of a calibration, and its toys at each point of the design."""

    nuisances: LearnedNuisances
    design: Design
    points: tuple[UncertainPoint, ...]
    closures: tuple[Closure, ...] = ()

    def description(self) -> dict[str, Any]:
        """What a calibration's file says of it."""
        return {
            "names": list(self.nuisances.names),
            "design": self.design.points.tolist(),
            "kept": [list(point.kept) for point in self.points],
            **Systematics(self.closures).to_dict(),
        }


def calibrate_uncertain(
    job: Job,
    uncertainties: Sequence[Uncertainty],
    toys: int,
    *,
    executor: Executor,
    folder: Path,
    digest: str,
    files: FolderWriter,
    progress: Progress | None,
) -> UncertainCalibration | None:
    """Learn the uncertainties, make toys at each point and keep what judges data; None if no uncertainty is left."""
    plan, reference = job.plans[0], job.recipe.reference
    if plan.statistic != "score":
        raise InputError(
            "with uncertainties the likelihood ratio has toys for one data set at a time: use search, or leave out the "
            "width"
        )
    learned = learned_for(job.recipe, uncertainties, memory=job.memory, progress=progress)
    nuisances = learned.nuisances
    if not len(nuisances):
        return None
    files.write(_NUISANCES, arrays_as_bytes(nuisances.to_arrays()))
    effects = nuisances.of(reference.features)
    design, points = Design.of(effects, weights_of(reference)), []
    for k, nu in enumerate(design.points):
        none = np.zeros(len(nu))
        varied = VariedPlan(nuisances, Profile(nu, np.eye(len(nu)), 0.0, plan.expected), none, effects)
        recipe = replace(job.recipe, varied=varied)
        with executor.start(recipe, memory=job.memory, progress=_named(progress, k, len(design))) as workers:
            made = run_toys(
                workers,
                toys,
                folder=_toys_at(folder, k),
                events_digest=_digest(digest, nuisances, nu),
                progress=_named(progress, k, len(design)),
            )
            first = {e.plan.width: e for e in reversed(workers.prepared.scales) if isinstance(e, VariedExperiment)}
            kept = keep_arrays(
                files, f"widths/point-{k}", [KeptAtNu.of(first[w], toys).to_arrays() for w in sorted(first)]
            )
        points.append(UncertainPoint(made, tuple(kept)))
    return UncertainCalibration(nuisances, design, tuple(points), learned.closures)


def read_uncertain(
    manifest: Manifest, found: dict[str, Any], plans: tuple[Plan, ...], folder: Path, digest: str, toys: int
) -> UncertainCalibration:
    """Read what was kept, and the toys of every point."""
    nuisances = LearnedNuisances.from_arrays(arrays_from_bytes(manifest.content(_NUISANCES)))
    design = Design(np.array(found["design"], dtype=np.float64))
    points = []
    for k, nu in enumerate(design.points):
        store = open_store(_toys_at(folder, k), plans, _digest(digest, nuisances, nu))
        points.append(UncertainPoint(read_toys(store, toys), tuple(found["kept"][k])))
    return UncertainCalibration(nuisances, design, tuple(points), Systematics.from_dict(found, None).closures)


def judge_uncertain(
    calibration: UncertainCalibration,
    plans: tuple[Plan, ...],
    reference: Sample,
    data: Sample,
    *,
    folder: Path,
    memory: int,
) -> SearchResult:
    """The result of data, by the points around the nuisances that fit them, or by toys of their own."""
    varied = VariedPlan.of(calibration.nuisances, plans[0], reference, data)
    weights = calibration.design.weights(varied.profile.nu)
    if weights is None:
        result = _by_own_toys(varied, len(calibration.points[0].toys.statistics[0]), plans, reference, data, memory)
        return with_systematics(result, varied, reference, calibration.closures)
    effects = calibration.nuisances.of(data.features)
    known = {
        int(k): _Judged.of(int(k), calibration, plans, reference, data, effects, folder, memory)
        for k in np.flatnonzero(weights)
    }
    first = int(np.argmax(weights))
    result = known[first].evaluation.result(calibration.points[first].toys, known[first].n_map_toys)
    nobody = np.empty(0)
    t, toys = mixed(
        weights,
        [known[k].toys if k in known else nobody for k in range(len(weights))],
        [known[k].statistic if k in known else 0.0 for k in range(len(weights))],
    )
    rng = rng_of(plans[0].seed, Stream.CALIBRATION)
    null = Null(result.null.kind, toys, np.ones(len(toys), dtype=bool), tail=fit_tail(toys, rng=rng))
    return with_systematics(replace(result, statistic=t, null=null), varied, reference, calibration.closures)


@dataclass(frozen=True, eq=False)
class _Judged:
    """Data at one point, beside its toys."""

    evaluation: Evaluation
    n_map_toys: int
    statistic: float
    toys: Array

    @classmethod
    def of(
        cls,
        k: int,
        calibration: UncertainCalibration,
        plans: tuple[Plan, ...],
        reference: Sample,
        data: Sample,
        effects: Effects,
        folder: Path,
        memory: int,
    ) -> _Judged:
        point = calibration.points[k]
        widths = [KeptAtNu.from_arrays(a) for a in read_kept(folder, f"widths/point-{k}", point.kept)]
        kept = {width.model.basis.kernel.width: width for width in widths}
        ladder = kept_ladder_at_nu(kept, plans, reference, data, effects, memory=memory)
        evaluation = Evaluation(ladder, plans[0].combination)
        maps = number_of_map_toys(point.toys.statistics.shape[1])
        combiner = Combiner.of(ladder, plans[0].combination, point.toys, maps)
        return cls(
            evaluation,
            maps,
            float(combiner.statistic(evaluation.statistics)[0]),
            combiner.null_statistics(point.toys),
        )


def _by_own_toys(
    varied: VariedPlan, toys: int, plans: tuple[Plan, ...], reference: Sample, data: Sample, memory: int
) -> SearchResult:
    """As in a search: toys at the nuisances that fit the data."""
    place = ", ".join(str(one) for one in nuisances_of(varied))
    warnings.warn(
        f"the data fit best at {place}, outside of the values at which the calibration has toys: {toys} toys of their "
        "own are made, which takes as long as a search",
        NullWarning,
        stacklevel=4,
    )
    recipe = Recipe(plans, reference, data, varied=varied)
    with Local().start(recipe, memory=memory, progress=None) as workers:
        made = run_toys(workers, toys, folder=None, events_digest="")
        return Evaluation(workers.prepared, plans[0].combination).result(made, number_of_map_toys(toys))


def _toys_at(folder: Path, k: int) -> Path:
    return folder / "toys" / f"point-{k}"


def _digest(digest: str, nuisances: LearnedNuisances, nu: Array) -> str:
    """What the toys of a point depend on."""
    return f"{digest} {digest_of_arrays(nuisances.to_arrays())} {nu.tolist()}"


def _named(progress: Progress | None, k: int, points: int) -> Progress | None:
    """Progress that says at which point of the design it is."""
    if progress is None:
        return None

    def told(what: str, done: int, total: int) -> None:
        progress(f"{what}, point {k + 1} of {points}", done, total)

    return told
