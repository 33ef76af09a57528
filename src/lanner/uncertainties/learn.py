"""From declared uncertainties to nuisance parameters: log r(x; nu) of each, learned once, with its closure.

Everything is learned on each half of the events and tested on the other (`closure`); the average of the two is what
counts, so that no ratio is used that was not tested.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import memory_budget
from lanner._util.progress import PREPARING
from lanner._util.text import joined
from lanner.errors import ClosureWarning, InputError
from lanner.events import Sample, Scaling
from lanner.typing import Array, Progress
from lanner.uncertainties.closure import RESOLUTION, STEPS, Closure, Events, HeldOut, close
from lanner.uncertainties.declared import Normalisation, Process, Shifted, Uncertainty, Weights
from lanner.uncertainties.effects import GlobalNormalisation, KnownRatio, Variation
from lanner.uncertainties.learned import LearnedNuisances, LearnedShare, LearnedVariation, log_ratios
from lanner.uncertainties.matching import match_uncertainties, own_weights, weights_of
from lanner.uncertainties.mean_weight import mean_weights
from lanner.uncertainties.regression import Fitted, least_squares, logistic, second_moments
from lanner.uncertainties.smooth import Part, Smooth, halves, stretch_edges

_LEAST = 200  # events of the reference
_STREAM = 77  # of random numbers: which events are centres


@dataclass(frozen=True, eq=False)
class Learned:
    """Nuisance parameters, and how well each variation closes that was learned."""

    nuisances: LearnedNuisances
    closures: tuple[Closure, ...]


def learn(
    uncertainties: Iterable[Uncertainty],
    reference: Sample,
    *,
    expected: float,
    scaling: Scaling,
    seed: int = 0,
    memory: float | str | None = None,
    progress: Progress | None = None,
) -> Learned:
    """Learn log r(x; nu) of declared uncertainties, and warn where one does not close at `expected` events."""
    matched = match_uncertainties(uncertainties, reference)
    if not expected > 0:
        raise InputError(f"expected={expected!r}: the number of events that the reference predicts must be positive")
    exact = [one for one in matched if isinstance(one, Normalisation | KnownRatio)]
    if len(exact) == len(matched):
        return Learned(LearnedNuisances(tuple(_exact(one) for one in exact)), ())
    if len(reference) < _LEAST:
        raise InputError(f"the reference has {len(reference)} events: give at least {_LEAST} to learn variations from")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_STREAM,)))
    budget = memory_budget(memory)
    told = _counted(progress, matched)
    matched = [_with_local_means(one, scaling, seed, budget) if isinstance(one, Shifted) else one for one in matched]
    school = _School.of(reference, Smooth.choose(reference.features, scaling, rng=rng, memory=budget), budget)
    told()
    variations, held_out = school.taught(matched, told)
    closures = close(
        school.reference,
        held_out,
        names=reference.names,
        expected=expected,
        scaling=scaling,
        rng=rng,
        memory=budget,
        told=told,
    )
    _warn(closures, expected)
    return Learned(LearnedNuisances(variations), closures)


@dataclass(frozen=True, eq=False)
class _Regressed:
    """Coefficients learned on each half, (2, functions, columns), and psi . c at the events of the other half."""

    halves: Array
    unseen: tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class _School:
    """The reference in its halves, with the moments that all variations share."""

    sample: Sample
    smooth: Smooth
    rows: tuple[NDArray[np.intp], NDArray[np.intp]]
    reference: tuple[Events, Events]
    parts: tuple[Part, Part]
    moments: Sequence[Array]
    unit: float  # what weights are multiplied by, to add up to what the events are worth
    memory: int

    @classmethod
    def of(cls, sample: Sample, smooth: Smooth, memory: int) -> _School:
        weights, rows = weights_of(sample), halves(len(sample))
        unit = sample.worth / sample.total_weight
        first, second = _halved(sample, weights)
        stored = _fits(len(sample), smooth, memory)
        parts = (_part(smooth, first, unit, stored), _part(smooth, second, unit, stored))
        return cls(sample, smooth, rows, (first, second), parts, second_moments(parts), unit, memory)

    def taught(
        self, uncertainties: Sequence[Uncertainty], told: Callable[[], None]
    ) -> tuple[tuple[Variation, ...], list[HeldOut]]:
        """The variations in their order, and what closes or not."""
        by_weights = [one for one in uncertainties if isinstance(one, Weights | Process)]
        regressed = self._regressed(by_weights)
        if by_weights:
            told()
        variations: list[Variation] = []
        held_out: list[HeldOut] = []
        for one in uncertainties:
            if isinstance(one, Normalisation | KnownRatio):
                variations.append(_exact(one))
                continue
            if isinstance(one, Shifted):
                variation, tested = self._shifted(one, told)
            elif isinstance(one, Weights):
                variation, tested = self._weights(one, regressed[one.name])
            else:
                variation, tested = self._process(one, regressed[one.name])
            variations.append(variation)
            held_out += tested
        return tuple(variations), held_out

    def _regressed(self, uncertainties: Sequence[Weights | Process]) -> dict[str, _Regressed]:
        """What is learned of weights and processes, by name: one regression for all."""
        own = own_weights(self.sample)
        columns: list[Array] = []
        owners: list[str] = []
        for one in uncertainties:
            if isinstance(one, Process):
                targets = [own * one.label]
            else:
                targets = [side - own for side in (one.up, one.down) if side is not None]
            columns += targets
            owners += [one.name] * len(targets)
        if not columns:
            return {}
        table = np.stack(columns, axis=1) * self.unit
        c = least_squares(self.parts, self.moments, [table[half] for half in self.rows]).halves
        first, second = self._unseen(c)
        places = {one.name: np.flatnonzero(np.array(owners) == one.name) for one in uncertainties}
        return {name: _Regressed(c[:, :, k], (first[:, k], second[:, k])) for name, k in places.items()}

    def _weights(self, one: Weights, learned: _Regressed) -> tuple[Variation, list[HeldOut]]:
        held_out = []
        for k, (direction, side) in enumerate((("up", one.up), ("down", one.down))):
            if side is not None:
                side = self._instead(side)
                first, second = (np.exp(log_ratios(half[:, k], "ratio")) for half in learned.unseen)
                varied = (side[self.rows[0]], side[self.rows[1]])
                held_out.append(HeldOut(one.name, direction, varied, (first, second)))
        return LearnedVariation(one.name, self.smooth, learned.halves.mean(axis=0), "ratio"), held_out

    def _process(self, one: Process, learned: _Regressed) -> tuple[Variation, list[HeldOut]]:
        shares = [np.clip(half[:, 0], 0.0, 1.0) for half in learned.unseen]
        own = own_weights(self.sample)
        held_out = []
        for direction, change in (("up", np.expm1(one.size)), ("down", np.expm1(-one.size))):
            varied = self._instead(own * (1 + change * one.label))
            ratio = (1 + change * shares[0], 1 + change * shares[1])
            held_out.append(HeldOut(one.name, direction, (varied[self.rows[0]], varied[self.rows[1]]), ratio))
        return LearnedShare(one.name, one.size, self.smooth, learned.halves.mean(axis=0)), held_out

    def _instead(self, varied: Array) -> Array:
        """Varied weights as they compare with what stands in for the reference's, without their spread about that.

        Where signs are mixed, most of the fluctuation is in that spread, which varied and nominal weights share.
        """
        if self.sample.toy_weights is None:
            return varied
        return weights_of(self.sample) + (varied - own_weights(self.sample))

    def _shifted(self, one: Shifted, told: Callable[[], None]) -> tuple[Variation, list[HeldOut]]:
        fits: list[Fitted] = []
        held_out = []
        for direction, sample, change in (("up", one.up, one.up_yield), ("down", one.down, one.down_yield)):
            if sample is None or change is None:
                continue
            weights = weights_of(sample) * (change * self.sample.total_weight / sample.total_weight)
            first, second = _halved(sample, weights)
            stored = _fits(len(self.sample) + len(sample), self.smooth, self.memory)
            parts = [_part(self.smooth, half, self.unit, stored) for half in (first, second)]
            fits.append(logistic(self.parts, parts, self.moments, f"{one.name!r} {direction}"))
            values = self._unseen(fits[-1].halves)
            ratio = tuple(np.exp(log_ratios(half[:, 0], "log")) for half in values)
            held_out.append(HeldOut(one.name, direction, (first, second), (ratio[0], ratio[1])))
            told()
        c = np.concatenate([fit.halves for fit in fits], axis=2)
        return LearnedVariation(one.name, self.smooth, c.mean(axis=0), "log"), held_out

    def _unseen(self, c: Array) -> tuple[Array, Array]:
        """psi . c of the reference's events of each half, by the coefficients of the other half."""
        first, second = self.parts
        return first.sums(c[1]), second.sums(c[0])


