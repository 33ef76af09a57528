"""The reference at the fitted nuisances: the same from functions, from tables, and from a file."""

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.events import Sample
from lanner.events.scaling import Scaling
from lanner.uncertainties.declared import Uncertainty
from lanner.uncertainties.fitted import FittedReference
from lanner.uncertainties.learn import learn
from lanner.uncertainties.learned import LearnedNuisances
from lanner.uncertainties.profile import Profile

REFERENCE = Sample(np.random.default_rng(1).exponential(size=(2000, 1)), ("x",))
NU = np.array([0.5, -1.2, 0.8])
FIT = Profile(NU, np.array([[0.5, 0.1, 0.0], [0.1, 0.8, 0.0], [0.0, 0.0, 1.0]]), 1.0, 100.0)


def nuisances() -> LearnedNuisances:
    x = REFERENCE.features[:, 0]
    given: list[Uncertainty] = [
        lanner.KnownRatio("known", lambda x, nu: 0.1 * nu * x[:, 0] + 0.01 * nu**2),
        lanner.Normalisation("yield", 0.05),
        lanner.Weights("weights", up=1 + 0.1 * np.tanh(x), down=1 - 0.1 * np.tanh(x)),
    ]
    scaling = Scaling.learn(REFERENCE, "robust")
    return learn(given, REFERENCE, expected=100, scaling=scaling).nuisances


def test_it_is_what_the_nuisances_do() -> None:
    every = nuisances()
    fitted = FittedReference.of(every, FIT, REFERENCE.features)
    log_r, slopes, _ = every.of(REFERENCE.features).at(NU)
    found = fitted.at(REFERENCE.features)
    np.testing.assert_allclose(found.ratio, np.exp(log_r), rtol=1e-6)
    np.testing.assert_allclose(found.slopes, slopes, rtol=1e-5, atol=1e-7)
    assert found.covariance is FIT.covariance
    rows = np.array([5, 3, 1999])
    some = fitted.at(REFERENCE.features, rows)
    np.testing.assert_allclose(some.ratio, found.ratio[rows], rtol=1e-9)
    np.testing.assert_allclose(some.slopes, found.slopes[rows], rtol=1e-5)


def test_it_can_be_kept_as_arrays() -> None:
    fitted = FittedReference.of(nuisances(), FIT, REFERENCE.features)
    again = FittedReference.from_arrays(fitted.to_arrays())
    before, after = fitted.at(REFERENCE.features), again.at(REFERENCE.features)
    np.testing.assert_array_equal(before.ratio, after.ratio)
    np.testing.assert_array_equal(before.slopes, after.slopes)
    with pytest.raises(InputError, match="do not fit together"):
        FittedReference.from_arrays(fitted.to_arrays() | {"covariance": np.eye(2)})


def test_functions_of_python_alone_are_kept_too() -> None:
    known = LearnedNuisances((lanner.KnownRatio("known", lambda x, nu: 0.1 * nu * x[:, 0]),))
    fitted = FittedReference.of(known, Profile(NU[:1], np.eye(1), 1.0, 100.0), REFERENCE.features)
    again = FittedReference.from_arrays(fitted.to_arrays()).at(REFERENCE.features)
    np.testing.assert_allclose(again.ratio, np.exp(0.05 * REFERENCE.features[:, 0]), rtol=1e-6)
    with pytest.raises(InputError, match="search's 2000 reference events alone, not of these 7"):
        fitted.at(REFERENCE.features[:7])


def test_without_functions_of_python_other_events_will_do() -> None:
    alone = LearnedNuisances(nuisances().variations[1:])
    fitted = FittedReference.of(alone, Profile(NU[1:], np.eye(2), 1.0, 100.0), REFERENCE.features)
    np.testing.assert_allclose(
        fitted.at(REFERENCE.features[:7]).ratio, fitted.at(REFERENCE.features).ratio[:7], rtol=1e-6
    )
