"""What the studies of uncertainties share: the benchmark in closed form, and data sets judged by toys of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lanner
from internals import Combination, FitSettings, Sample, prepare
from lanner.inference.varied_judge import VariedJudge
from lanner.uncertainties.effects import GlobalNormalisation, Nuisances
from lanner.uncertainties.profile import Profile

EXPECTED = 2000.0
Array = NDArray[np.float64]


def scale_of(size: float) -> Callable[[Array, float], Array]:
    """Log r of an exponential of mean 1 whose scale is e^(nu size)."""
    return lambda x, nu: np.asarray(x[:, 0] * (1 - np.exp(-nu * size)) - nu * size)


def exact(size: float) -> Nuisances:
    """The scale and the normalisation of the benchmark, uncertain by a size each; none, where it is 0."""
    if size == 0:
        return Nuisances(())
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
        null = np.stack([s.statistic for s in ladder.fit_toys(range(toys))])
        own = np.stack([s.statistic for s in ladder.fit_data(1)])
        if len(null) == 1:
            return OwnToys(int(np.count_nonzero(null[0] >= own[0])), toys, profile)
        combined = Combination.freeze("harmonic", ladder.laws(), null[:, : toys // 3])
        t = combined(null[:, toys // 3 :])
        return OwnToys(int(np.count_nonzero(t >= combined(own)[0])), len(t), profile)
