"""An experiment whose toys are fitted, against fits in double precision from the events alone."""

from typing import Any

import numpy as np
import pytest

from lanner.events import Sample
from lanner.inference.experiment import Experiment
from lanner.inference.fit_experiment import FitExperiment
from lanner.inference.layout import reference_scheme
from lanner.inference.plan import Plan, plan_one
from lanner.model.weightings import DATA, REFERENCE, roles_of
from lanner.settings import FitSettings
from tests.conftest import Dense, exponential

R, D = (Sample.of(x) for x in exponential(3000, 100, seed=1))
MEMORY = 10**8


def plan(reference: Sample = R, **settings: Any) -> Plan:
    how: dict[str, Any] = {"width": 0.5, "penalty": 1e-5, "centers": 40, "precision": "double", "tolerance": 1e-8}
    return plan_one(reference, D, expected=100.0, settings=FitSettings(**(how | settings)))


def prepared(reference: Sample = R, make_events: Any = None, **settings: Any) -> FitExperiment:
    return FitExperiment.prepare(plan(reference, **settings), reference, D, memory=MEMORY, make_events=make_events)


def dense(experiment: Experiment, roles: np.ndarray) -> Dense:
    """The fit of what each event is, from the scaled events and the pivots alone."""
    made = experiment.plan
    phi = experiment.basis.features(made.units.apply(np.vstack([R.features, D.features])))
    weights = experiment.reference.weights
    v0 = np.append(np.ones(3000) if weights is None else weights, np.ones(100)) * (roles == REFERENCE)
    return Dense(
        phi, v0 * made.expected / v0.sum(), (roles == DATA) * 1.0, made.penalty * np.count_nonzero(roles), made.loss
    )


@pytest.mark.parametrize("null", ["reference", "permutation"])
def test_a_toy_is_the_fit_of_what_its_scheme_draws(null: str) -> None:
    experiment = prepared(null=null)
    found = experiment.fit_toys([3, 8])
    for column, toy in enumerate((3, 8)):
        truth = dense(experiment, experiment.scheme.toy(toy).roles())
        assert found.statistic[column] == pytest.approx(truth.statistic(truth.minimum()), rel=1e-5)


def test_a_toy_of_a_weighted_reference_is_too() -> None:
    experiment = prepared(Sample(R.features, R.names, np.linspace(0.5, 1.0, 3000)))
    truth = dense(experiment, experiment.scheme.toy(5).roles())
    assert experiment.fit_toys([5]).statistic[0] == pytest.approx(truth.statistic(truth.minimum()), rel=1e-5)


def test_draws_are_fitted_as_what_each_event_is_to_them() -> None:
    experiment = prepared()
    draws = [experiment.scheme.toy(0), *experiment.data_draws(1)]
    np.testing.assert_array_equal(
        experiment.fit(draws).statistic, experiment.fit_roles(roles_of(draws)).statistic
    )  # fmt: skip


def test_the_datas_fit_takes_all_of_them() -> None:
    assert all(d.data.tolist() == list(range(3000, 3100)) for d in prepared().data_draws(3))


def test_centres_of_fits_are_never_a_toys_data() -> None:
    experiment = prepared()
    held_out = reference_scheme(experiment.plan, R, len(D)).held_out
    assert len(held_out) == 40
    for toy in range(20):
        assert not np.isin(experiment.scheme.toy(toy).data, held_out).any()


def test_another_penalty_shares_the_features() -> None:
    experiment = prepared()
    other = experiment.at_penalty(plan(penalty=1e-3))
    assert other.pool.features is experiment.pool.features
    truth = dense(other, other.scheme.toy(0).roles())
    assert other.fit_toys([0]).statistic[0] == pytest.approx(truth.statistic(truth.minimum()), rel=1e-5)


def test_the_ratio_is_the_fit_at_any_event() -> None:
    experiment = prepared()
    draw = experiment.data_draws(1)
    solution = experiment.fit(draw)
    truth = dense(experiment, draw[0].roles())
    ratio = experiment.ratio(solution)
    np.testing.assert_allclose(ratio.log_ratio(R.features[:50]), truth.phi[:50] @ truth.minimum(), atol=1e-4)


def test_a_generated_toy_is_the_fit_of_its_own_events() -> None:
    experiment = prepared(make_events=lambda n, rng: rng.exponential(1 / 8, (n, 1)), null="generator")
    toy = experiment.generate(2)
    roles = toy.weightings.roles[:, 0]
    v0 = (roles == REFERENCE) * 100.0 / np.count_nonzero(roles == REFERENCE)
    phi = experiment.basis.features(toy.events)
    truth = Dense(phi, v0, (roles == DATA) * 1.0, experiment.plan.penalty * len(roles), experiment.plan.loss)
    assert experiment.fit_generated(toy).statistic[0] == pytest.approx(truth.statistic(truth.minimum()), rel=1e-5)


def test_reach_is_that_of_events_which_may_be_a_toys_data() -> None:
    experiment = prepared(width=0.05)
    phi = experiment.basis.features(experiment.plan.units.apply(np.vstack([R.features, D.features])))
    residuals = 1 - (phi**2).sum(axis=1)
    term = experiment.reach()
    np.testing.assert_allclose(term.by_row, residuals, atol=1e-8)
    np.testing.assert_allclose(term.of_data, residuals[3000:], atol=1e-8)
    free = np.delete(residuals[:3000], reference_scheme(experiment.plan, R, 100).held_out)
    assert term.mean == pytest.approx((free.sum() + 1) / (len(free) + 1))
    assert (term.width, term.expected) == (0.05, 100.0)


def test_relabelled_events_are_all_within_the_null_of_the_reach() -> None:
    experiment = prepared(null="permutation", width=0.05)
    term = experiment.reach()
    assert term.mean == pytest.approx((term.by_row.sum() + 1) / 3101)


def test_what_it_holds_and_how_many_toys_it_takes_together_are_the_pools() -> None:
    experiment = prepared()
    assert experiment.held == experiment.pool.held > 0
    assert experiment.batch_size(10**6) == experiment.pool.batch_size(10**6)
    assert experiment.spectrum is experiment.pool.spectrum
