"""The likelihood ratio with nuisance parameters, against fits of f and nu by another minimiser, with all of log r."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from lanner.inference.multiscale import Ladder, Recipe
from lanner.inference.plan import plan_scales
from lanner.inference.varied_experiment import VariedPlan
from lanner.inference.varied_fit import VariedFitExperiment
from lanner.model.weightings import DATA, REFERENCE
from lanner.settings import FitSettings
from lanner.uncertainties.effects import Effects, Nuisances
from tests.inference.test_varied_pool import BOTH, SCALE, N
from tests.inference.test_varied_pool import DATA as MEASURED
from tests.inference.test_varied_pool import REFERENCE as EVENTS

SETTINGS: dict[str, Any] = {"seed": 4, "precision": "double", "width": 0.5, "centers": 60, "tolerance": 1e-6}


def ladder(expected: float | None = N, nuisances: Nuisances = BOTH, device: str = "cpu", **how: Any) -> Ladder:
    settings = FitSettings(**{**SETTINGS, "penalty": 1e-4, **how})
    plans = plan_scales(EVENTS, MEASURED, expected=expected, settings=settings)
    varied = VariedPlan.of(nuisances, plans[0], EVENTS, MEASURED)
    return Recipe(plans, EVENTS, MEASURED, varied=varied, device=device).prepare(2 * 10**9)


def only(made: Ladder) -> VariedFitExperiment:
    experiment = made.first
    assert isinstance(experiment, VariedFitExperiment)
    return experiment


@dataclass(frozen=True, eq=False)
class Joint:
    """Minus log L of f and nu, with all of log r, and its slope."""

    phi: np.ndarray
    effects: Effects
    data: np.ndarray
    reference: np.ndarray
    auxiliary: np.ndarray
    ridge: float

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        w, nu = np.split(x, [self.phi.shape[1]])
        log_r, d, _ = self.effects.at(nu)
        r = N / len(self.reference) * np.exp((self.phi @ w + log_r)[self.reference])
        slope_w = -self.phi[self.data].sum(axis=0) + r @ self.phi[self.reference] + self.ridge * w
        slope_nu = -d[self.data].sum(axis=0) + r @ d[self.reference] + nu - self.auxiliary
        return 0.5 * self.ridge * float(w @ w) - self.log_l(x), np.concatenate([slope_w, slope_nu])

    def log_l(self, x: np.ndarray) -> float:
        w, nu = np.split(x, [self.phi.shape[1]])
        g, away = self.phi @ w + self.effects.at(nu)[0], nu - self.auxiliary
        r = N / len(self.reference) * np.exp(g[self.reference])
        return float(g[self.data].sum() - r.sum() - 0.5 * away @ away)

    def best(self, nu: np.ndarray) -> float:
        start = np.concatenate([np.zeros(self.phi.shape[1]), nu])
        return self.log_l(minimize(self, start, jac=True, method="BFGS", options={"gtol": 1e-4}).x)


def test_t_is_that_of_a_fit_of_f_and_nu_together() -> None:
    experiment = only(ladder(loss="extended"))
    plan, nu = experiment.plan, experiment.varied.nu
    events = np.concatenate([EVENTS.features, MEASURED.features])
    phi = experiment.basis.features(plan.units.apply(events))
    draws = [*experiment.data_draws(1), *(experiment.scheme.toy(i) for i in range(3))]
    found, roles = experiment.fit(draws), experiment.roles(draws)
    for k, draw in enumerate(draws):
        data, reference = (np.flatnonzero(roles[:, k] == what) for what in (DATA, REFERENCE))
        assert draw.auxiliary is not None
        joint = Joint(phi, BOTH.of(events), data, reference, nu + draw.auxiliary, plan.penalty * plan.events_per_fit)
        truth = 2 * (joint.best(nu) - replace(joint, phi=phi[:, :0]).best(nu))
        assert found.statistic[k] == pytest.approx(truth, abs=0.02 + 0.01 * abs(truth))


@pytest.mark.parametrize(("expected", "nuisances"), [(N, BOTH), (None, SCALE)], ids=["rate", "shape"])
def test_toys_follow_the_law_of_the_projected_moments(expected: float | None, nuisances: Nuisances) -> None:
    made = ladder(expected, nuisances, penalty=1e-3, tolerance=None)
    t = made.fit_toys(range(120))[0].statistic
    law = made.first.analytic_moments()
    assert t.mean() == pytest.approx(law.mean, rel=0.2)
    assert t.std() == pytest.approx(law.std, rel=0.3)


def test_what_a_toy_takes_is_data_where_it_is_accepted_and_never_a_centre() -> None:
    experiment = only(ladder())
    draws = [experiment.scheme.toy(i) for i in range(5)]
    roles = experiment.roles(draws)
    centers = experiment.scheme.bunches.events_of(experiment.scheme.held_out)
    assert (roles[centers] == REFERENCE).all()
    for k, draw in enumerate(draws):
        assert np.count_nonzero(roles[:, k] == DATA) == draw.data_size
        assert experiment.varied.accepted[np.flatnonzero(roles[:, k] == DATA)].all()
    np.testing.assert_allclose(experiment.taken(draws).number, [d.data_size for d in draws])


def test_a_penalty_apart_is_the_same_as_another_plan() -> None:
    one = only(ladder(penalty=1e-3))
    other = only(ladder()).at_penalty(one.plan)
    draws = [one.scheme.toy(0)]
    assert other.basis.rank >= one.basis.rank
    assert one.fit(draws).statistic[0] == pytest.approx(other.fit(draws).statistic[0], rel=1e-2)


def test_another_library_of_arrays_gives_the_same() -> None:
    pytest.importorskip("torch")
    here, there = (ladder(device=device).fit_toys(range(3))[0].statistic for device in ("cpu", "torch"))
    np.testing.assert_allclose(here, there, rtol=1e-5, atol=1e-5)


def test_several_widths_have_the_terms_that_no_scale_sees() -> None:
    made = ladder(width=None, penalty=None, statistic="likelihood-ratio")
    found = made.fit(made.first.data_draws(1))
    assert len(made.scales) > 1
    assert len(found) == len(made.scales) + len(made.terms)
    assert all(np.isfinite(one.statistic).all() for one in found)
