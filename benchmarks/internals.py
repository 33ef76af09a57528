"""What the studies use of Lanner beneath its public names, in one place: a change inside is followed here.

`bench_engine.py` measures the engine itself and is the other place.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import lanner
from lanner._util.files import write_atomically
from lanner._util.machine import memory_budget
from lanner._util.text import is_beyond, markdown_table, three_digits
from lanner.comparison import NAMES, PUBLISHED, Kernel, Network, ToyPool
from lanner.comparison.compare import shared_settings
from lanner.comparison.runner import TestRunner
from lanner.comparison.tests.classifier import NULLS, STATISTICS
from lanner.comparison.tests.kernel import PreparedKernel
from lanner.comparison.tests.network.neural_test import PreparedNetwork
from lanner.comparison.toy_pool import NullToys, SignalToys
from lanner.events import Sample
from lanner.events.io.write import write_columns
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.analytic import LawMoments
from lanner.inference.combination import Combination, PMap, number_of_map_toys
from lanner.inference.fit_experiment import FitExperiment
from lanner.inference.multiscale import Ladder, Recipe
from lanner.inference.plan import Plan
from lanner.inference.resampling import PermutationScheme, ReferenceScheme, room_for_data
from lanner.inference.scales import COARSE, FINE, penalty_for
from lanner.inference.score_experiment import ScoreExperiment
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.significance import empirical_z, fit_chi2, z_of_log_p
from lanner.model.backend import NUMPY
from lanner.model.bunches import Bunches
from lanner.model.features import PRECISIONS, StoredFeatures
from lanner.model.kernel import pairwise_width
from lanner.model.loss import loss_by_name
from lanner.model.moments import Moments, MomentSums
from lanner.model.score_model import ScoreModel
from lanner.model.splits import NEVER
from lanner.model.summing import moment_labels
from lanner.model.weightings import Draw
from lanner.monitor.calibration import MonitorCalibration, Rules
from lanner.monitor.judge import BatchVerdict, Judge
from lanner.paper.datasets import one_dimensional
from lanner.paper.datasets.library import Library, experiment_module
from lanner.paper.suite_cases import suite_case
from lanner.report.plots.style import BLACK, BLUE, GREEN, VERMILION, hep_style
from lanner.run.fingerprint import numbers_version
from lanner.run.prepare import prepare
from lanner.run.toy_maker import run_toys
from lanner.settings import FitKeywords, FitSettings
from lanner.typing import Progress

__all__ = [
    "BLACK",
    "BLUE",
    "COARSE",
    "FINE",
    "GREEN",
    "NAMES",
    "NEVER",
    "NULLS",
    "NUMPY",
    "PRECISIONS",
    "PUBLISHED",
    "STATISTICS",
    "VERMILION",
    "BatchVerdict",
    "Bunches",
    "Combination",
    "Draw",
    "FitKeywords",
    "FitSettings",
    "Fits",
    "Judge",
    "Kernel",
    "Ladder",
    "LawMoments",
    "Library",
    "MomentSums",
    "Moments",
    "MonitorCalibration",
    "Network",
    "NullToys",
    "PMap",
    "PermutationScheme",
    "Plan",
    "PreparedKernel",
    "Progress",
    "ReferenceScheme",
    "Rules",
    "SameToys",
    "Sample",
    "ScaledRows",
    "ScoreExperiment",
    "ScoreModel",
    "SignalToys",
    "StoredFeatures",
    "Stream",
    "TestRunner",
    "ToyPool",
    "analytic_quantile",
    "empirical_z",
    "experiment_module",
    "fit_chi2",
    "hep_style",
    "is_beyond",
    "loss_by_name",
    "markdown_table",
    "memory_budget",
    "moment_labels",
    "number_of_map_toys",
    "numbers_version",
    "one_dimensional",
    "pairwise_width",
    "penalty_for",
    "prepare",
    "rng_of",
    "room_for_data",
    "suite_case",
    "three_digits",
    "write_atomically",
    "write_columns",
    "z_of_log_p",
]


def analytic_quantile(made: lanner.Calibration) -> Callable[[float], float]:
    """The analytic null of a calibration's first scale: t beyond which it leaves a probability."""
    ladder = Ladder.prepare(made.plans, made.reference, None, memory=memory_budget(None))
    law = ladder.first.analytic_null()
    return lambda p: float(law.isf(p))