def _with_local_means(one: Shifted, scaling: Scaling, seed: int, memory: int) -> Shifted:
    """Samples of which some weights are negative, with the local mean that stands in for these."""
    means: dict[str, Any] = {}
    for direction in ("up", "down"):
        sample: Sample | None = getattr(one, direction)
        if sample is None or sample.weights is None or sample.toy_weights is not None or not (sample.weights < 0).any():
            continue
        found = mean_weights(sample, scaling, seed=seed, memory=memory)
        means[direction] = Sample(sample.features, sample.names, sample.weights, toy_weights=found.values)
    return replace(one, **means)


def _counted(progress: Progress | None, uncertainties: Sequence[Uncertainty]) -> Callable[[], None]:
    """A function that tells of one more step: functions, weights, each sample, each width of the closure."""
    sides = [side for one in uncertainties if isinstance(one, Shifted) for side in (one.up, one.down)]
    weights = any(isinstance(one, Weights | Process) for one in uncertainties)
    total = 1 + int(weights) + sum(side is not None for side in sides) + STEPS
    steps = count()

    def told() -> None:
        done = next(steps)
        if progress is not None:
            progress(f"{PREPARING} uncertainties, steps", done, total)

    told()
    return told


def _exact(one: Normalisation | KnownRatio) -> Variation:
    return GlobalNormalisation(one.name, one.size) if isinstance(one, Normalisation) else one


