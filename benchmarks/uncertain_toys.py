"""What the studies of uncertainties share: the benchmark in closed form, and data sets judged by toys of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lanner
from internals import Combination, FitSettings, Sample, empirical_z, prepare
from lanner.inference.varied_design import Design, mixed
from lanner.inference.varied_judge import VariedJudge
from lanner.uncertainties.effects import GlobalNormalisation, Nuisances
from lanner.uncertainties.profile import Profile

EXPECTED = 2000.0
_TOGETHER = 1000  # toys
_FITTED = 20  # data sets, the mean of whose nu^ is where shared toys are made
Array = NDArray[np.float64]


def scale_of(size: float) -> Callable[[Array, float], Array]:
    """Log r of an exponential of mean 1 whose scale is e^(nu size)."""
    return lambda x, nu: np.asarray(x[:, 0] * (1 - np.exp(-nu * size)) - nu * size)


def exact(size: float) -> Nuisances:
    """The scale and the normalisation of the benchmark, uncertain by a size each; 0 stands for next to nothing."""
    size = max(size, 1e-9)
    return Nuisances((lanner.KnownRatio("scale", scale_of(size)), GlobalNormalisation("normalisation", size)))


def null_data(size: float, truth: tuple[float, float], rng: np.random.Generator) -> tuple[Array, Array]:
    """A data set of the benchmark at true nuisances, and its auxiliary measurement."""
    data = rng.exponential(np.exp(truth[0] * size), size=(rng.poisson(EXPECTED * np.exp(truth[1] * size)), 1))
    return data, rng.normal(truth, 1.0)


@dataclass(frozen=True)
class OwnToys:
    """How a data set stands among toys of its own."""

    exceedances: int
    toys: int
    profile: Profile

    def p(self, rng: np.random.Generator) -> float:
        """The p-value, spread over its step."""
        return float((self.exceedances + rng.random()) / (self.toys + 1))


def _batches(toys: int) -> list[range]:
    return [range(first, min(first + _TOGETHER, toys)) for first in range(0, toys, _TOGETHER)]


def _statistics(found: Sequence[Any]) -> Array:
    return np.stack([solution.statistic for solution in found])


@dataclass(frozen=True, eq=False)
class UncertainReference:
    """A reference with its uncertainties, against which many data sets are judged as `search` judges one."""

    judge: VariedJudge

    @classmethod
    def of(
        cls, reference: Any, nuisances: Nuisances, *, seed: int, expected: float = EXPECTED, **settings: Any
    ) -> UncertainReference:
        """Plan as `search` does, and keep features."""
        sample, fit = Sample.of(reference), FitSettings(seed=seed, **settings)
        job = prepare(sample, expected=expected, settings=fit, memory="4 GB", uncertain=True)
        return cls(VariedJudge.of(job.plans, sample, nuisances, memory=job.memory))

    def judged(self, data: Any, auxiliary: Array, toys: int) -> OwnToys:
        """A data set by toys at the nuisances that fit it; of several scales, a third of them make these comparable."""
        sample = Sample.of(data)
        profile = self.judge.profile(sample, auxiliary)
        ladder = self.judge.ladder(profile.nu, [sample], auxiliary[None])
        null, own = _statistics(ladder.fit_toys(range(toys))), _statistics(ladder.fit_data(1))
        if len(null) == 1:
            return OwnToys(int(np.count_nonzero(null[0] >= own[0])), toys, profile)
        combined = Combination.freeze("harmonic", ladder.laws(), null[:, : toys // 3])
        t = combined(null[:, toys // 3 :])
        return OwnToys(int(np.count_nonzero(t >= combined(own)[0])), len(t), profile)

    def judged_together(self, data: Sequence[Any], auxiliary: Array, toys: int, rng: np.random.Generator) -> Array:
        """p-values of data sets by toys that they share, made at the mean nu^ of some of them, spread over their steps.

        Each data set has its own fit of the nuisances, as the toys have. It costs little more than to judge one.
        """
        samples = [Sample.of(one) for one in data]
        fits = [self.judge.profile(one, a).nu for one, a in zip(samples[:_FITTED], auxiliary, strict=False)]
        ladder = self.judge.ladder(np.mean(fits, axis=0), samples, auxiliary)
        null = np.stack([s.statistic for s in ladder.fit_toys(range(toys))])
        own = np.stack([s.statistic for s in ladder.fit([ladder.first.scheme.data(k) for k in range(len(samples))])])
        combined = Combination.freeze("harmonic", ladder.laws(), null[:, : toys // 3])
        t = np.sort(combined(null[:, toys // 3 :]))
        beyond = len(t) - np.searchsorted(t, combined(own), side="left")
        return np.asarray((beyond + rng.random(len(samples))) / (len(t) + 1))

    def with_nuisances(self, nuisances: Nuisances) -> UncertainReference:
        """The same reference, whose features are kept, with other uncertainties."""
        effects = nuisances.of(self.judge.reference.features)
        return UncertainReference(replace(self.judge, nuisances=nuisances, effects=effects))

    def calibrated(self, toys: int) -> CalibratedReference:
        """With toys at a fixed design of nuisances, of which a third make the scales comparable."""
        judge = self.judge
        weights = np.ones(len(judge.reference))
        design = Design.of(judge.effects, weights)
        points = []
        for nu in design.points:
            ladder = judge.ladder(nu)
            null = np.hstack([_statistics(ladder.fit_toys(some)) for some in _batches(toys)])
            combination = Combination.freeze("harmonic", ladder.laws(), null[:, : toys // 3])
            points.append((combination, combination(null[:, toys // 3 :])))
        return CalibratedReference(judge, design, tuple(points))


@dataclass(frozen=True, eq=False)
class CalibratedReference:
    """A reference whose toys were made at a fixed design of nuisances, as `calibrate` makes them."""

    judge: VariedJudge
    design: Design
    points: tuple[tuple[Combination, Array], ...]  # of each point, and its toys

    def significances(self, data: Sequence[Any], auxiliary: Array) -> Array:
        """Z of data sets with their auxiliary measurements; nan where nu^ lies outside of the design."""
        samples = [Sample.of(one) for one in data]
        z, t = np.full(len(samples), np.nan), np.full((len(self.points), len(samples)), np.nan)
        weights = [self.design.weights(self.judge.profile(x, a).nu) for x, a in zip(samples, auxiliary, strict=True)]
        for point, (combination, _) in enumerate(self.points):
            here = [k for k, of_set in enumerate(weights) if of_set is not None and of_set[point] > 0]
            if here:
                ladder = self.judge.ladder(self.design.points[point], [samples[k] for k in here], auxiliary[here])
                draws = [ladder.first.scheme.data(k) for k in range(len(here))]
                t[point, here] = combination(_statistics(ladder.fit(draws)))
        for k, of_set in enumerate(weights):
            if of_set is not None:
                at, null = mixed(of_set, [toys for _, toys in self.points], t[:, k].tolist())
                z[k] = empirical_z(np.array([at]), null)[0]
        return z