@dataclass(frozen=True, eq=False)
class Fits:
    """The fits of a search's null toys, with nothing around them."""

    recipe: Recipe
    memory: int

    @classmethod
    def plan(
        cls,
        reference: Any,
        *,
        expected: float,
        statistic: str,
        width: float,
        penalty: float,
        centers: int,
        device: str,
        memory: int,
    ) -> Fits:
        """Decide on the settings; no feature is computed yet."""
        settings = FitSettings(statistic=statistic, width=width, penalty=penalty, centers=centers, seed=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lanner.errors.NullWarning)  # times do not depend on the ratio of sizes
            job = prepare(reference, expected=expected, settings=settings, memory=memory, device=device)
        return cls(job.recipe, job.memory)

    def run(self, toys: int) -> dict[str, Any]:
        """Seconds to prepare and to fit, passes over the events, rank and storage, in this process."""
        start = time.perf_counter()
        ladder = self.recipe.prepare(self.memory)
        prepared = time.perf_counter()
        size = ladder.batch_size(toys)
        passes = 0
        for first in range(0, toys, size):
            (solution,) = ladder.fit_toys(range(first, min(first + size, toys)))
            passes += int(solution.iterations.max())
        done = time.perf_counter()
        return {"prepare": prepared - start, "fit": done - prepared, "passes": passes} | _features(ladder)

    def run_on_workers(self, toys: int, workers: int) -> dict[str, Any]:
        """The same on single-threaded Dask workers; the features, which each of them builds, are timed apart."""
        from lanner.run.execution.dask_cluster import local_cluster
        from lanner.run.execution.dask_worker import prepare as prepare_worker

        # For this process; workers have what Dask gives a thread of this machine, one as well as two.
        share = self.memory // 3
        with local_cluster(workers) as client:
            start = time.perf_counter()
            executor = lanner.Dask(client=client, threads=1)
            with executor.start(replace(self.recipe), memory=share) as running:
                name = running._name  # type: ignore[attr-defined]
                addresses = client.scheduler_info()["workers"]
                client.gather([client.submit(prepare_worker, name, workers=[w], pure=False) for w in addresses])
                prepared = time.perf_counter()
                run_toys(running, toys, folder=None, events_digest="")
                done = time.perf_counter()
                found: dict[str, Any] = client.submit(_features_of_worker, name).result()
        return {"prepare": prepared - start, "fit": done - prepared, "passes": 0} | found


def worker_cluster(workers: int) -> AbstractContextManager[Any]:
    """A client of single-threaded Dask workers on this machine."""
    from lanner.run.execution.dask_cluster import local_cluster

    return local_cluster(workers)


def _features(ladder: Ladder) -> dict[str, Any]:
    first = ladder.first
    assert isinstance(first, FitExperiment | ScoreExperiment)
    return {"rank": first.basis.rank, "storage": str(first.pool.features.storage)}


def _features_of_worker(name: str) -> dict[str, Any]:
    """As a task: what a worker has made of the events."""
    from distributed import get_worker

    bench: Any = get_worker().plugins[name]
    return _features(bench.bench._ready())


@dataclass(frozen=True, eq=False)
class SameToys:
    """Null toys that a kernel test and networks can be given alike."""

    pool: ToyPool

    @classmethod
    def of(cls, reference: Any, *, expected: float, reference_size: int, centers: int) -> SameToys:
        """Decide on their sizes."""
        settings = shared_settings(seed=1, centers=centers, reference_size=reference_size)
        return cls(ToyPool.prepare(reference, expected=expected, settings=settings))

    def draws(self, toys: int) -> Sequence[Any]:
        """The first toys."""
        return [self.pool.scheme.toy(i) for i in range(toys)]

    def kernel(self, settings: FitKeywords) -> Any:
        """A kernel test that has seen the events; `.statistics(draws)` judges toys."""
        return Kernel("paper", settings).prepare(self.pool)

    def network(self, network: Network) -> Any:
        """A network that has seen the events; `.train(draws)` trains it on each of the toys."""
        return PreparedNetwork(network, self.pool)
