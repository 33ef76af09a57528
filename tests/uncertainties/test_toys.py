"""The reference at some values of the nuisances, and toys' own fits, against fits to their events themselves."""

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.uncertainties.effects import GlobalNormalisation, KnownRatio, Nuisances
from lanner.uncertainties.profile import Likelihood, profile
from lanner.uncertainties.toys import OwnFits, VariedReference

SIZE, N = 0.1, 500.0
REFERENCE = np.random.default_rng(1).exponential(size=(20_000, 1))
NU = np.array([0.6, -0.8])


def scale(features: np.ndarray, nu: float) -> np.ndarray:
    return np.asarray(features[:, 0] * (1 - np.exp(-nu * SIZE)) - nu * SIZE)


BOTH = Nuisances((KnownRatio("scale", scale), GlobalNormalisation("yield", SIZE)))


def at(nu: np.ndarray, weights: np.ndarray | None = None) -> VariedReference:
    w = np.ones(len(REFERENCE)) if weights is None else weights
    return VariedReference.at(BOTH, nu, BOTH.of(REFERENCE), w, np.random.default_rng(2))


def test_columns_and_powers_give_the_sum_at_other_values() -> None:
    varied, delta = at(NU), np.array([[0.2, -0.15], [0.0, 0.0], [-0.3, 0.1]])
    sums = varied.columns(np.arange(len(REFERENCE))).sum(axis=0)
    found = varied.monomials(delta) @ sums
    truth = [np.exp(BOTH.of(REFERENCE).at(NU + d)[0]).sum() for d in delta]
    np.testing.assert_allclose(found, truth, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_accepted_events_follow_the_varied_density(weighted: bool, rng: np.random.Generator) -> None:
    weights = rng.uniform(0.5, 1.5, len(REFERENCE)) if weighted else None
    varied = at(np.array([2.0, 0.0]), weights)
    light = ~varied.heavy
    assert np.mean(varied.heavy) == pytest.approx(0.02, abs=1e-3)
    assert varied.accepted[varied.heavy].all()
    x, v = REFERENCE[light & varied.accepted, 0], varied.varied[light]
    assert x.mean() == pytest.approx(float(v @ REFERENCE[light, 0] / v.sum()), abs=4 * x.std() / len(x) ** 0.5)
    assert np.mean(varied.accepted[light]) == pytest.approx(varied.efficiency, abs=0.02)


def test_the_yield_grows_as_the_nuisances_say() -> None:
    assert at(np.array([0.0, 1.5])).growth == pytest.approx(np.exp(0.15))


def test_a_reference_of_which_next_to_nothing_would_be_accepted_is_refused() -> None:
    with pytest.raises(InputError, match=r"scale \+90\.00.*times the mean"):
        at(np.array([90.0, 0.0]))


@pytest.mark.parametrize("shape_only", [False, True])
def test_a_toys_own_fit_is_that_of_its_events(shape_only: bool) -> None:
    rng = np.random.default_rng(5)
    varied, nuisances, k = at(NU), BOTH, 2
    if shape_only:  # of which a normalisation has no part
        nuisances, k = Nuisances((KnownRatio("scale", scale),)), 1
        effects = nuisances.of(REFERENCE)
        varied = VariedReference.at(nuisances, NU[:1], effects, np.ones(len(REFERENCE)), np.random.default_rng(2))
    toys = []
    for _ in range(12):
        number = rng.poisson(N * (1.0 if shape_only else varied.growth) / varied.efficiency)
        taken = rng.permutation(np.flatnonzero(~varied.heavy))[:number]
        data, kept = taken[varied.accepted[taken]], np.setdiff1d(np.arange(len(REFERENCE)), taken)
        toys.append((data, kept, rng.standard_normal(k)))
    scale_of = np.array([N / len(kept) for _, kept, _ in toys])
    fits = OwnFits(
        varied.monomials,
        np.array([a for *_, a in toys]),
        np.array([varied.slopes[data].sum(axis=0) for data, *_ in toys]),
        np.array([varied.curvatures[data].sum(axis=0) for data, *_ in toys]),
        np.array([varied.columns(kept).sum(axis=0) for _, kept, _ in toys]),
        scale_of,
        np.array([float(len(data)) for data, *_ in toys]),
        shape_only,
    )
    for delta, (data, kept, a) in zip(fits.solve(), toys, strict=True):
        effects = nuisances.of(REFERENCE)
        truth = profile(
            Likelihood(
                effects.take(data), effects.take(kept), np.full(len(kept), N / len(kept)), varied.nu + a, shape_only
            )
        )
        np.testing.assert_allclose(varied.nu + delta, truth.nu, atol=0.05 * float(truth.errors.min()))
