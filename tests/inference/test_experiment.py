from typing import Any

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events import Sample
from lanner.inference.experiment import Experiment, reference_scheme
from lanner.inference.plan import plan_one
from lanner.model.weightings import DATA, REFERENCE
from lanner.settings import FitSettings
from tests.conftest import Dense, exponential

R, D = (Sample.of(x) for x in exponential(3000, 100, seed=1))
MEMORY = 10**8


def generator(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.exponential(1 / 8, (n, 1))


def prepared(data: Sample | None = D, make_events: Any = None, **settings: Any) -> Experiment:
    how: dict[str, Any] = {
        "width": 0.5,
        "penalty": 1e-5,
        "centers": 40,
        "precision": "double",
        "tolerance": 1e-8,
    } | settings
    plan = plan_one(R, data, expected=100.0, settings=FitSettings(**how))
    return Experiment.prepare(plan, R, data, memory=MEMORY, make_events=make_events)


def dense(experiment: Experiment, roles: np.ndarray) -> Dense:
    """The fit of what each event is, from the scaled events and the pivots alone."""
    plan, basis = experiment.plan, experiment.pool.features.basis
    events = np.vstack([R.features, D.features]) if experiment.data is not None else R.features
    phi = basis.features(plan.units.apply(events))
    v0 = (roles == REFERENCE) * plan.expected / np.count_nonzero(roles == REFERENCE)
    return Dense(phi, v0, (roles == DATA) * 1.0, plan.penalty * np.count_nonzero(roles), plan.loss)


def test_a_toy_is_the_fit_of_what_its_scheme_draws() -> None:
    experiment = prepared()
    found = experiment.fit_toys([3, 8])
    for column, toy in enumerate((3, 8)):
        truth = dense(experiment, experiment.scheme.toy(toy).roles())
        assert found.statistic[column] == pytest.approx(truth.statistic(truth.minimum()), rel=1e-5)


def test_a_toy_does_not_depend_on_those_beside_it() -> None:
    experiment = prepared(statistic="score")
    together = experiment.fit_toys([0, 1, 2, 3]).statistic
    np.testing.assert_allclose([experiment.fit_toys([i]).statistic[0] for i in range(4)], together, rtol=1e-9)


def test_the_data_are_fitted_with_several_draws_of_the_reference() -> None:
    experiment = prepared()
    draws = experiment.data_draws(3)
    assert len(draws) == 3
    assert all(d.data.tolist() == list(range(3000, 3100)) for d in draws)
    assert not np.array_equal(draws[0].left_out, draws[1].left_out)


def test_an_experiment_without_data_says_so() -> None:
    with pytest.raises(InputError, match="has no data"):
        prepared(data=None).data_draws(1)


def test_centres_are_never_a_toys_data() -> None:
    experiment = prepared()
    held_out = reference_scheme(experiment.plan, R, len(D)).held_out
    assert len(held_out) == 40
    for toy in range(20):
        assert not np.isin(experiment.scheme.toy(toy).data, held_out).any()


def test_another_penalty_shares_the_features() -> None:
    experiment = prepared()
    plan = plan_one(
        R, D, expected=100.0,
        settings=FitSettings(width=0.5, penalty=1e-3, centers=40, precision="double", tolerance=1e-8),
    )  # fmt: skip
    other = experiment.at_penalty(plan)
    assert other.pool.features is experiment.pool.features
    roles = other.scheme.toy(0).roles()
    truth = dense(other, roles)
    assert other.fit_toys([0]).statistic[0] == pytest.approx(truth.statistic(truth.minimum()), rel=1e-5)


def test_the_law_without_toys_is_where_toys_are() -> None:
    experiment = prepared(statistic="score")
    law, moments = experiment.analytic_null(), experiment.analytic_moments()
    assert (moments.mean, moments.std) == pytest.approx((law.mean, law.std), rel=1e-9)
    toys = experiment.fit_toys(range(400)).statistic
    assert toys.mean() == pytest.approx(law.mean, abs=5 * law.std / 20)


def test_the_ratio_is_the_fit_at_any_event() -> None:
    experiment = prepared()
    draw = experiment.data_draws(1)
    solution = experiment.fit(draw)
    ratio = experiment.ratio(solution)
    truth = dense(experiment, draw[0].roles())
    np.testing.assert_allclose(ratio.log_ratio(R.features[:50]), truth.phi[:50] @ truth.minimum(), atol=1e-4)
    assert ratio.statistic == solution.statistic[0]


def test_a_generator_makes_a_new_reference_for_every_toy() -> None:
    experiment = prepared(make_events=generator, null="generator")
    toys = [experiment.generate(i) for i in (0, 1, 0)]
    np.testing.assert_array_equal(toys[0].events, toys[2].events)
    assert not np.isin(toys[0].events[:100], toys[1].events).any()
    assert np.count_nonzero(toys[0].weightings.roles == REFERENCE) == experiment.plan.reference_size
    assert np.isfinite(experiment.fit_toys([0, 1]).statistic).all()


def test_a_generator_is_needed_and_must_keep_its_word() -> None:
    with pytest.raises(InputError, match="needs generator="):
        prepared(null="generator")
    with pytest.raises(InputError, match="the generator returned 40 events of 2 features where 40 of 1"):
        prepared(make_events=lambda n, rng: rng.random((n, 2)), null="generator")
