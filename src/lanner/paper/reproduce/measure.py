"""What every data set is asked: null and signal toys, with which features, loss and size of the reference."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from lanner.comparison.power import power
from lanner.comparison.strengths import Power
from lanner.errors import NullWarning
from lanner.events import Sample
from lanner.inference.experiment import Experiment
from lanner.inference.resampling import room_for_data
from lanner.paper.datasets.library import Library
from lanner.paper.ideal import Cut, likelihood_ratio_z, supervised
from lanner.paper.reproduce.cases import Case, SignalCase
from lanner.paper.reproduce.stages import Numbers
from lanner.paper.settings import paper_settings
from lanner.run.prepare import prepare
from lanner.settings import FitKeywords, FitSettings
from lanner.typing import Columns, Progress

SIGNAL_EVENTS = 10_000


@dataclass(frozen=True)
class Setting:
    """How one series of toys is made; what is None is the case's own."""

    features: tuple[str, ...]
    width: float
    loss: str = "logistic"
    reference_size: int | None = None
    penalty: float | None = None
    centers: int | None = None
    converged: bool = False  # the paper takes one Newton step

    def options(self, case: Case, *, seed: int) -> FitKeywords:
        """The keyword arguments of `power` and `search`."""
        size = self.reference_size or case.reference_size
        return ({} if self.converged else paper_settings()) | {
            "width": self.width,
            "penalty": self.penalty or case.penalty,
            "centers": min(self.centers or case.centers, max(2, size // 2)),
            "loss": self.loss,
            "scaling": case.scaling,
            "reference_size": size,
            "seed": seed,
        }


@dataclass(frozen=True)
class Events:
    """The samples of a case: a pool of background, and the signals."""

    case: Case
    library: Library

    def background(self, reference_size: int) -> Columns:
        """N0 events and the room for a data sample, or three times N(0) where that is more."""
        return self.library.events("background", pool_size(self.case, reference_size))

    def signal(self, signal: SignalCase) -> Columns:
        """Enough for every strength, and so many that toys do not share the shape of a small sample."""
        largest = max(signal.strengths)
        least = SIGNAL_EVENTS if self.case.toys >= 100 else SIGNAL_EVENTS // 10
        return self.library.events(signal.name, max(least, int(1.2 * (largest + 10 * largest**0.5))))


def pool_size(case: Case, reference_size: int) -> int:
    """How many background events a series of toys draws from."""
    room = room_for_data(case.expected, None)
    return max(reference_size, int(2 * case.expected), room) + room


def sample_of(columns: Columns, features: Sequence[str]) -> Sample:
    """Some columns as a sample."""
    return Sample(np.column_stack([columns[name] for name in features]), tuple(features))


@contextmanager
def _sizes_of_the_paper() -> Iterator[None]:
    """A reference that is small for toys of its own is then no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NullWarning)
        yield


def sensitivity(
    events: Events,
    setting: Setting,
    signals: Sequence[SignalCase],
    *,
    folder: Path,
    memory: str | None,
    seed: int,
    progress: Progress | None,
) -> Numbers:
    """Null toys, and toys with each signal at each strength."""
    case = events.case
    options = setting.options(case, seed=seed)
    reference = sample_of(events.background(setting.reference_size or case.reference_size), setting.features)
    found: list[Numbers] = []
    null: Numbers = {}
    for number, signal in enumerate(signals):
        with _sizes_of_the_paper():
            made = power(
                reference,
                sample_of(events.signal(signal), setting.features),
                expected=case.expected,
                signal_events=signal.strengths,
                toys=case.toys,
                experiments=case.experiments,
                alone=signal.alone,
                label=signal.name,
                output=folder,
                memory=memory,
                progress=None if progress is None else _part(progress, number, len(signals)),
                **options,
            )
        null = null or _null_numbers(made)
        dof = null["dof"]
        found += [
            {
                "signal": signal.name,
                "signal_events": s.signal_events,
                "t": s.statistics.tolist(),
                "z_analytic": np.asarray(s.z_analytic).tolist(),
                "z_empirical": s.z_empirical.tolist(),
                "z_chi2": stats.norm.isf(stats.chi2.sf(s.statistics, dof)).tolist(),
            }
            for s in made.strengths
        ]
    return {"null": null, "strengths": found, "options": options | {"features": list(setting.features)}}


def _part(progress: Progress, number: int, parts: int) -> Progress:
    return lambda what, done, total: progress(what, number * total + done, parts * total)


def _null_numbers(made: Power) -> Numbers:
    null = made.null
    chi2, analytic = null.chi2, null.analytic
    assert analytic is not None
    return {
        "t": null.statistics.tolist(),
        "converged": int(null.converged.sum()),
        "not_positive": int(np.count_nonzero(null.statistics <= 0)),
        # No chi2 has toys with t <= 0; the closest one is then the paper's, which is how it has chosen its own.
        "dof": closest_dof(null.statistics) if chi2 is None else chi2.dof,
        "dof_error": None if chi2 is None else chi2.dof_error,
        "goodness_of_fit": None if chi2 is None else chi2.goodness_of_fit,
        "analytic_mean": analytic.mean,
        "analytic_std": analytic.std,
        "analytic_weights": analytic.weights[:4000].tolist(),
        "analytic_confirmed": bool(null.analytic_confirmed),
    }


def closest_dof(t: NDArray[np.float64]) -> float:
    """The degrees of freedom of the chi2 with the least Kolmogorov-Smirnov distance from all toys, t <= 0 included."""
    start = max(float(np.median(t)) + 2 / 3, 1.0)  # the median of a chi2 is about its dof less 2/3
    found = optimize.minimize_scalar(
        lambda dof: stats.kstest(t, stats.chi2(dof).cdf).statistic, bounds=(0.5 * start, 2 * start), method="bounded"
    )
    return float(found.x)


def seconds_per_toy(events: Events, setting: Setting, *, memory: str | None, seed: int, toys: int = 100) -> Numbers:
    """What the one-off preparation and a toy take, measured on a batch of null toys."""
    case = events.case
    settings = FitSettings(**setting.options(case, seed=seed))
    reference = sample_of(events.background(case.reference_size), setting.features)
    start = time.perf_counter()
    experiment = prepared_experiment(reference, case, settings, memory)
    prepared = time.perf_counter()
    experiment.fit_toys(range(toys))
    end = time.perf_counter()
    return {
        "prepare": prepared - start,
        "per_toy": (end - prepared) / toys,
        "toys": toys,
        "rank": experiment.basis.rank,
        "trace_error": experiment.basis.trace_error,
        "all_in": (prepared - start) / case.toys + (end - prepared) / toys,
    }


def prepared_experiment(reference: Sample, case: Case, settings: FitSettings, memory: str | None) -> Experiment:
    """An experiment at one width, ready for toys."""
    with _sizes_of_the_paper():
        job = prepare(reference, expected=case.expected, settings=settings, memory=memory)
    return job.recipe.prepare(job.memory).first


def ideal_significances(events: Events) -> Numbers:
    """Z of the test that knows the signal, for each signal and strength, and how it was found."""
    case, library = events.case, events.library
    if case.name == "one-dimensional":
        from lanner.paper.datasets.one_dimensional import ideal_significance

        return {
            "method": "exact likelihood ratio (compound Poisson, FFT)",
            "z": {
                s.name: [ideal_significance(s.name, n, expected=case.expected) for n in s.strengths]
                for s in case.signals
            },
        }
    z: dict[str, list[float]] = {}
    if case.name == "dimuon":
        simulated = 3 * case.training // 2 if case.toys < 100 else 2 * case.training
        background = library.events("background", simulated)["mll"]
        for s in case.signals:
            signal = library.events(s.name, simulated // 8 if s.mass else 3 * simulated // 8)["mll"]
            if s.mass is not None:
                cut = Cut(background, signal)
                z[s.name] = [cut.around_z(s.mass, expected=case.expected, signal_events=n) for n in s.strengths]
            else:
                z[s.name] = [_binned_z(background, signal, case.expected, n) for n in s.strengths]
        return {"method": "cut and count in m_ll; binned likelihood ratio for the contact interaction", "z": z}
    names = (*case.low_level, *case.high_level)
    for s in case.signals:
        background = sample_of(library.events("background", 2 * case.training), names).features
        signal = sample_of(library.events(s.name, 3 * case.training // 2), names).features
        cut, auc = supervised(background, signal, training=case.training)
        z[s.name] = [cut.above_z(expected=case.expected, signal_events=n) for n in s.strengths]
    return {"method": f"gradient-boosted trees, {case.training} events of each kind, cut and count", "z": z, "auc": auc}


def _binned_z(background: Any, alternative: Any, expected: float, total: float, least: int = 40) -> float:
    """Binned in m_ll, with at least `least` simulated background events in a bin."""
    edges = np.exp(np.linspace(np.log(background.min()), np.log(background.max()), 60))
    counts = np.histogram(background, edges)[0]
    kept, since = [0], 0
    for i, n in enumerate(counts):
        since += n
        if since >= least:
            kept.append(i + 1)
            since = 0
    kept[-1] = len(edges) - 1
    edges = edges[kept]
    edges[0], edges[-1] = 0.0, np.inf
    null = expected * np.histogram(background, edges)[0] / len(background)
    return likelihood_ratio_z(null, total * np.histogram(alternative, edges)[0] / len(alternative))
