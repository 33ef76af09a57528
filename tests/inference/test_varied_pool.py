"""Toys at fitted nuisance parameters: each against the sums over its own events."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lanner.events import Sample
from lanner.inference.multiscale import Ladder, Recipe
from lanner.inference.plan import plan_scales
from lanner.inference.varied_experiment import VariedExperiment, VariedPlan, VariedScheme
from lanner.inference.varied_pool import VariedPool
from lanner.model.backend import arrays_on
from lanner.settings import FitSettings
from lanner.uncertainties.effects import GlobalNormalisation, KnownRatio, Nuisances
from lanner.uncertainties.profile import Profile

SIZE, N = 0.1, 400.0
RNG = np.random.default_rng(1)
REFERENCE = Sample.of(RNG.exponential(size=(30_000, 1)))
DATA = Sample.of(RNG.exponential(1.1, size=(430, 1)))


def scale(features: np.ndarray, nu: float) -> np.ndarray:
    return np.asarray(features[:, 0] * (1 - np.exp(-nu * SIZE)) - nu * SIZE)


BOTH = Nuisances((KnownRatio("scale", scale), GlobalNormalisation("yield", SIZE)))
SCALE = Nuisances((KnownRatio("scale", scale),))


def ladder(expected: float | None = N, nuisances: Nuisances = BOTH, bunch: int | None = None, **how: Any) -> Ladder:
    settings = FitSettings(seed=4, precision="double", **how)
    plans = plan_scales(REFERENCE, DATA, expected=expected, settings=settings)
    plans = tuple(p if bunch is None else replace(p, bunch=bunch) for p in plans)
    varied = VariedPlan.of(nuisances, plans[0], REFERENCE, DATA)
    return Recipe(plans, REFERENCE, DATA, varied=varied).prepare(2 * 10**9)


@pytest.mark.parametrize(("expected", "nuisances"), [(N, BOTH), (None, SCALE)], ids=["rate", "shape"])
@pytest.mark.parametrize("bunch", [1, 7])
def test_u_of_a_toy_is_that_of_its_own_events_and_nuisances(
    expected: float | None, nuisances: Nuisances, bunch: int
) -> None:
    made = ladder(expected, nuisances, bunch)
    experiment = made.first
    assert isinstance(experiment, VariedExperiment)
    pool, scheme = experiment.pool, experiment.scheme
    assert isinstance(pool, VariedPool)
    assert isinstance(scheme, VariedScheme)
    bunches, varied = pool.bunches, pool.varied
    phi = pool.basis.features(experiment.plan.units.apply(REFERENCE.features))
    draws = [scheme.toy(i) for i in range(8)]
    taken = pool.taken(draws)
    effects = nuisances.of(REFERENCE.features)
    for k, draw in enumerate(draws):
        events = np.concatenate([bunches.events[bunches.starts[r] : bunches.starts[r + 1]] for r in draw.data])
        data, kept = events[varied.accepted[events]], np.setdiff1d(np.arange(len(REFERENCE)), events)
        assert len(data) == draw.data_size == taken.number[k]
        r = np.exp(effects.at(varied.nu + taken.delta[k])[0][kept])
        a = N / len(kept) if expected is not None else len(data) / r.sum()
        truth = phi[data].sum(axis=0) - a * (r @ phi[kept])
        np.testing.assert_allclose(pool.sums(taken)[:, k], truth, atol=0.01 * N**0.5)
        predicted = len(data) if expected is None else a * r.sum()
        assert taken.predicted[k] == pytest.approx(predicted, abs=0.02 * N**0.5)


@pytest.mark.parametrize(("expected", "nuisances"), [(N, BOTH), (None, SCALE)], ids=["rate", "shape"])
def test_the_data_have_the_nuisances_that_fit_them(expected: float | None, nuisances: Nuisances) -> None:
    made = ladder(expected, nuisances)
    pool = made.first.pool  # type: ignore[attr-defined]
    taken = pool.taken(made.first.data_draws(1))
    np.testing.assert_allclose(taken.delta, 0.0, atol=1e-5)
    assert taken.number[0] == len(DATA)
    units = made.first.plan.units
    phi = pool.basis.features(units.apply(REFERENCE.features))
    of_data = pool.basis.features(units.apply(DATA.features)).sum(axis=0)
    r = np.exp(nuisances.of(REFERENCE.features).at(pool.varied.nu)[0])
    a = N / len(REFERENCE) if expected is not None else len(DATA) / r.sum()
    np.testing.assert_allclose(pool.sums(taken)[:, 0], of_data - a * (r @ phi), atol=1e-4)


def test_another_library_of_arrays_gives_the_same() -> None:
    pytest.importorskip("torch")
    plans = plan_scales(REFERENCE, DATA, expected=N, settings=FitSettings(seed=4, precision="double"))[-2:]
    varied = VariedPlan.of(BOTH, plans[0], REFERENCE, DATA)
    here, there = (
        Ladder.prepare(plans, REFERENCE, DATA, memory=10**9, arrays=arrays_on(device), varied=varied)
        for device in ("cpu", "torch")
    )
    for one, other in zip(here.fit_toys(range(10)), there.fit_toys(range(10)), strict=True):
        np.testing.assert_allclose(one.statistic, other.statistic, rtol=1e-6, atol=1e-6)


def test_toys_may_take_single_events_of_a_signal() -> None:
    plans = plan_scales(REFERENCE, None, expected=N, settings=FitSettings(seed=4, precision="double"))
    none = np.zeros(2)
    varied = VariedPlan(BOTH, Profile(none, np.eye(2), 0.0, N), none)
    one_by_one = Recipe(plans, REFERENCE, DATA, varied=varied, as_one=False).prepare(2 * 10**9)
    as_one = Recipe(plans, REFERENCE, DATA, varied=varied).prepare(2 * 10**9)
    scheme = one_by_one.first.scheme
    assert isinstance(scheme, VariedScheme)
    assert len(scheme.data_rows) == len(DATA)
    every = replace(as_one.first.scheme.data(0), rows=len(scheme.bunches), data=scheme.data_rows, sizes=scheme.counts)
    for one, other in zip(one_by_one.fit([every]), as_one.fit_data(1), strict=True):
        np.testing.assert_allclose(one.statistic, other.statistic, rtol=1e-6, atol=1e-6)
    toy = scheme.with_signal(3, 20.0, alone=False)
    assert toy.auxiliary is not None
    signal = toy.data[toy.data >= scheme.bunches.drawn]
    assert 5 < len(signal) < 45
    assert toy.data_size - len(signal) == scheme.toy(10**9 * 20_001 + 3).data_size