def _halved(sample: Sample, weights: Array) -> tuple[Events, Events]:
    first, second = (
        Events(sample.features[rows], weights[rows], stretch_edges(len(sample), k))
        for k, rows in enumerate(halves(len(sample)))
    )
    return first, second


def _part(smooth: Smooth, events: Events, unit: float, stored: bool) -> Part:
    return Part(smooth, events.features, events.weights * unit, events.edges, stored)


def _fits(events: int, smooth: Smooth, memory: int) -> bool:
    """Whether psi of so many events fits into half of the memory, in single precision."""
    return 4 * events * smooth.number < memory / 2


def _warn(closures: Sequence[Closure], expected: float) -> None:
    failing = [closure for closure in closures if not closure.closes]
    if failing:
        said = [f"{c}, most in {max(c.pulls, key=lambda p: np.abs(p.bias).max()).where()}" for c in failing]
        warnings.warn(
            f"learned variations differ from the varied events by more than {expected:g} expected events allow; biases "
            f"are in standard deviations of these. {joined(said)}. Give more varied events, or see what these regions "
            "have that the others lack",
            ClosureWarning,
            stacklevel=4,
        )
    unknown = [f"{c.name!r} {c.direction} ({c.resolution:.2g})" for c in closures if c.closes and not c.tells]
    if unknown:
        warnings.warn(
            f"there are too few varied events to tell whether these variations are good enough for {expected:g} "
            f"expected events: {joined(unknown)}, in brackets the error of a bias in standard deviations of the data, "
            f"which should be at most {RESOLUTION}. Give more events of the reference and of the variations: fifty "
            "times as many as are expected, or fewer where the samples hold the same events",
            ClosureWarning,
            stacklevel=4,
        )
